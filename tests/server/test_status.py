"""What the operator sees of builds: those beside what answers, and first ones, which answer nothing yet."""

import json
import shutil

import pytest

from indexer.versions.store.build_folder import BuildFolder
from tests.generator.sample_index import NAME, shrag
from tests.indexer.made_corpora import build, paper, write_jsonl
from tests.server.running import application


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
