"""BM25 of patterns with a question's own average length. A token's share of its idf, of k1 + 1 at most."""

import numpy as np
import pytest

from indexer.files.schema import BM25_B
from retriever.order.bm25 import K1, Scale
from retriever.queries.boolean import single
from tests.retriever.order.by_hand import FOUR_LONG, passage, places, read, together

GRAPH = single("graph")


def scores(scale, *passages, idf=3.0, pattern=GRAPH):
    """Return the score of each passage for a pattern."""
    wanted = " ".join(token for _, token in pattern)
    return scale.scores(places(read(*passages), wanted).count([pattern]), {pattern: idf})[:, 0].tolist()


def test_a_token_scores_its_idf_once_in_a_text_of_average_length():
    average = Scale.of(np.array([3, 5]), title_weight=0.0)

    assert average == Scale(4.0, 0.0)
    assert scores(average, passage("graph a b c")) == pytest.approx([3.0])


def test_a_frequent_token_scores_more_and_one_of_a_long_text_less():
    found = scores(
        FOUR_LONG, passage("graph graph a b"), passage("graph a b c"), passage("graph a b c d e f g")
    )

    # Two of them, one, and one in a text of twice the average length.
    longer = K1 * (1 - BM25_B + BM25_B * 8 / 4)
    assert found == pytest.approx([3 * (K1 + 1) * 2 / (2 + K1), 3.0, 3 * (K1 + 1) / (1 + longer)])


def test_a_title_of_two_words_adds_the_idf_times_the_weight_of_titles():
    titled = Scale(4.0, title_weight=0.5)

    found = scores(titled, passage("graph a b c", "graph theory"), passage("graph a b c", "other words"))

    assert found == pytest.approx([3.0 + 0.5 * 3.0, 3.0])


@pytest.mark.parametrize(("title", "norm"), [("graph", K1 / 2), ("graph of all things", 2 * K1)])
def test_a_token_of_a_short_title_adds_more_than_one_of_a_long_title(title, norm):
    [found] = scores(Scale(4.0, title_weight=1.0), passage("graph a b c", title))

    assert found == pytest.approx(3.0 + 3 * (K1 + 1) / (1 + norm))


def test_a_pattern_scores_where_its_tokens_stand_together():
    theory = together("graph theory")

    found = scores(FOUR_LONG, passage("graph theory a b"), passage("graph a theory b"), pattern=theory)

    assert found == pytest.approx([3.0, 0.0])


def test_the_length_counts_tokens_of_all_texts_without_gaps():
    with_gaps = passage("graph _20 a _20 b", title2="c")

    assert scores(FOUR_LONG, with_gaps) == pytest.approx([3.0])


def test_passages_without_tokens_score_nothing():
    empty = read(passage("")), read()

    for candidates in empty:
        found = places(candidates, "graph")
        scale = Scale.of(found.rows.length, 0.4)
        assert scale.scores(found.count([GRAPH]), {GRAPH: 3.0}).sum() == 0
