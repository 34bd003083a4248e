"""The builds that the operator sees."""

import shutil

from indexer.versions.store.build_folder import BuildFolder
from tests.generator.sample_index import NAME
from tests.indexer.made_corpora import build, paper, write_jsonl
from tests.server.running import application


def test_a_first_build_is_seen_with_what_it_has_committed(tmp_path):
    home = tmp_path / "home"
    build(home, write_jsonl(tmp_path / "papers.jsonl", map(paper, range(30))), name=NAME)
    shutil.copytree(home / NAME / "versions" / "000001", home / "new" / "building")
    BuildFolder(home, "new").write_plan({})
    with application(home, address="127.0.0.1") as client:
        seen = {each["name"]: each for each in client.get("/api/v1/status").json()["indexes"]}
    assert seen["new"]["being_indexed"]
    assert seen["new"]["committed_passages"] == seen[NAME]["passages"] > 0
    assert seen["new"]["began"]
    assert (seen[NAME]["being_indexed"], seen[NAME]["committed_passages"]) == (False, None)
