"""Postings that need not be read: what is left out changes no hit and no score."""

import math
import random

import pytest

from indexer.settings import IndexerSettings
from retriever.engines import tantivy_search
from retriever.index import open_index
from retriever.queries.boolean import Term, or_query
from retriever.queries.filters import Filters
from tests.indexer.made_corpora import build, write_jsonl


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Index texts of words drawn by Zipf's law, w1 the commonest."""
    home = tmp_path_factory.mktemp("zipf")
    draw = random.Random(1)
    words = [f"w{rank}x" for rank in range(1, 400)]
    weights = [1 / rank for rank in range(1, 400)]
    papers = [
        {"id": f"P-{number:04}", "title": "t", "abstract": " ".join(draw.choices(words, weights, k=20))}
        for number in range(2_000)
    ]
    build(home, write_jsonl(home / "zipf.jsonl", papers), "zipf", analyzer="english")
    with open_index(IndexerSettings(home=home), "zipf") as index:
        yield index


@pytest.mark.parametrize("title_weight", [0.0, 0.4])
@pytest.mark.parametrize("filters", [Filters(), Filters(without=("P-0001", "P-0007"))])
def test_the_ten_queries_find_the_same_whether_all_is_read_or_not(index, filters, title_weight, monkeypatch):
    draw = random.Random(2)
    for _ in range(20):
        words = [f"w{rank}x" for rank in sorted(draw.sample(range(1, 400), 10), reverse=True)]
        tokens = {word: tuple(token[0] for token in index.analyzer.analyze(word)) for word in words}
        terms = [Term(word, tokens[word], weight=draw.choice([0.3, 1.0, 2.0])) for word in words]
        queries = [(or_query(terms[:n], title_weight=title_weight), 10) for n in range(10, 0, -1)]
        found = []
        for worthwhile in (math.inf, 0):
            monkeypatch.setattr(tantivy_search, "WORTHWHILE", worthwhile)
            found.append(index.engine.search(queries, filters=filters, collapse=True))
        read, pruned = found
        for one, other in zip(read, pruned, strict=True):
            assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=2e-4)
            assert [hit.passage_id for hit in one] == [hit.passage_id for hit in other]
