"""The score of `shrag`: BM25 of the question and of the keywords, for any number of hits and any filters."""

from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from retriever.engines.term_statistics import TermStatistics
from retriever.formula import K1, TITLE_WEIGHT, B, Counterparts, Formula, keyword_token_weights
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, open_ranking, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.stages import computed
from retriever.strategy import Strategy
from tests.indexer.made_corpora import ENGLISH, KOREAN, paper
from tests.retriever.made_papers import index_fixture, index_of, run_of

# GRAPH has five tokens, one of them in its title; CAT has three.
TWO = [
    {"id": "GRAPH", "title": "Graphs", "abstract": "Graph theory of 그래프 graphs"},
    {"id": "CAT", "title": "", "abstract": "theory theory cats"},
]
ASIDE = [
    {"id": "B1", "title": "Banana plants", "abstract": "A banana grows in the shade.", "year": 2000},
    {"id": "B2", "title": "Monkey business", "abstract": "The monkey peels a banana.", "year": 2001},
    {"id": "B3", "title": "Spaceship design", "abstract": "A spaceship without a monkey.", "year": 2002},
]
QUESTION = "How does a knowledge graph help 문서 검색?"
STRATEGY = Strategy(ko=("지식", "그래프", "검색"), en=("knowledge graph", "retrieval"))


two = index_fixture(*TWO)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Index three hundred made papers, of which most hold some of twenty words of each language."""
    papers = [paper(number, words=6) for number in range(300)]
    with index_of(tmp_path_factory.mktemp("made"), *papers, *ASIDE) as index:
        yield index


def parts_of(index, formula):
    read = index.engine.rows(["GRAPH", "CAT"])
    return {name: values.tolist() for name, values in formula.parts(read).items()}


def statistics(index, *tokens):
    frequencies = index.engine.document_frequencies(tokens)
    return TermStatistics(index.engine.passage_count, frequencies, index.engine.average_length)


def scored_by(index, request, settings):
    ranking = computed(run_stages(open_ranking(index, request, settings)).ranking)
    return ranking.hits, computed(ranking.scored)


def scores_of(index, question=QUESTION, **request):
    return dict(run_of(index, question, "shrag", **request))


def test_a_token_scores_by_bm25_in_text_and_title(two):
    formula = Formula({"graph": 1.0, "theori": 2.0}, {}, statistics(two, "graph", "theori"))

    graph, cat = parts_of(two, formula)["question"]

    # Of two passages one holds graph and both hold theory; 5 and 3 tokens are 4 on average.
    of_graph = log(1 + 1.5 / 1.5) * (K1 + 1) * (
        3 / (3 + K1 * (1 - B + B * 5 / 4)) + TITLE_WEIGHT * 1 / (1 + K1 * 1 / 2)
    )  # fmt: skip
    of_theory = log(1 + 0.5 / 2.5) * (K1 + 1)
    assert graph == pytest.approx(of_graph + 2 * of_theory * 1 / (1 + K1 * (1 - B + B * 5 / 4)))
    assert cat == pytest.approx(2 * of_theory * 2 / (2 + K1 * (1 - B + B * 3 / 4)))


def test_keywords_weigh_one_by_the_root_of_their_place():
    series = [{"a": 1.0}, {"b": 0.5, "c": 0.5}, {"d": 1.0}]

    assert keyword_token_weights(series) == pytest.approx(
        {"a": 1.0, "b": 0.5 / sqrt(2), "c": 0.5 / sqrt(2.5), "d": 1 / sqrt(3)}
    )
    assert keyword_token_weights([{"a": 1.0}, {"a": 1.0}]) == pytest.approx({"a": 1 + 1 / sqrt(2)})


def test_the_best_counterpart_adds_what_it_scores_above_its_source(two):
    known = statistics(two, "graph", "theori", "그래프", "cat")

    def parts(*others, weight=1.0):
        other = Counterparts(("theori",), others, weight)
        return parts_of(two, Formula({"theori": 1.0}, {}, known, (other,)))

    theory = parts(("theori",))["question"]
    cat = parts_of(two, Formula({"cat": 1.0}, {}, known))["question"]

    assert parts(("theori",))["synonyms"] == [0, 0]
    assert parts(("cat",))["synonyms"] == pytest.approx([0, cat[1] - theory[1]])
    assert parts(("cat",), ("cat", "theori"))["synonyms"] == pytest.approx([0, cat[1]])
    assert parts(("cat",), weight=0.01)["synonyms"] == [0, 0]


@pytest.mark.parametrize(
    "filters",
    [Filters(years=Range(2000, 2009)), Filters(lang="ko"), Filters(without=("P00007", "P00100", "P00200"))],
    ids=["years", "language", "without"],
)
@pytest.mark.parametrize("strategy", [STRATEGY, None], ids=["recorded", "statistics"])
def test_a_score_is_the_same_with_and_without_filters(made, strategy, filters):
    everything = scores_of(made, k=303, strategy=strategy)
    candidates = dict(list(everything.items())[:100])  # the scores of further hits follow these
    filtered = scores_of(made, k=10, strategy=strategy, filters=filters)

    shared = filtered.keys() & candidates.keys()
    assert len(shared) >= 5
    assert {name: filtered[name] for name in shared} == {name: candidates[name] for name in shared}


WORDS = st.lists(st.sampled_from([*KOREAN, *ENGLISH, "banana", "monkey", "unheard"]), max_size=4)


@given(question=WORDS.filter(bool), keywords=WORDS, origin=st.sampled_from(["model", "statistics"]))
@hypothesis_settings(max_examples=30)
def test_parts_add_up_to_the_score(made, question, keywords, origin):
    strategy = Strategy().with_keywords(keywords).changed(origin=origin) if keywords else None
    request = SearchRequest(" ".join(question), strategy=strategy)
    hits, candidates = scored_by(made, request, RetrieverSettings())

    for hit, score in hits:
        if hit.passage_id in candidates:
            parts = candidates.parts_of(hit.passage_id)
            assert parts.keys() <= {"question", "keywords", "synonyms", "feedback", "second-search"}
            assert sum(parts.values()) == pytest.approx(score, abs=1e-9)
