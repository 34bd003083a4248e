"""How closely a passage speaks of a question."""

import pytest

from retriever.order.features import BESIDE, WINDOW, best_window, window_around
from retriever.question.concepts import Concept, Word
from tests.retriever.order.by_hand import counterpart, passage, places, read, together, word

GRAPH = Concept("graph", (word("graph", 2.0),))
SEARCH = Concept("검색", (word("검색", 1.0),), (counterpart("retriev again", 1.0, 1.0),))
BOTH = [GRAPH, SEARCH]
WORDS = "graph 검색 retriev again 1998 2001"


def window(text, concepts=BOTH, *, title2=""):
    [share] = best_window(concepts, places(read(passage(text, title2=title2)), WORDS))
    return share


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (f"graph _{WINDOW - 1} 검색", 1),
        (f"graph _{WINDOW} 검색", 2 / 3),
        ("graph _40 검색 _40 graph 검색", 1),  # wherever it stands
        ("graph graph _40 검색", 2 / 3),
        ("retriev again _3 graph", 1),  # a counterpart instead of the word
        ("retriev _3 graph", 2 / 3),  # whose tokens stand together
        ("검색 retriev again", 1 / 3),  # a concept counts once
        ("other", 0),
        ("", 0),
    ],
)
def test_the_best_window_covers_the_most_importance(text, share):
    assert window(text) == pytest.approx(share)


def test_each_word_of_a_concept_without_counterparts_counts_by_itself():
    alone = Concept("graph 검색", (word("graph", 2.0), word("검색", 1.0)))

    assert window("graph", [alone]) == pytest.approx(2 / 3)
    assert window("graph 검색", [alone]) == pytest.approx(1)


def test_of_many_passages_each_has_its_own_window():
    found = places(read(passage("graph"), passage("검색"), passage("other")), WORDS)

    assert best_window(BOTH, found) == pytest.approx([2 / 3, 1 / 3, 0])


def test_no_window_reaches_from_one_passage_into_the_next():
    assert best_window(BOTH, places(read(passage("graph"), passage("검색")), WORDS)) == pytest.approx(
        [2 / 3, 1 / 3]
    )


def around(text, *wanted):
    [share] = window_around(BOTH, places(read(passage(text), passage("1998")), WORDS), wanted)[:1]
    return share


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (f"graph _{BESIDE - 1} 1998 _{BESIDE - 1} 검색", 1),
        (f"graph _{BESIDE} 1998 _{BESIDE - 1} 검색", 1 / 3),
        ("graph 검색 _40 1998", 0),
        ("graph 검색 _40 1998 _40 2001 graph", 2 / 3),  # the best of them
        ("graph 검색", 0),
    ],
)
def test_a_window_around_wanted_tokens_covers_their_neighbourhood(text, share):
    assert around(text, "1998", "2001") == pytest.approx(share)


def test_around_no_wanted_token_nothing_is_covered():
    assert around("graph 1998 검색") == 0
    assert around("graph 1998 검색", "unheard") == 0


def test_a_question_of_words_that_no_passage_holds_is_close_to_nothing():
    unknown = [Concept("unheard", (word("unheard", 3.0, is_known=False),))]
    found = places(read(passage("graph 1998")), WORDS)

    assert best_window(unknown, found) == [0]
    assert window_around(unknown, found, {"1998"}) == [0]
    assert best_window([], found) == [0]


def test_a_suffix_is_close_only_beside_its_word():
    suffix = Concept("제", (Word({together("항생 제"): 1.0}, 1.0),))
    found = places(read(passage("항생 제"), passage("제")), "항생 제")

    assert best_window([suffix], found) == [1, 0]
