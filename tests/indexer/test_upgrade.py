"""`shrag indexes upgrade`: an index of another analysis is made anew from its stored passages."""

import pytest

from base.errors import Remedy
from indexer.errors import IndexMismatch
from indexer.ingest import encode_passages, remove_records
from indexer.settings import EncoderSettings, IndexerSettings
from indexer.upgrade import upgrade_index
from indexer.versions.store.folder import FolderStore
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import answers, build, edit_manifest, paper, stored_records, write_jsonl
from tests.refusals import refusal

AUTHORS = {"authors": ["Kim, Ara"], "type": "article"}


@pytest.fixture
def home(tmp_path):
    """Return a home with an index of two versions, whose current one has another analysis."""
    records = [paper(number) | AUTHORS for number in range(20)]
    build(tmp_path, write_jsonl(tmp_path / "c.jsonl", records), glossary=())
    remove_records("papers", ["P00003"], IndexerSettings(home=tmp_path))
    age(tmp_path)
    return tmp_path


def age(home, **fingerprint):
    store = FolderStore(home, "papers")
    edit_manifest(store.version_path(store.require_current()), fingerprint=fingerprint or {"analysis": "1"})


def test_an_upgraded_index_is_as_a_build_of_its_records(home, tmp_path):
    before = stored_records(home)
    with pytest.raises(IndexMismatch):
        answers(home)

    manifest, is_new = upgrade_index("papers", IndexerSettings(home=home, workers=1))

    left = [paper(number) | AUTHORS for number in range(20) if number != 3]
    build(tmp_path / "new", write_jsonl(tmp_path / "left.jsonl", left))
    assert (manifest.version, is_new) == (3, True)
    assert stored_records(home) == stored_records(tmp_path / "new") == before
    assert answers(home) == answers(tmp_path / "new")
    assert build(home, home / "c.jsonl").manifest.counts["unchanged"] == 19  # the removed one is added again


def test_vectors_are_kept_without_an_encoder(home):
    upgrade_index("papers", IndexerSettings(home=home, workers=1))
    with embedding_server() as server:
        encoder = EncoderSettings.model_validate(server.settings())
        encode_passages("papers", IndexerSettings(home=home, workers=1, encoder=encoder))
    age(home)

    manifest, _ = upgrade_index("papers", IndexerSettings(home=home, workers=1))

    assert manifest.vector_count == manifest.passages > 19


def test_other_passages_need_the_corpus(home):
    age(home, chunking="0")

    with refusal(IndexMismatch, "passages", remedies=Remedy.REBUILD):
        upgrade_index("papers", IndexerSettings(home=home))
