"""What every engine says of a score; see `engine_contract`."""

import math

import pytest

from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Query, Range, Term, or_query
from retriever.queries.filters import Filters
from retriever.token_scores import explain_query
from tests.retriever.made_papers import indexed

RECORDS = [
    {
        "id": "graph",
        "title": "Knowledge graphs",
        "abstract": "A knowledge graph for retrieval. Knowledge matters.",
        "year": 2019,
        "lang": "en",
    },
    {
        "id": "search",
        "title": "지식 그래프 검색",
        "abstract": "지식 그래프를 위한 검색 연구",
        "year": 2021,
        "lang": "ko",
    },
    {"id": "plain", "title": "Cats", "abstract": "cats cats cats and one dog", "year": 2021, "lang": "en"},
    {"id": "empty", "title": "of the", "year": 2024, "lang": "en"},  # stop words leave no token
]
PASSAGES = [record["id"] for record in RECORDS]
KNOWLEDGE = Term("knowledge", ("knowledg",))
GRAPH = Term("graph", ("graph",))
CATS = Term("cats", ("cat",))
PHRASE = Phrase("knowledge graph", ((0, "knowledg"), (1, "graph")))


@pytest.fixture(scope="module")
def engine(tmp_path_factory, settings_for):
    with indexed(settings_for(tmp_path_factory.mktemp("explained")), RECORDS, "explained") as index:
        yield index.engine


def search_score(engine, query, passage_id):
    [hits] = engine.search([(query, 10)], filters=Filters(), collapse=False)
    return {hit.passage_id: hit.score for hit in hits}.get(passage_id)


def test_a_token_is_explained_as_bm25(tmp_path, settings_for):
    # cats stand 4 times in 1 of 3 passages, among the 6 words of "plain" (dl).
    # The three texts have 7, 8 and 6 tokens: avgdl = 7.
    with indexed(settings_for(tmp_path), [one for one in RECORDS if one["id"] != "empty"], "worded") as index:
        [term] = explain_query(index.engine, CATS, "plain")

    assert (term.token, term.field, term.weight) == ("cat", "text", 1.0)
    assert (term.frequency, term.document_frequency) == (4.0, 1)
    assert term.idf == pytest.approx(math.log(1 + (3 - 1 + 0.5) / (1 + 0.5)))
    assert term.score == pytest.approx(2.2 * term.idf * 4 / (4 + 1.2 * (1 - 0.75 + 0.75 * 6 / 7)), abs=1e-4)


QUERIES: dict[str, Query] = {
    "a word": KNOWLEDGE,
    "a weighted word": Term("knowledge", ("knowledg",), weight=2.5),
    "a word of several tokens": Term("지식그래프", ("지식", "그래프", "없")),
    "any of several": Or((KNOWLEDGE, GRAPH, CATS, Term("검색", ("검색",)))),
    "with the title clause": or_query([KNOWLEDGE, GRAPH, CATS], title_weight=0.3),
    "all of several": And((KNOWLEDGE, GRAPH)),
    "a side that fails": Or((KNOWLEDGE, CATS, And((GRAPH, CATS)))),
    "a phrase": PHRASE,
    "a weighted, loose phrase": Phrase("graph retrieval", ((0, "graph"), (1, "retriev")), weight=0.5, slop=2),
    "a phrase in the title": Phrase("지식 그래프", ((0, "지식"), (1, "그래프")), "title"),
    "filters": And((Or((KNOWLEDGE, CATS)), Range(2019, 2021), Exact("lang", ("en",)))),
    "only filters": And((Range(2021, None), Not(CATS))),
    "a negation": And((Or((KNOWLEDGE, CATS)), Not(Term("dog", ("dog",))))),
    "a negation beside OR": Or((KNOWLEDGE, CATS, Not(Term("dog", ("dog",))))),
    "only a negation": Not(CATS),
    "a negation alone in OR beside a word": And((KNOWLEDGE, Or((Not(CATS),)))),
    "nothing": Or(()),
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("passage_id", PASSAGES)
def test_the_terms_sum_to_the_score_of_the_search(engine, name, passage_id):
    query = QUERIES[name]

    terms = explain_query(engine, query, passage_id)

    expected = search_score(engine, query, passage_id) or 0.0
    assert sum(term.score for term in terms) == pytest.approx(expected, abs=2e-3)
