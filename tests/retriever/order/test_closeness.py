"""How closely a passage speaks of a question."""

import pytest

from retriever.order.closeness import best_window, window_around
from retriever.order.concepts import Concept, Counterpart, Word
from tests.retriever.order.by_hand import candidate

GRAPH = Concept("graph", (Word({"graph": 1.0}, 2.0),))
SEARCH = Concept("검색", (Word({"검색": 1.0}, 1.0),), (Counterpart(("retriev",), 1.0, 1.0),))
BOTH = [GRAPH, SEARCH]


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("graph _24 검색", 1),  # 25 positions on
        ("graph _25 검색", 2 / 3),
        ("graph _40 검색 _40 graph 검색", 1),  # wherever it stands
        ("graph graph _40 검색", 2 / 3),
        ("retriev _3 graph", 1),  # a counterpart as the word
        ("검색 retriev", 1 / 3),  # which count once
        ("other", 0),
        ("", 0),
    ],
)
def test_the_best_window_is_the_most_importance_within_25_positions(text, share):
    assert best_window(BOTH, candidate(text)) == pytest.approx(share)


def test_of_many_concepts_only_those_are_looked_at_whose_words_come_and_go():
    looked_at = []

    class Watched(Concept):
        def coverage(self, held):
            looked_at.append(self.text)
            return super().coverage(held)

    words = [f"w{number}" for number in range(300)]
    concepts = [Watched(word, (Word({word: 1.0}, 1.0),)) for word in words]

    assert best_window(concepts, candidate(" ".join(words))) == pytest.approx(26 / 300)
    assert len(looked_at) <= 2 * len(words)


def test_a_title_in_the_other_language_stands_in_no_window_with_the_text():
    assert best_window(BOTH, candidate("graph", title2="검색")) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("graph _11 1998 _11 검색", 1),  # twelve positions either way
        ("graph _12 1998 _11 검색", 1 / 3),
        ("graph 검색 _40 1998", 0),
        ("graph 검색 _40 1998 _40 2001 graph", 2 / 3),  # the best of them
        ("graph 검색", 0),
    ],
)
def test_a_window_around_wanted_tokens_covers_what_stands_beside_one_of_them(text, share):
    assert window_around(BOTH, candidate(text), {"1998", "2001"}) == pytest.approx(share)


def test_a_question_of_words_that_no_passage_holds_is_close_to_nothing():
    unknown = [Concept("graph", (Word({"graph": 1.0}, 0.0),))]

    assert best_window(unknown, candidate("graph")) == 0
    assert window_around(unknown, candidate("graph 1998"), {"1998"}) == 0
    assert best_window([], candidate("graph")) == 0
