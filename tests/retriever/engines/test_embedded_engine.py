"""The embedded engine: asked from many threads, and what it makes of errors."""

import asyncio
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from indexer.errors import IndexDamaged
from indexer.ingest import IngestRequest, build_index
from indexer.settings import EncoderSettings, IndexerSettings
from retriever import index as opening
from retriever.engines import tantivy_passages
from retriever.index import open_index
from retriever.queries.boolean import Term
from retriever.queries.filters import Filters
from tests.indexer.embedding_server import embedding_server
from tests.indexer.made_corpora import write_jsonl
from tests.retriever.made_papers import NAME, PAPERS, built, index_of


@pytest.fixture
def home(tmp_path_factory, tmp_path):
    """Return a copy of the index for the test to spoil."""
    return shutil.copytree(built(tmp_path_factory), tmp_path / "home")


@pytest.fixture
def switching_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_a_passage_that_is_not_there_may_be_asked_for_beside_searches(tmp_path, switching_often, monkeypatch):
    """What was found is remembered, and forgotten, while it is looked through."""
    monkeypatch.setattr(tantivy_passages, "REMEMBERED_IDS", 400)
    papers = [{"id": f"P{number:03}", "title": "quokka", "abstract": "islands"} for number in range(800)]
    every = [(Term("quokka", ("quokka",)), len(papers))]
    with index_of(tmp_path / "home", *papers) as index, ThreadPoolExecutor(4) as threads:

        async def find():
            return [await index.engine.search(every, filters=Filters(), collapse=False) for _ in range(20)]

        async def ask():
            return [await index.engine.records([f"unknown-{number}"]) for number in range(400)]

        searching = [threads.submit(lambda: asyncio.run(find())) for _ in range(2)]
        asking = [threads.submit(lambda: asyncio.run(ask())) for _ in range(2)]
        assert all(task.result() == [({}, {})] * 400 for task in asking)
        for task in searching:
            for [hits] in task.result():
                assert [hit.passage_id for hit in hits] == [paper["id"] for paper in papers]


def test_a_wrong_call_says_nothing_of_an_index_that_is_intact(home):
    with open_index(IndexerSettings(home=home), NAME) as index, pytest.raises((TypeError, ValueError)):
        asyncio.run(index.engine.counts([(3, Filters())]))  # type: ignore[list-item]


def test_an_error_over_a_file_that_was_changed_is_damage(home):
    with open_index(IndexerSettings(home=home), NAME) as index:
        path = home / NAME / "versions" / "000001" / "glossary.sqlite"
        path.write_bytes(path.read_bytes() + b"more")
        with pytest.raises(IndexDamaged, match=r"glossary\.sqlite has [\d,]+ bytes instead of [\d,]+"):
            asyncio.run(index.engine.counts([(3, Filters())]))  # type: ignore[list-item]


def test_vectors_are_closed_where_the_engine_cannot_be_opened(tmp_path, monkeypatch):
    """Whatever the reason: a server that tries again would run out of files."""

    def held():
        paths = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        return [path for path in paths if path.startswith(str(tmp_path))]

    def mistaken(*_, **__):
        raise KeyError("a mistake")

    with embedding_server() as server:
        settings = IndexerSettings(
            home=tmp_path, workers=1, encoder=EncoderSettings.model_validate(server.settings())
        )
        build_index(IngestRequest(NAME, [str(write_jsonl(tmp_path / "p.jsonl", PAPERS))]), settings)
        monkeypatch.setattr(opening, "TantivyEngine", mistaken)
        with pytest.raises(KeyError):
            open_index(settings, NAME)
    assert held() == []
