"""Passages that are only a title are replaced by their paper's abstract."""

import pytest

from retriever.engines import EngineHit
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, open_search
from retriever.settings import RetrieverSettings
from retriever.stages.pool import read_hits
from tests.retriever.made_papers import index_of

TITLED = {"id": "X", "title": "양서류", "abstract": "도롱뇽", "lang": "ko", "title2": "Axolotl"}
BARE = {"id": "BARE", "title": "Axolotl gills"}
WHOLE = {"id": "Y", "title": "Axolotl", "abstract": "Axolotl limbs."}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with index_of(tmp_path_factory.mktemp("abstracts"), TITLED, BARE, WHOLE) as index:
        yield index


def read(index, *asked, **request):
    """Read hits of passages, which score 1, .5, … in their order."""
    hits = [EngineHit(name, name.partition("@")[0], 1 / rank) for rank, name in enumerate(asked, 1)]
    context = open_search(index, SearchRequest("axolotl", **request), RetrieverSettings())
    found = read_hits(context, hits)
    assert [hit.passage_id for hit in found.hits] == list(found.read.ids)
    return [(hit.passage_id, hit.score) for hit in found.hits], dict(found.replaced)


def test_an_abstract_takes_the_place_and_the_score_of_its_title(index):
    assert read(index, "X@en", "Y") == ([("X", 1.0), ("Y", 0.5)], {"X": ("X@en",)})


def test_an_abstract_that_was_found_too_keeps_the_better_place(index):
    assert read(index, "X@en", "X") == ([("X", 1.0)], {"X": ("X@en",)})
    assert read(index, "X", "X@en") == ([("X", 1.0)], {"X": ("X@en",)})


def test_a_paper_without_an_abstract_keeps_its_title(index):
    assert read(index, "BARE", "Y") == ([("BARE", 1.0), ("Y", 0.5)], {})


def test_passages_are_left_as_they_are_where_they_are_asked_for(index):
    assert read(index, "X@en", collapse=False) == ([("X@en", 1.0)], {})


@pytest.mark.parametrize(
    "filters", [Filters(lang="en"), Filters(without=("X",)), Filters(parts=("abstract2",))]
)
def test_an_abstract_that_a_filter_leaves_out_replaces_nothing(index, filters):
    assert read(index, "X@en", filters=filters) == ([("X@en", 1.0)], {})
