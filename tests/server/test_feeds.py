"""Atom feeds of searches: new papers, their key, and caching."""

import json
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from server.access.keys import Keys
from server.settings import SignInSettings
from server.store import Store
from tests.indexer.made_corpora import build, write_jsonl
from tests.server.access.test_keys import bearer
from tests.server.running import add_key, application

ATOM = "{http://www.w3.org/2005/Atom}"
NAME = "papers"
OLD = {"id": "OLD", "title": "Axolotl limbs", "abstract": "Axolotl limbs regrow.", "year": 2020}
NEW = {
    "id": "a/NEW",
    "title": "Axolotl <gills> & \u202egills",
    "abstract": "Gills of the axolotl.",
    "authors": ["Ada Kim", "Bo Lee"],
    "year": 2024,
    "journal": "Gills",
    "doi": "10.1000/gills",
}
CALL = {"question": "axolotl", "method": "or"}
LOCAL: dict[str, Any] = {"address": "127.0.0.1", "public_url": "http://localhost:8080"}


def publish(home, *papers):
    build(home, write_jsonl(home / "papers.jsonl", papers), NAME)


@pytest.fixture
def home(tmp_path):
    publish(tmp_path, OLD)
    return tmp_path


def made(client, **headers):
    """Create a feed; return its path and its id."""
    answered = client.post("/api/v1/feeds", json=CALL, **headers)
    assert answered.status_code == 201, answered.text
    return "/feeds/" + answered.json()["address"].partition("/feeds/")[2], answered.json()["id"]


def parsed(answered):
    assert (answered.status_code, answered.headers["content-type"]) == (200, "application/atom+xml")
    return ET.fromstring(answered.content)


def test_a_feed_lists_new_papers_first_and_links_to_its_search(home):
    call = CALL | {"exclude": ["cats & dogs"], "strategy": {"en": ["axolotl"]}, "year": "2019.."}
    with application(home, **LOCAL) as client:
        created = client.post("/api/v1/feeds", json=call).json()
        path = created["address"].removeprefix("http://localhost:8080")
        before = parsed(client.get(path))
        publish(home, OLD, NEW)
        after = parsed(client.get(path))
        (state,) = client.get("/api/v1/feeds").json()["feeds"]

    assert before.tag == f"{ATOM}feed"
    assert before.findtext(f"{ATOM}title") == "axolotl"
    assert before.findtext(f"{ATOM}id").replace("-", "") == f"urn:uuid:{created['id']}"
    assert [entry.findtext(f"{ATOM}title") for entry in before.iter(f"{ATOM}entry")] == ["Axolotl limbs"]
    new, old = after.iter(f"{ATOM}entry")
    assert new.findtext(f"{ATOM}title") == "Axolotl <gills> & gills"
    assert [name.text for name in new.iter(f"{ATOM}name")] == ["Ada Kim", "Bo Lee"]
    assert [(link.get("rel"), link.get("href")) for link in new.iter(f"{ATOM}link")] == [
        ("alternate", "http://localhost:8080/papers/a%2FNEW?index=papers"),
        ("related", "https://doi.org/10.1000/gills"),
    ]
    assert new.findtext(f"{ATOM}summary") == "Gills, 2024\n\nGills of the axolotl."
    (same,) = before.iter(f"{ATOM}entry")
    for part in ("id", "updated"):
        assert same.findtext(f"{ATOM}{part}") == old.findtext(f"{ATOM}{part}")
    assert len({each.findtext(f"{ATOM}id") for each in (after, new, old)}) == 3
    assert state == {name: created[name] for name in ("id", "name", "question", "index", "created")} | {
        "papers": 2,
        "updated": new.findtext(f"{ATOM}updated"),
    }
    page, _, asked = (after.find(f"{ATOM}link").get("href") or "").partition("?")
    values = dict(parse_qsl(asked))
    assert page == "http://localhost:8080/"
    assert json.loads(values.pop("strategy"))["en"] == ["axolotl"]
    assert values == {
        "q": "axolotl",
        "method": "or",
        "not": "cats & dogs",
        "year": "2019..",
        "index": "papers",
    }


def entries_of(client, path):
    return [entry.findtext(f"{ATOM}title") for entry in parsed(client.get(path)).iter(f"{ATOM}entry")]


def test_a_feed_has_a_name_and_follows_all_papers_of_its_search(home):
    with application(home, **LOCAL) as client:
        created = client.post("/api/v1/feeds", json=CALL | {"name": "Amphibians"}).json()
        path = created["address"].removeprefix("http://localhost:8080")
        publish(home, OLD, *(OLD | {"id": f"N{n}", "title": f"Newt {n}"} for n in range(120)))
        followed = entries_of(client, path)
        (listed,) = client.get("/api/v1/feeds").json()["feeds"]
        title = parsed(client.get(path)).findtext(f"{ATOM}title")

    assert (listed["name"], listed["question"], title) == ("Amphibians", "axolotl", "Amphibians")
    assert sorted(followed) == sorted(f"Newt {n}" for n in range(120))


def test_an_unchanged_feed_is_not_sent_again(home):
    with application(home, **LOCAL) as client:
        path, _ = made(client)
        first = client.get(path)
        tag = first.headers["etag"]
        for known in (tag, f'"other", W/{tag}', "*"):
            again = client.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        head = client.head(path)
        publish(home, OLD, NEW)
        assert client.get(path, headers={"If-None-Match": tag}).status_code == 200

    assert "private" in first.headers["cache-control"]
    assert (head.status_code, head.headers["etag"]) == (200, tag)


