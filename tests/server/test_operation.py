"""Keys that an operator creates and revokes on the server, and the builds that the operator sees."""

import shutil

import pytest

from indexer.versions.store.build_folder import BuildFolder
from tests.generator.sample_index import NAME
from tests.indexer.made_corpora import build, paper, write_jsonl
from tests.server.running import add_key, application


@pytest.fixture
def server(tmp_path):
    with application(tmp_path, headers={"X-API-Key": add_key(tmp_path, role="operator")}) as client:
        yield client


def test_a_key_is_created_used_and_revoked(server):
    made = server.post("/api/v1/keys", json={"label": "reading room", "expires": "30d"}).json()
    header = {"X-API-Key": made["key"]}
    assert server.get("/api/v1/session", headers=header).json()["label"] == "reading room"
    assert server.get("/api/v1/status", headers=header).status_code == 403
    revoked = server.delete(f"/api/v1/keys/{made['record']['id']}")
    assert (revoked.status_code, revoked.json()["state"]) == (200, "revoked")
    assert server.get("/api/v1/indexes", headers=header).status_code == 401
    assert server.delete("/api/v1/keys/aaaaaaaaaa").json()["code"] == "unknown-key"


@pytest.mark.parametrize("call", [{"expires": "soon"}, {"role": "root"}, {"indexes": ["../x"]}])
def test_an_invalid_key_is_not_created(server, call):
    assert server.post("/api/v1/keys", json=call).status_code == 422


@pytest.mark.parametrize("origin", ["https://evil.example", "http://["])
def test_a_page_of_another_site_creates_no_key(server, origin):
    answer = server.post("/api/v1/keys", json={}, headers={"Origin": origin})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_first_build_is_seen_with_what_it_has_committed(tmp_path):
    home = tmp_path / "home"
    build(home, write_jsonl(tmp_path / "papers.jsonl", map(paper, range(30))), name=NAME)
    shutil.copytree(home / NAME / "versions" / "000001", home / "new" / "building")
    BuildFolder(home, "new").write_plan({})
    with application(home, headers={"X-API-Key": add_key(home, role="operator")}) as client:
        seen = {each["name"]: each for each in client.get("/api/v1/status").json()["indexes"]}
    assert seen["new"]["being_indexed"]
    assert seen["new"]["committed_passages"] == seen[NAME]["passages"] > 0
    assert seen["new"]["began"]
    assert (seen[NAME]["being_indexed"], seen[NAME]["committed_passages"]) == (False, None)
