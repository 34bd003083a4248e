"""Atom feeds of searches: new papers, their key, and caching."""

import json
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from server.access.key_store import Keys
from server.access.keys import make_key
from server.settings import SignInSettings
from server.store import Store
from tests.indexer.made_corpora import build, write_jsonl
from tests.server.access.test_keys import bearer
from tests.server.running import application, wait_for

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


def added(home, **options):
    """Add a key of the server; return it and its record."""
    key, record = make_key(**options)
    Keys(Store(home)).add(record)
    return key, record


def made(client, **headers):
    """Create a feed; return its path and its id."""
    answered = client.post("/api/v1/feeds", json=CALL, **headers)
    assert answered.status_code == 201, answered.text
    return "/feeds/" + answered.json()["address"].partition("/feeds/")[2], answered.json()["id"]


def with_wrong_secret(path):
    return path.removesuffix(".atom")[:-1] + ("a" if path[-6] != "a" else "b") + ".atom"


def parsed(answered):
    assert (answered.status_code, answered.headers["content-type"]) == (200, "application/atom+xml")
    return ET.fromstring(answered.content)


def test_a_feed_lists_new_papers_first(home):
    with application(home, **LOCAL) as client:
        path, feed_id = made(client)
        before = parsed(client.get(path))
        publish(home, OLD, NEW)
        after = parsed(client.get(path))

    assert before.tag == f"{ATOM}feed"
    assert before.findtext(f"{ATOM}title") == "axolotl"
    assert before.findtext(f"{ATOM}id").replace("-", "") == f"urn:uuid:{feed_id}"
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


def test_a_feed_links_to_its_search_on_the_page(home):
    call = {
        "question": "axolotl",
        "exclude": ["cats & dogs"],
        "strategy": {"en": ["gills"]},
        "year": "2019..",
    }
    with application(home, **LOCAL) as client:
        address = client.post("/api/v1/feeds", json=call).json()["address"]
        feed = parsed(client.get(address.removeprefix("http://localhost:8080")))
    page, _, asked = (feed.find(f"{ATOM}link").get("href") or "").partition("?")
    assert page == "http://localhost:8080/"
    values = dict(parse_qsl(asked))
    assert json.loads(values.pop("strategy"))["en"] == ["gills"]
    assert values == {
        "q": "axolotl",
        "not": "cats & dogs",
        "year": "2019..",
        "index": "papers",
    }


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


def test_a_key_opens_its_feed_alone(home):
    key, _ = added(home)
    with application(home) as client:
        path, feed_id = made(client, headers=bearer(key))
        other, _ = made(client, headers=bearer(key))

        assert client.get(path).status_code == 200
        assert client.get("/api/v1/search", params={"question": "axolotl"}).status_code == 401
        secret = path.removeprefix("/feeds/").removesuffix(".atom")
        assert client.get("/api/v1/feeds", headers=bearer(secret)).status_code == 401
        mixed = other[: len("/feeds/") + 33] + path[len("/feeds/") + 33 :]
        for wrong in (mixed, with_wrong_secret(path), f"/feeds/{feed_id}.atom", "/feeds/a.atom"):
            assert client.get(wrong).status_code == 404
        listed = client.get("/api/v1/feeds", headers=bearer(key))
        assert [feed["papers"] for feed in listed.json()["feeds"]] == [1, 1]
        assert secret not in listed.text


def test_a_feed_ends_with_its_owners_key(home):
    key, record = added(home)
    added(home)
    with application(home) as client:
        path, _ = made(client, headers=bearer(key))
        Keys(Store(home)).revoke(record.id, datetime.now(UTC))
        assert wait_for(lambda: client.get(path).status_code, lambda status: status != 200) == 404


def test_a_deleted_feed_ends_and_only_its_owner_deletes_it(home):
    (key, _), (other, _) = added(home), added(home)
    with application(home) as client:
        path, feed_id = made(client, headers=bearer(key))
        stranger = client.delete(f"/api/v1/feeds/{feed_id}", headers=bearer(other))
        assert (stranger.status_code, client.get(path).status_code) == (404, 200)
        assert client.delete(f"/api/v1/feeds/{feed_id}", headers=bearer(key)).status_code == 204
        assert client.get(path).status_code == 404
        assert client.delete(f"/api/v1/feeds/{feed_id}", headers=bearer(key)).status_code == 404


def test_a_feed_sees_the_indexes_of_its_owners_key(home):
    key, _ = added(home, indexes=("elsewhere",))
    with application(home) as client:
        answered = client.post("/api/v1/feeds", json={**CALL, "index": NAME}, headers=bearer(key))
        assert answered.status_code == 404