def test_a_key_of_a_feed_opens_this_feed_alone_and_only_its_owner_deletes_it(home, tmp_path, caplog):
    key, other, audit = add_key(home), add_key(home), tmp_path / "audit.jsonl"
    with application(home, audit_file=audit) as client:
        path, feed_id = made(client, headers=bearer(key))
        second, _ = made(client, headers=bearer(key))
        secret = path.removeprefix("/feeds/").removesuffix(".atom")

        assert client.get(path).status_code == 200
        assert client.get("/api/v1/search", params={"question": "axolotl"}).status_code == 401
        assert client.get("/api/v1/feeds", headers=bearer(secret)).status_code == 401
        mixed = second[: len("/feeds/") + 33] + path[len("/feeds/") + 33 :]
        last = "a" if path[-6] != "a" else "b"
        for wrong in (mixed, f"{path[:-6]}{last}.atom", f"/feeds/{feed_id}.atom", "/feeds/a.atom"):
            assert client.get(wrong).status_code == 404
        listed = client.get("/api/v1/feeds", headers=bearer(key))
        assert [feed["papers"] for feed in listed.json()["feeds"]] == [1, 1]
        assert client.get("/api/v1/feeds", headers=bearer(other)).json() == {"feeds": []}
        for headers, status in ((other, 404), (key, 204), (key, 404)):
            assert client.delete(f"/api/v1/feeds/{feed_id}", headers=bearer(headers)).status_code == status
        assert client.get(path).status_code == 404
        tried = (client.get(f"/feeds/{'0' * 32}_{'a' * 43}.atom").status_code for _ in range(400))
        assert 429 in tried

    assert '"/feeds/{key}.atom"' in audit.read_text()
    for file in Path(home).rglob("*"):
        assert not file.is_file() or secret[33:-1].encode() not in file.read_bytes()
    assert secret[33:-1] not in listed.text + caplog.text


def age(home, feed_id):
    """Let the rights of the owner be confirmed long ago."""
    Store(home).change("UPDATE feeds SET confirmed = '2020-01-31T09:30:00Z' WHERE id = ?", feed_id)


def test_a_persons_feed_has_the_persons_rights_and_ends_some_days_later(home):
    proxy = "192.0.2.7"
    groups: dict[str, Any] = {"students": {"indexes": [NAME]}, "guests": {"indexes": ["elsewhere"]}}
    sign_in = SignInSettings(user_header="X-User", groups_header="X-Groups", header_from=proxy, groups=groups)
    ada, eve = ({"X-User": name, "Origin": "http://localhost", "X-Groups": "students"} for name in "ae")
    settings: dict[str, Any] = {"sign_in": sign_in, "proxies": proxy, "public_url": "http://localhost"}
    with application(home, address=proxy, **settings) as client:
        path, feed_id = made(client, headers=ada)
        assert client.get(path).status_code == 200
        assert client.get("/api/v1/feeds", headers=eve).json() == {"feeds": []}
        assert client.delete(f"/api/v1/feeds/{feed_id}", headers=eve).status_code == 404
        age(home, feed_id)
        assert client.get(path).status_code == 404
        for group, status in (("students", 200), ("guests", 404)):
            client.get("/api/v1/feeds", headers=ada | {"X-Groups": group})
            assert client.get(path).status_code == status
        age(home, feed_id)
        for owner, remains in ((ada, True), (eve, False)):
            made(client, headers=owner)
            assert (feed_id in feeds_of(home)) is remains


def feeds_of(home):
    return {feed_id for (feed_id,) in Store(home).rows("SELECT id FROM feeds")}


@pytest.mark.parametrize(
    ("limit", "named"),
    [("kept_searches", "delete"), ("all_kept_searches", "SHRAG_SERVER__ALL_KEPT_SEARCHES")],
)
def test_the_number_of_feeds_is_limited_before_the_search(home, limit, named):
    settings: dict[str, Any] = {**LOCAL, limit: 1}
    with application(home, **settings) as client:
        made(client)
        (home / NAME).rename(home / "elsewhere")
        refused = client.post("/api/v1/feeds", json=CALL)
    with application(home, address="192.0.2.7", open=True) as client:
        assert client.post("/api/v1/feeds", json=CALL).status_code == 403

    assert refused.status_code == 422
    assert "limit of 1" in refused.json()["detail"]
    assert named in refused.json()["detail"]


def test_feeds_of_a_revoked_key_end_and_make_room_for_new_ones(home):
    with application(home, **LOCAL) as client:
        made(client)
    key, other = add_key(home), add_key(home)
    with application(home, all_kept_searches=1) as client:
        path, _ = made(client, headers=bearer(key))
        assert client.post("/api/v1/feeds", json=CALL, headers=bearer(other)).status_code == 422
        Keys(Store(home)).revoke(key.split("_")[1], datetime.now(UTC))
        assert client.get(path).status_code == 404
        _, last = made(client, headers=bearer(other))

    assert feeds_of(home) == {last}
    assert Store(home).rows("SELECT DISTINCT feed FROM feed_papers") == [(last,)]
