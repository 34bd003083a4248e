"""Passages for a text: of the whole index, or of one paper filled up from others; rankings fused.

tests/service/elasticsearch imports all of this; `settings_for` makes settings of the engine for a home.
"""

from dataclasses import replace

import pytest

from indexer.settings import EncoderSettings
from retriever.papers.page import find_topic
from retriever.queries.filters import Filters
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.views.passage_search import WITHOUT_VECTORS, fused, search_passages
from tests.retriever.full_papers import FULL_PAPERS
from tests.retriever.made_papers import contract_fixture, indexed

CATHODE = "oxygen of the layered cathode"


index = contract_fixture(FULL_PAPERS, "full")


@pytest.fixture(scope="module")
def encoded(tmp_path_factory, settings_for):
    """Open an index of the same papers with vectors of a real, tiny encoder."""
    from tests.indexer.encoders.tiny_models import tiny_bert

    folder = tiny_bert(tmp_path_factory.mktemp("models") / "tiny")
    encoder = EncoderSettings(provider="local", model=str(folder), device="cpu")
    settings = settings_for(tmp_path_factory.mktemp("home"), encoder=encoder)
    with indexed(settings, FULL_PAPERS, "encoded") as index:
        yield index


def passages(index, text, k, *, topic=None, name="question", **request):
    about = topic and find_topic(index, topic, Filters())
    return search_passages(
        index, SearchRequest(text, k=k, **request), RetrieverSettings(), topic=about, name=name
    )


def papers(result):
    return [hit.doc_id for hit in result.hits]


def test_a_paper_gives_several_passages(index):
    found = passages(index, CATHODE, 5)
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4, 5]
    assert papers(found).count("LONG") > 1


def test_without_vectors_passages_are_found_by_words_and_a_note_says_so(index):
    found = passages(index, CATHODE, 3)
    assert found.method == "or"
    assert found.notes == (WITHOUT_VECTORS,)


@pytest.mark.needs_models
def test_with_vectors_the_nearest_are_found_and_nothing_is_noted(encoded):
    found = passages(encoded, CATHODE, 4)
    assert found.method == "dense"
    assert found.notes == ()
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert found.applied.reranker == ""


@pytest.mark.parametrize("which", ["index", pytest.param("encoded", marks=pytest.mark.needs_models)])
def test_a_topic_with_enough_passages_is_searched_alone(which, request):
    found = passages(request.getfixturevalue(which), "separator", 5, topic="LONG")
    assert papers(found) == ["LONG"] * 5


@pytest.mark.parametrize("which", ["index", pytest.param("encoded", marks=pytest.mark.needs_models)])
def test_a_topic_with_fewer_passages_comes_first_and_others_follow(which, request):
    found = passages(request.getfixturevalue(which), "oxygen cathode cells", 5, topic="SHORT")
    assert papers(found)[0] == "SHORT"
    assert "SHORT" not in papers(found)[1:]
    assert len(found.hits) == 5
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4, 5]
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)


def test_all_of_a_topic_comes_before_others_also_what_shares_no_word(index):
    found = passages(index, "alumina", 3, topic="OTHER")
    assert papers(found) == ["OTHER", "SHORT"]


def test_rankings_are_fused_by_reciprocal_rank(index):
    whole = passages(index, CATHODE, 3)
    one, two, three = whole.hits
    first = replace(whole, hits=(one, two))
    second = replace(whole, hits=(replace(three, found_by=("b",)), replace(two, found_by=("b",))))

    both = fused([first, second], 2)

    assert [(hit.passage_id, hit.score) for hit in both.hits] == [
        (two.passage_id, round(2 / 62, 6)),
        (min(one.passage_id, three.passage_id), round(1 / 61, 6)),
    ]
    assert both.hits[0].found_by == ("question", "b")
