"""The papers of a question, searched in memory by the queries of the embedded engine."""

import pytest

from indexer.analysis import make_analyzer
from indexer.corpora.papers import Paper
from retriever.queries.boolean import EVERYTHING, And, Not, Phrase, Range, Term
from retriever.queries.filters import Filters
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.pool import Pool

PAPERS = [
    {"id": "A", "title": "Knowledge graphs", "abstract": "A graph of knowledge.", "year": 2019, "lang": "en"},
    {"id": "B", "title": "Cats", "abstract": "Cats and one dog.", "year": 2021, "lang": "en"},
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
GRAPH, CATS, DOG = (Term(word, (word,)) for word in ("graph", "cat", "dog"))


@pytest.fixture(scope="module")
def pool():
    pool = Pool(make_analyzer(ANALYZER, DECOMPOUND))
    for paper in PAPERS:  # it grows
        pool.add([Paper.model_validate(paper)])
    return pool


def search(pool, query, found=None, k=10, **filters):
    [hits] = pool.search([(query, k, found)], Filters(**filters))
    return [hit.doc_id for hit in hits]


@pytest.mark.parametrize(
    ("query", "filters", "ids"),
    [
        (GRAPH, {}, "AD"),
        (Phrase("knowledge graphs", ((0, "knowledg"), (1, "graph")), "title"), {}, "A"),
        (And((CATS, Not(DOG))), {}, "C"),  # once, though two of its passages match
        (EVERYTHING, {"years_if_known": Range(2019, 2020)}, "ACD"),
        (EVERYTHING, {"complete": True}, "ABC"),
        (EVERYTHING, {"journal": "Maths"}, "D"),
    ],
)
def test_a_query_finds_papers_under_filters(pool, query, filters, ids):
    assert sorted(search(pool, query, **filters)) == sorted(ids)
    assert pool.counts([(query, Filters(**filters))])[0] >= len(ids)


def test_a_sent_query_keeps_the_order_of_the_sources(pool):
    found = ("D", "B", "A", "GONE")
    assert search(pool, GRAPH, found) == ["D", "B", "A"]
    assert search(pool, GRAPH, found, k=2, years=Range(2019, None)) == ["B", "A"]
