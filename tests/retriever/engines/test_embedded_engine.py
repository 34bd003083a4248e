"""The embedded engine: asked from many threads, and what it makes of errors."""

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexer.errors import IndexDamaged
from indexer.settings import IndexerSettings
from retriever.engines import tantivy_passages
from retriever.index import open_index
from retriever.queries.boolean import Term
from retriever.queries.filters import Filters
from tests.retriever.made_papers import NAME, built, index_of


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

        def find():
            return [index.engine.search(every, filters=Filters(), collapse=False) for _ in range(20)]

        def ask():
            return [index.engine.records([f"unknown-{number}"]) for number in range(400)]

        searching = [threads.submit(find) for _ in range(2)]
        asking = [threads.submit(ask) for _ in range(2)]
        assert all(task.result() == [({}, {})] * 400 for task in asking)
        for task in searching:
            for [hits] in task.result():
                assert [hit.passage_id for hit in hits] == [paper["id"] for paper in papers]


def test_an_error_over_a_file_that_was_changed_is_damage(home):
    with open_index(IndexerSettings(home=home), NAME) as index:
        path = home / NAME / "versions" / "000001" / "glossary.sqlite"
        path.write_bytes(path.read_bytes() + b"more")
        with pytest.raises(IndexDamaged, match=r"glossary\.sqlite has [\d,]+ bytes instead of [\d,]+"):
            index.engine.counts([(3, Filters())])  # type: ignore[list-item]
