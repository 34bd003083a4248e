"""Features of candidates, on tokens written out by hand."""

import pytest

from indexer.packing import PassageTokens
from retriever.features import Candidate, Concept, Features, features

GRAPH = Concept("graph", {"graph": 2.0}, 2.0)
SEARCH = Concept("검색", {"검색": 1.0, "retriev": 1.0}, 1.0)


def tokens(text):
    """Write tokens as words; `_` stands for a dropped one, `_9` for nine of them."""
    found, position = [], 0
    for word in text.split():
        if word.startswith("_"):
            position += int(word[1:] or 1)
        else:
            found.append((word, position, position, position + 1))
            position += 1
    return found


def candidate(text, title="", *, score=1.0, title2=""):
    packed = PassageTokens.pack(*map(tokens, (text, title.lower(), title2)))
    return Candidate(text, title, packed, score)


def of(text, title="", *, question="graph 검색", concepts=(GRAPH, SEARCH), rarity=None):
    [found] = features(tokens(question), concepts, [candidate(text, title)], rarity or {})
    return found


def test_no_candidates_have_no_features():
    assert features(tokens("graph"), [GRAPH], [], {}) == []


def test_the_base_is_the_score_given():
    found = features(tokens("graph"), [GRAPH], [candidate("a", score=0.7), candidate("b", score=0.3)], {})

    assert [row.base for row in found] == [0.7, 0.3]


def test_coverage_is_the_share_of_the_questions_weight():
    assert of("graph other").coverage == pytest.approx(2 / 3)
    assert of("검색 other").coverage == pytest.approx(1 / 3)
    assert of("other").coverage == 0


def test_a_counterpart_covers_a_word_and_no_more_than_the_word():
    assert of("retriev").coverage == pytest.approx(1 / 3)
    assert of("retriev 검색").coverage == pytest.approx(1 / 3)


def test_the_window_is_25_positions_wide():
    assert of("graph _24 검색").window == pytest.approx(1)
    assert of("graph _25 검색").window == pytest.approx(2 / 3)


def test_a_title_in_the_other_language_covers_but_stands_in_no_window_with_the_text():
    beside = candidate("graph", title2="검색")

    [found] = features(tokens("graph 검색"), [GRAPH, SEARCH], [beside], {})

    assert (found.coverage, found.near) == (1, 0)
    assert found.window == pytest.approx(2 / 3)


def test_stacked_tokens_are_found_at_their_positions():
    packed = PassageTokens.pack([("지식검색", 0, 0, 4), ("지식", 0, 0, 2), ("검색", 1, 2, 4)])
    stacked = Candidate("stacked", "", packed, 1.0)

    [found] = features(tokens("지식 검색"), [Concept("지식", {"지식": 1.0}, 1.0), SEARCH], [stacked], {})

    assert (found.coverage, found.window) == (1, 1)


def test_the_best_window_counts_wherever_it_stands():
    assert of("graph _40 검색 _40 graph 검색").window == pytest.approx(1)


def test_words_beside_each_other_in_the_question_are_near_within_8_positions():
    # One pair, once near: 1 / (1 + 1.2 (.25 + .75 · 2 / 2)), as the only candidate is as long as the average.
    assert of("graph _7 검색").near == pytest.approx(1 / 2.2)
    assert of("graph _8 검색").near == 0


def test_a_number_counts_beside_the_word_it_stands_beside_in_the_question():
    concepts = (Concept("bert", {"bert": 1.0}, 1.0), Concept("2", {"2": 1.0}, 1.0))

    assert of("bert 2", question="bert 2", concepts=concepts).numbers == 1
    assert of("2 bert", question="bert 2", concepts=concepts).numbers == 0
    assert of("graph 검색").numbers == 0


def test_the_titles_words_are_compared_by_letters():
    # graph stands in the title as it is (2), 검색 does not at all (0): 2 of 3.
    assert of("x", "Graph theory").title == pytest.approx(2 / 3)
    # One letter of six more: similarity 5/6 of the weight 2.
    assert of("x", "graphs").title == pytest.approx(2 * (5 / 6) / 3)
    assert of("x", "").title == 0


def test_brevity_is_the_share_of_the_titles_tokens_that_the_question_names():
    assert of("x", "graph theory for all").brevity == pytest.approx(1 / 4)
    assert of("x", "").brevity == 0


def test_the_lead_is_the_title_and_fifteen_words_more():
    assert of("_15 graph").lead == pytest.approx(2 / 3)
    assert of("_16 graph").lead == 0
    assert of("_16 graph", "one").lead == pytest.approx(2 / 3)


def test_terms_of_the_best_passages_raise_others_that_hold_them():
    best = candidate("graph quokka quokka", score=1.0)
    kin, stranger = candidate("quokka island", score=0.1), candidate("train island", score=0.1)

    rows = features(tokens("graph"), [GRAPH], [best, kin, stranger], {"quokka": 2.0, "graph": 1.0})

    assert rows[1].feedback > rows[2].feedback == 0


def test_a_question_without_any_known_word_has_features_of_zero():
    unknown = Concept("zzz", {"zzz": 0.0}, 0.0)

    found = of("graph", question="zzz", concepts=(unknown,))

    assert found == Features(1.0, 0, 0, 0, 0, 0, 0, 0, 0)


def test_an_empty_passage_has_no_features_but_its_score():
    assert of("") == Features(1.0, 0, 0, 0, 0, 0, 0, 0, 0)
