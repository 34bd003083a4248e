"""Postings that need not be read: what is left out changes no hit and no score."""

import asyncio
import math
import random

import pytest

from indexer.settings import IndexerSettings
from retriever.engines import pruning
from retriever.engines.pruning import Floors, Posting, Word, is_sure, needed, postings_of, words_of
from retriever.index import open_index
from retriever.queries import And, Filters, Or, Phrase, Term, or_query
from tests.indexer.corpora import build, write_jsonl

RARE, MIDDLE, COMMON = (Word("text", word, 1.0) for word in ("rare", "middle", "common"))
POSTINGS = [Posting(RARE, 10, 8.0), Posting(MIDDLE, 1_000, 4.0), Posting(COMMON, 50_000, 1.0)]


def test_a_word_adds_less_than_its_idf_and_k1_allow():
    [posting] = postings_of([Word("text", "alpha", 0.5)], lambda *_: 100, documents=1_000)

    assert posting.bound == pytest.approx(0.5 * math.log(1 + 900.5 / 100.5) * 2.2)


def test_postings_come_rarest_first_and_words_that_are_nowhere_are_left_out():
    frequency = {"rare": 1, "middle": 0, "common": 5}

    found = postings_of([COMMON, MIDDLE, RARE], lambda _, token: frequency[token], documents=10)

    assert [posting.word for posting in found] == [RARE, COMMON]


@pytest.mark.parametrize(("floor", "count"), [(0.5, 3), (1.0, 3), (1.1, 2), (5.0, 2), (5.1, 1), (100.0, 1)])
def test_what_together_adds_less_than_the_floor_need_not_be_read(floor, count):
    assert needed(POSTINGS, floor, limit=10) == count


def test_without_a_floor_enough_passages_are_read_first():
    assert needed(POSTINGS, 0.0, limit=1) == 2
    assert needed(POSTINGS, 0.0, limit=10_000) == 3


def test_hits_are_sure_if_what_was_not_read_adds_less_than_the_worst():
    assert is_sure(POSTINGS, 2, worst=1.1)
    assert not is_sure(POSTINGS, 2, worst=1.0)


def test_a_hit_scores_at_least_what_it_does_with_fewer_words():
    floors = Floors()
    floors.note([RARE], 10, 3.0)

    assert floors.of([RARE, COMMON], 10) == 3.0
    assert floors.of([COMMON], 10) == 0.0
    assert floors.of([RARE, COMMON], 11) == 0.0


def test_a_word_that_stood_twice_is_no_bound_where_it_stands_once():
    floors = Floors()
    floors.note([COMMON, COMMON], 10, 3.0)

    assert floors.of([COMMON, RARE], 10) == 0.0
    assert floors.of([COMMON, RARE, COMMON], 10) == 3.0


def test_only_plain_ors_of_words_are_looked_at():
    word = Term("a", ("a", "b"))

    assert words_of(or_query([word], title_weight=0.5)) == (
        ("text", "a", 1.0),
        ("text", "b", 1.0),
        ("title", "a", 0.5),
        ("title", "b", 0.5),
    )
    assert words_of(And((word,))) is None
    assert words_of(Or((word, Phrase("a b", ((0, "a"), (1, "b")))))) is None


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
            monkeypatch.setattr(pruning, "WORTHWHILE", worthwhile)
            monkeypatch.setattr("retriever.engines.tantivy.WORTHWHILE", worthwhile)
            found.append(asyncio.run(index.engine.search(queries, filters=filters, collapse=True)))
        read, pruned = found
        for one, other in zip(read, pruned, strict=True):
            assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=2e-4)
            assert [hit.passage_id for hit in one] == [hit.passage_id for hit in other]
