"""The lexicon: numbers of terms in a file, document frequencies, and how often a term is in names."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis.names import Name
from indexer.analysis.packing import GAP
from indexer.files.schema import StoredPassage
from indexer.forward.lexicon import (
    Lexicon,
    TokenCounts,
    lexicon_bytes,
)
from indexer.forward.rows import RowTokens, pack_row

TERMS = ["그래프", "graph", "naïve", "graphs", "가", "b", "\U0001f600", "gra"]


def row(*body, other_title=(), names=()):
    passage = StoredPassage("P", "P", "", "x", "en", "abstract")
    return pack_row(passage, RowTokens(body, other_title, [], [Name(*name) for name in names]))


def counted(*rows):
    counts = TokenCounts()
    for each in rows:
        counts.add(each)
    return counts


def lexicon_of(terms, *rows):
    return Lexicon(lexicon_bytes(terms, counted(*rows)))


def test_terms_in_use_are_found_by_their_beginning_in_order_of_their_bytes():
    used = lexicon_of(TERMS, row(1, 2), row(2, 4, 8), row(3, 5))

    assert used.starting_with("gra") == [("gra", 1), ("graph", 2), ("graphs", 1)]
    assert used.starting_with("그") == [("그래프", 1)]
    assert used.starting_with("b") == []  # no passage holds it
    assert used.starting_with("x") == []
    assert [term for term, _ in used.starting_with("")] == ["gra", "graph", "graphs", "naïve", "가", "그래프"]
    assert lexicon_of(["\U0001f600", "a\U0010fffe"], row(1, 2)).starting_with("a") == [("a\U0010fffe", 1)]
    assert (lexicon_of([]).starting_with("a"), lexicon_of([]).frequencies(["a"])) == ([], {"a": 0})


def test_terms_have_the_share_of_their_passages_that_have_them_in_a_name():
    lexicon = lexicon_of(
        ["marta", "quillon", "maps", "other"],
        row(1, 2, 3, 1, 2, names=[(0, 2), (3, 2)]),
        row(3, 2, names=[(1, 1)]),
        row(2, other_title=[4]),  # in which words do not count
    )

    assert lexicon.named_share(np.arange(5)).tolist() == [0, 1, 0.665, 0, 0]
    assert (lexicon.frequency.tolist(), lexicon.passages) == ([0, 1, 3, 2, 0], 3)


TERM = st.text(min_size=1, max_size=4).filter(lambda term: term != GAP)


@given(st.lists(TERM, unique=True, max_size=20))
def test_any_terms_come_back(terms):
    lexicon = lexicon_of(terms)

    assert list(lexicon) == terms
    assert [lexicon.number(term) for term in terms] == list(range(1, len(terms) + 1))
    assert lexicon.terms(range(len(terms) + 1)) == [GAP, *terms]
