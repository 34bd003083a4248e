"""The paper that a question is about: by id, by its exact title in either language."""

import pytest

from indexer.settings import IndexerSettings
from retriever.errors import BadFilter, UnknownPaper
from retriever.papers.page import find_topic
from retriever.queries.filters import Filters
from tests.retriever.full_papers import FULL_PAPERS
from tests.retriever.made_papers import indexed


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with indexed(IndexerSettings(home=tmp_path_factory.mktemp("home"), workers=1), FULL_PAPERS) as index:
        yield index


def topic(index, name, filters=None):
    return find_topic(index, name, filters or Filters())


@pytest.mark.parametrize(
    "name", ["LONG", "Wear of lithium cells", "  wear of\tlithium cells ", "리튬 전지의 열화"]
)
def test_a_paper_is_named_by_its_id_or_a_title(index, name):
    assert topic(index, name).doc_id == "LONG"


@pytest.mark.parametrize("name", ["Wear of lithium", "…", "", "the", "x" * 5_000, "\ud800"])
def test_what_is_no_id_and_no_whole_title_is_one_error(index, name):
    with pytest.raises(UnknownPaper, match="contains no paper with the id or exact title"):
        topic(index, name)


def test_a_title_of_several_papers_asks_for_an_id(index):
    with pytest.raises(BadFilter, match=r"2 papers have the title 'Editorial'; .*: TWIN-1, TWIN-2$"):
        topic(index, "Editorial")
