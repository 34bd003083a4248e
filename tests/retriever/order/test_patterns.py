"""Tokens and adjacent tokens in the rows of passages."""

import pytest

from retriever.order.patterns import tokens_of
from retriever.queries.boolean import single
from tests.retriever.order.by_hand import passage, places, read, together

GRAPH, THEORY = single("graph"), single("theory")


def counts(candidates, pattern, *, titles=False):
    """Return how often a pattern stands in the text of each passage, or in its title."""
    found = places(candidates, " ".join(tokens_of([pattern]))).count([pattern])
    if pattern not in found.columns:
        return None
    return (found.titles if titles else found.texts)[:, found.columns[pattern]].tolist()


def test_tokens_are_counted_in_texts_and_titles_apart():
    candidates = read(passage("graph theory of a graph", "graph theory"), passage("theory"))

    assert counts(candidates, GRAPH) == [2, 0]
    assert counts(candidates, GRAPH, titles=True) == [1, 0]
    assert counts(candidates, THEORY) == [1, 1]


def test_the_title_in_the_other_language_counts_as_text():
    candidates = read(passage("graph theory", title2="graph 이론"))

    assert counts(candidates, GRAPH) == [2]
    assert counts(candidates, single("이론")) == [1]


def test_lengths_count_the_tokens_of_text_and_of_the_other_title():
    found = places(read(passage("graph _5 theory", "a", title2="이론"), passage("")))

    assert found.rows.length.tolist() == [3, 0]
    assert found.rows.title_length.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("graph theory", 1),
        ("a graph theory b graph theory", 2),
        ("graph graph theory", 1),
        ("theory graph", 0),
        ("graph a theory", 0),
        ("graph _ theory", 0),
        ("graph", 0),
        ("", 0),
    ],
)
def test_adjacent_tokens_are_counted_where_they_follow_each_other(text, count):
    # The last passage keeps both tokens in the lexicon.
    candidates = read(passage(text), passage("theory a graph"))

    assert counts(candidates, together("graph theory")) == [count, 0]


def test_a_pattern_with_a_gap_matches_at_that_distance_whatever_stands_between():
    candidates = read(passage("graph _ theory"), passage("graph of theory"), passage("graph theory"))

    assert counts(candidates, together("graph _ theory")) == [1, 1, 0]


def test_a_repeated_token_may_begin_a_pattern_within_another():
    assert counts(read(passage("graph graph graph")), together("graph graph")) == [2]


def test_no_pattern_reaches_from_one_passage_into_the_next():
    candidates = read(passage("a graph"), passage("theory b"))

    assert counts(candidates, together("graph theory")) == [0, 0]
    assert counts(candidates, together("graph _3 theory")) == [0, 0]


def test_no_pattern_reaches_from_the_text_into_the_title_in_the_other_language():
    assert counts(read(passage("a graph", title2="theory b")), together("graph theory")) == [0]


def test_a_phrase_of_a_title_is_counted_in_the_title():
    candidates = read(
        passage("a", "graph theory today"), passage("b", "theory of graph"), passage("c", "a graph")
    )

    assert counts(candidates, together("graph theory"), titles=True) == [1, 0, 0]


def test_in_a_title_tokens_follow_each_other_whatever_was_dropped_between_them():
    candidates = read(passage("a", "graph _ theory"))

    assert counts(candidates, together("graph _ theory"), titles=True) == [1]


def test_no_phrase_reaches_from_one_title_into_the_next():
    candidates = read(passage("a", "a graph"), passage("b", "theory"))

    assert counts(candidates, together("graph theory"), titles=True) == [0, 0]


def test_a_pattern_with_a_token_that_the_lexicon_does_not_hold_has_no_column():
    assert counts(read(passage("graph")), together("graph unheard")) is None
    assert counts(read(passage("graph")), single("unheard")) is None


def test_places_are_those_of_the_pattern_s_first_token():
    found = places(read(passage("a graph theory"), passage("graph theory")), "graph theory")
    second = int(found.rows.body_start[1])

    assert found.of_pattern(together("graph theory")).tolist() == [1, second]


def test_no_passages_have_no_counts():
    found = places(read(), "graph").count([GRAPH])

    assert (found.columns, found.texts.shape) == ({}, (0, 0))
