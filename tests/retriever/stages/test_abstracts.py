"""Passages that are only a title are replaced by their paper's abstract."""

import pytest

from retriever.engines import EngineHit
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, open_search
from retriever.settings import RetrieverSettings
from retriever.stages.pool import read_hits
from tests.retriever.made_papers import index_fixture

TITLED = {"id": "X", "title": "양서류", "abstract": "도롱뇽", "lang": "ko", "title2": "Axolotl"}
BARE = {"id": "BARE", "title": "Axolotl gills"}
WHOLE = {"id": "Y", "title": "Axolotl", "abstract": "Axolotl limbs."}


index = index_fixture(TITLED, BARE, WHOLE)


def read(index, *asked, **request):
    """Read hits of passages, which score 1, .5, … in their order."""
    hits = [EngineHit(name, name.partition("@")[0], 1 / rank) for rank, name in enumerate(asked, 1)]
    context = open_search(index, SearchRequest("axolotl", **request), RetrieverSettings())
    found = read_hits(context, hits)
    assert [hit.passage_id for hit in found.hits] == list(found.read.ids)
    return [(hit.passage_id, hit.score) for hit in found.hits]


# The hits that are read, and the ids that take their places.
READ = {
    "an abstract takes the place and the score of its title": ("X@en Y", {}, "X Y"),
    "it keeps the better place": ("X@en X", {}, "X"),
    "of both": ("X X@en", {}, "X"),
    "a paper without an abstract keeps its title": ("BARE Y", {}, "BARE Y"),
    "passages are left as they are": ("X@en", {"collapse": False}, "X@en"),
    "a language": ("X@en", {"filters": Filters(lang="en")}, "X@en"),
    "an excluded passage": ("X@en", {"filters": Filters(without=("X",))}, "X@en"),
    "a part": ("X@en", {"filters": Filters(parts=("abstract2",))}, "X@en"),
}


@pytest.mark.parametrize(("asked", "request_", "shown"), READ.values(), ids=READ)
def test_a_title_is_replaced_by_its_abstract_where_papers_are_shown(index, asked, request_, shown):
    found = [(name, 1 / rank) for rank, name in enumerate(shown.split(), 1)]

    assert read(index, *asked.split(), **request_) == found
