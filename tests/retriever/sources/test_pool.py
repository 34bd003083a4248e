"""The papers of a question, searched in memory as an engine searches its index."""

import pytest

from indexer.analysis import make_analyzer
from indexer.corpora.papers import Paper
from retriever.engines.term_statistics import TermStatistics
from retriever.queries.boolean import EVERYTHING, And, Exact, Not, Or, Phrase, Range, Term
from retriever.queries.filters import Filters
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.pool import Pool

PAPERS = [
    {"id": "A", "title": "Knowledge graphs", "abstract": "A graph of knowledge.", "year": 2019, "lang": "en"},
    {
        "id": "B",
        "title": "Cats",
        "abstract": "Cats and one dog.",
        "year": 2021,
        "lang": "en",
        "authors": ["Kim"],
    },
    {
        "id": "C",
        "title": "고양이",
        "abstract": "고양이와 개.",
        "title2": "Cats",
        "abstract2": "Cats.",
        "lang": "ko",
    },
    {"id": "D", "title": "Graphs", "journal": "Maths", "lang": "en", "references": ["A"]},
]
KNOWLEDGE, GRAPH, CATS, DOG = (
    Term(word, (token,))
    for word, token in [("knowledge", "knowledg"), ("graph", "graph"), ("cats", "cat"), ("dog", "dog")]
)
STATISTICS = TermStatistics(1_000, dict.fromkeys(("knowledg", "graph", "cat", "dog"), 10), 150.0)


@pytest.fixture(scope="module")
def pool():
    pool = Pool(make_analyzer(ANALYZER, DECOMPOUND))
    pool.add(map(Paper.model_validate, PAPERS))
    return pool


def search(pool, query, found=None, k=10, **filters):
    [hits] = pool.search([(query, k, found)], Filters(**filters), STATISTICS)
    return [hit.doc_id for hit in hits]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (KNOWLEDGE, "A"),
        (Or((KNOWLEDGE, GRAPH)), "AD"),
        (And((KNOWLEDGE, GRAPH)), "A"),
        (Phrase("graph knowledge", ((0, "graph"), (2, "knowledg"))), "A"),
        (Phrase("knowledge graphs", ((0, "knowledg"), (1, "graph")), "title"), "A"),
        (Phrase("graph knowledge", ((0, "graph"), (1, "knowledg"))), ""),
        (Phrase("graph cats", ((0, "graph"), (1, "cat"))), ""),
        (Term("graph", ("graph",), "title"), "DA"),
        (And((CATS, Not(DOG))), "C"),
        (Or((CATS, KNOWLEDGE, Not(DOG))), "AC"),
        (And((CATS, Range(2020, None))), "B"),
        (Exact("authors", ("Kim",)), "B"),
        (Or(()), ""),
        (EVERYTHING, "ABCD"),
    ],
)
def test_a_query_finds_papers_by_their_words(pool, query, ids):
    assert sorted(search(pool, query)) == sorted(ids)


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"lang": "ko"}, "C"),
        ({"years": Range(2019, 2020)}, "A"),
        ({"years_if_known": Range(2019, 2020)}, "ACD"),
        ({"complete": True}, "ABC"),
        ({"without_papers": ("A",)}, "BCD"),
        ({"journal": "Maths"}, "D"),
    ],
)
def test_filters_leave_papers_out(pool, filters, ids):
    assert sorted(search(pool, EVERYTHING, **filters)) == sorted(ids)
    assert pool.counts([(EVERYTHING, Filters(**filters))]) >= [len(ids)]


def test_a_sent_query_keeps_the_order_of_the_sources(pool):
    found = ("D", "B", "A", "GONE")
    assert search(pool, GRAPH, found) == ["D", "B", "A"]
    assert search(pool, GRAPH, found, k=2, years=Range(2019, None)) == ["B", "A"]
