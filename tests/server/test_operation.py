"""Keys that an operator creates and revokes on the server, and the builds that the operator sees."""

import json
import shutil

import pytest

from indexer.versions.store.build_folder import BuildFolder
from tests.generator.sample_index import NAME, shrag
from tests.indexer.made_corpora import build, paper, write_jsonl
from tests.server.running import application, wait_for


@pytest.fixture
def server(tmp_path):
    made = json.loads(
        shrag("keys", "create", "--role", "operator", "--label", "Kim", "--json", home=tmp_path).stdout
    )
    headers = {"X-API-Key": made["key"]}
    with application(tmp_path, headers=headers) as client:
        yield client


def test_a_key_is_created_used_and_revoked(server):
    made = server.post("/api/v1/keys", json={"label": "reading room", "expires": "30d"}).json()
    header = {"X-API-Key": made["key"]}
    assert server.get("/api/v1/session", headers=header).json()["label"] == "reading room"
    assert server.get("/api/v1/status", headers=header).status_code == 403
    revoked = server.delete(f"/api/v1/keys/{made['record']['id']}")
    assert (revoked.status_code, revoked.json()["state"]) == (200, "revoked")
    wait_for(lambda: server.get("/api/v1/indexes", headers=header).status_code, lambda status: status == 401)
    assert server.delete("/api/v1/keys/aaaaaaaaaa").json()["code"] == "unknown-key"


@pytest.mark.parametrize("call", [{"expires": "soon"}, {"role": "root"}, {"indexes": ["../x"]}])
def test_an_invalid_key_is_not_created(server, call):
    assert server.post("/api/v1/keys", json=call).status_code == 422


@pytest.mark.parametrize("origin", ["https://evil.example", "http://["])
def test_a_page_of_another_site_creates_no_key(server, origin):
    answer = server.post("/api/v1/keys", json={}, headers={"Origin": origin})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.fixture
def home(tmp_path):
    """Make an index, and a first build of another one that has come some way."""
    home = tmp_path / "home"
    build(home, write_jsonl(tmp_path / "papers.jsonl", map(paper, range(30))), name=NAME)
    shutil.copytree(home / NAME / "versions" / "000001", home / "new" / "building")
    BuildFolder(home, "new").write_plan({})
    return home


def indexes_of(home):
    """Return what the operator's status says of each index."""
    made = json.loads(shrag("keys", "create", "--role", "operator", "--json", home=home).stdout)
    with application(home, headers={"X-API-Key": made["key"]}) as client:
        return {each["name"]: each for each in client.get("/api/v1/status").json()["indexes"]}


def test_a_first_build_is_seen_with_what_it_has_committed(home):
    seen = indexes_of(home)
    assert seen["new"]["being_indexed"]
    assert seen["new"]["committed_passages"] == seen[NAME]["passages"] > 0
    assert seen["new"]["began"]
    assert (seen[NAME]["being_indexed"], seen[NAME]["committed_passages"]) == (False, None)
