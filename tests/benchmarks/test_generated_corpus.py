from collections import Counter

import numpy as np
import pytest

from benchmarks.corpora.generated import (
    DOCUMENT_TOKENS,
    QUESTION_TERMS,
    VOCABULARY,
    documents,
    draw,
    questions,
    word,
)


def test_a_word_is_its_rank_in_base_36():
    assert [word(1), word(35), word(36), word(VOCABULARY)] == ["1", "z", "10", "lfls"]


def test_the_corpus_is_the_same_every_time():
    first, again = list(documents(3)), list(documents(3))

    assert first == again
    assert first[0].words[:5] == ("4", "5n", "ff", "2lzm", "4l4")


def test_a_document_has_sixty_words_and_the_first_five_for_a_title():
    (document,) = documents(1)

    assert len(document.words) == DOCUMENT_TOKENS == 60
    assert document.title == document.words[:5]


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one():
    # Documents are drawn 10,000 at a time: the larger corpus needs a second block.
    smaller, larger = list(documents(3)), list(documents(10_001))

    assert larger[:3] == smaller
    assert (len(larger), larger[-1].number) == (10_001, 10_000)
    assert larger[10_000].words != larger[0].words


@pytest.mark.parametrize(("rank", "share"), [(1, 1 / 14.3927), (2, 1 / 28.7854), (10, 1 / 143.927)])
def test_a_word_is_drawn_in_inverse_proportion_to_its_rank(rank, share):
    # The sum of 1 / r for r from 1 to a million is 14.3927.
    drawn = draw(np.random.default_rng(1), (200_000,))

    assert np.mean(drawn == rank) == pytest.approx(share, rel=0.05)


def test_ranks_stay_within_the_vocabulary():
    drawn = draw(np.random.default_rng(2), (200_000,))

    assert drawn.min() == 1
    assert VOCABULARY / 2 < drawn.max() <= VOCABULARY


def test_a_question_has_ten_distinct_words_the_rarest_first():
    for question in questions(20):
        ranks = [int(term, 36) for term in question]

        assert len(set(question)) == QUESTION_TERMS == 10
        assert ranks == sorted(ranks, reverse=True)


def test_questions_are_the_same_every_time_and_drawn_like_the_text():
    asked = questions(50)

    assert asked == questions(50)
    assert Counter(term for question in asked for term in question).most_common(1)[0][0] == "1"