def test_a_persons_feed_has_the_persons_rights_and_ends_some_days_later(home):
    proxy = "192.0.2.7"
    groups: dict[str, Any] = {"students": {"indexes": [NAME]}, "guests": {"indexes": ["elsewhere"]}}
    sign_in = SignInSettings(user_header="X-User", groups_header="X-Groups", header_from=proxy, groups=groups)
    of_page = {"Origin": "http://localhost", "X-Groups": "students"}
    ada, eve = ({"X-User": name, **of_page} for name in ("ada", "eve"))
    settings: dict[str, Any] = {"sign_in": sign_in, "proxies": proxy, "public_url": "http://localhost"}
    with application(home, address=proxy, **settings) as client:
        path, feed_id = made(client, headers=ada)
        file = home / ".feeds" / f"{feed_id}.json"
        assert client.get(path).status_code == 200
        assert client.get("/api/v1/feeds", headers=eve).json() == {"feeds": []}
        assert client.delete(f"/api/v1/feeds/{feed_id}", headers=eve).status_code == 404
        file.write_text(json.dumps(json.loads(file.read_text()) | {"confirmed": "2020-01-31T09:30:00Z"}))
        assert client.get(path).status_code == 404
        client.get("/api/v1/feeds", headers=ada)
        assert client.get(path).status_code == 200
        client.get("/api/v1/feeds", headers=ada | {"X-Groups": "guests"})
        assert client.get(path).status_code == 404
        file.write_text(json.dumps(json.loads(file.read_text()) | {"confirmed": "2020-01-31T09:30:00Z"}))
        made(client, headers=ada)
        assert file.exists()
        made(client, headers=eve)
        assert not file.exists()


def test_callers_without_a_key_create_no_feed(home):
    with application(home, address="192.0.2.7", open=True) as client:
        assert client.post("/api/v1/feeds", json=CALL).status_code == 403


@pytest.mark.parametrize(
    ("limit", "named"),
    [("kept_searches", "delete"), ("all_kept_searches", "SHRAG_SERVER__ALL_KEPT_SEARCHES")],
)
def test_the_number_of_feeds_is_limited(home, limit, named):
    settings: dict[str, Any] = {**LOCAL, limit: 1}
    with application(home, **settings) as client:
        made(client)
        refused = client.post("/api/v1/feeds", json=CALL)

    assert refused.status_code == 422
    assert "limit of 1" in refused.json()["detail"]
    assert named in refused.json()["detail"]


def test_limits_are_checked_before_the_search(home):
    damaged = home / NAME
    with application(home, **LOCAL, kept_searches=0) as client:
        damaged.rename(home / "elsewhere")
        assert client.post("/api/v1/feeds", json=CALL).status_code == 422


def test_ended_feeds_make_room_for_new_ones(home):
    with application(home, **LOCAL) as client:
        _, of_operator = made(client)
    (key, record), (other, _) = added(home), added(home)
    with application(home, all_kept_searches=1) as client:
        _, of_key = made(client, headers=bearer(key))
        assert client.post("/api/v1/feeds", json=CALL, headers=bearer(other)).status_code == 422
        Keys(Store(home)).revoke(record.id, datetime.now(UTC))
        create = lambda: client.post("/api/v1/feeds", json=CALL, headers=bearer(other))  # noqa: E731
        last = wait_for(create, lambda answered: answered.status_code != 422)

    assert last.status_code == 201
    assert [file.stem for file in (home / ".feeds").glob("*.json")] == [last.json()["id"]]
    assert last.json()["id"] not in {of_operator, of_key}


def test_the_key_is_neither_stored_nor_logged(home, tmp_path, caplog):
    audit = tmp_path / "audit.jsonl"
    with application(home, **LOCAL, audit_file=audit) as client:
        path, _ = made(client)
        client.get(path)
        client.get(with_wrong_secret(path))
    secret = path.removeprefix("/feeds/").removesuffix(".atom")[33:]

    assert '"/feeds/{key}.atom"' in audit.read_text()
    for file in Path(home).rglob("*"):
        assert not file.is_file() or secret[:-1].encode() not in file.read_bytes()
    assert secret[:-1] not in caplog.text


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b"\xff"])
def test_a_damaged_feed_is_not_available(home, content):
    with application(home, **LOCAL) as client:
        path, feed_id = made(client)
        (home / ".feeds" / f"{feed_id}.json").write_bytes(content)
        assert client.get(path).status_code == 503
        assert client.get("/api/v1/feeds").json() == {"feeds": []}


def test_many_wrong_keys_are_refused(home):
    with application(home, **LOCAL) as client:
        tried = (client.get(f"/feeds/{'0' * 32}_{'a' * 43}.atom").status_code for _ in range(400))
        assert next(tried) == 404
        assert 429 in tried
