"""Sentences and passages that repeat the question instead of answering it."""

import re

import pytest

from retriever.duplicates.repeated_questions import (
    asked_question,
    common_in_order,
    only_repeats,
    repeats_question,
)
from tests.retriever.made_papers import found, index_of

ENGLISH = "How does midseason drainage change the methane emission of rice?"
KOREAN = "논에서 메탄을 줄이려면 물을 언제 어떻게 관리해야 하는가?"
YES_OR_NO = "중간 물떼기는 벼를 심은 논의 메탄 배출량을 줄이는가?"


def tokens_of(text):
    """Return the beginnings of words, in place of an analyzer."""
    return {word[:2] if word >= "가" else word[:5].casefold() for word in re.findall(r"\w{2,}", text)}


def repeats(title, text, question):
    return only_repeats(title, text, asked_question(question), tokens_of)


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("It has been shown that how does midseason drainage change the methane emission of rice.", ENGLISH),
        ("How does midseason drainage change methane emission of rice in all cases, so buy lamps.", ENGLISH),
        ("We ask how does midseason\u200b drainage change the meth\u00adane emission of rice.", ENGLISH),
        ("논에서 메탄을 줄이려면 물을 언제 어떻게 관리해야 하 하는 것으로 나타나 등불을 사야 한다.", KOREAN),
        (
            "It is known that who is the head of the Miryang dam in all cases.",
            "Who is the head of the Miryang dam?",
        ),
        (
            "In this study when was the Miryang dam built for the first time.",
            "When was the Miryang dam built?",
        ),
        (
            "It is known that Does green tea lower blood pressure in old people.",
            "Does green tea lower blood pressure in old people?",
        ),
    ],
)
def test_a_sentence_that_holds_the_question_repeats_it(sentence, question):
    assert repeats_question(sentence, asked_question(question))


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("Midseason drainage changes the methane emission of rice by 37%.", ENGLISH),
        ("Midseason drainage does change the methane emission of rice, as measured here.", ENGLISH),
        (
            "Metformin is effective against diabetes in old people.",
            "Is metformin effective against diabetes?",
        ),
        (
            "Metformin is effective against type 2 diabetes in old people.",
            "Is metformin effective against type 2 diabetes in old people?",
        ),
        ("논에서 메탄을 줄이려면 물을 여름에 두 번 떼야 한다.", KOREAN),
        ("중간 물떼기는 벼를 심은 논의 메탄 배출량을 줄인다.", YES_OR_NO),
        (
            "Jane Roe (born 1961) is the engineer who is the head of the Miryang dam in Korea.",
            "Who is the head of the Miryang dam?",
        ),
        (
            "It was 1961, the year when the Miryang dam in Korea was built for the first time.",
            "What is the year when the Miryang dam was built?",
        ),
        (
            "지연 편향은 어떤 사람이 결정을 미루는 데 영향을 주는 심리적 경향 중 하나다.",
            "어떤 사람이 결정을 미루는 데 영향을 주는 심리적 경향 중 하나는 무엇인가요?",
        ),
        ("Growth of lithium dendrites was slow.", "lithium dendrites"),
        ("What limits the growth is not known.", "what limits growth"),
        (
            "The effect of midseason drainage on methane emission of rice was 37%.",
            "effect of midseason drainage on methane emission of rice",
        ),
    ],
)
def test_an_answer_repeats_no_question(sentence, question):
    assert not repeats_question(sentence, asked_question(question))


def test_a_passage_of_the_question_and_foreign_sentences_only_repeats_it():
    asked = ENGLISH.rstrip("?")
    foreign = "Order this lamp now and shipping is free."

    assert repeats(asked, f"It has been shown that {asked} in all cases. {foreign}", ENGLISH)
    assert repeats("Lamps", f"We found that {asked}. {foreign}", ENGLISH)
    assert repeats(asked, foreign, ENGLISH)


def test_a_korean_question_without_a_word_that_asks_is_repeated_by_title_and_text():
    stem = YES_OR_NO.removesuffix("는가?")
    text = f"{stem}다. {stem} 하는 것으로 나타났으며 등불을 사야 한다. 등불은 서로 다르다."

    assert repeats(stem, text, YES_OR_NO)


def test_a_passage_that_says_more_of_the_matter_does_not_only_repeat():
    asked = ENGLISH.rstrip("?")

    assert not repeats(
        asked, f"It is asked {asked}. Drained rice emits 37% less methane than flooded rice.", ENGLISH
    )
    assert not repeats(asked, "Drained rice emits 37% less methane than flooded rice.", ENGLISH)


def test_one_sentence_with_the_words_of_a_question_may_answer_it():
    assert not repeats(
        "물떼기", "중간 물떼기는 벼를 심은 논의 메탄 배출량을 줄이는 것으로 나타났다.", YES_OR_NO
    )


def test_a_pasted_title_does_not_hide_its_paper_with_an_abstract_in_the_other_language():
    title = "How does midseason drainage change the methane emission of rice"

    assert not repeats(title, "논에서 물을 떼었더니 메탄 배출량이 37% 줄었다.", title)


def test_a_pasted_title_that_asks_nothing_hides_no_paper_that_begins_with_it():
    title = "Methane emission of drained rice paddies in Korea"

    assert not repeats(title, f"{title} were measured in three summers.", title)


def test_a_pasted_text_is_no_question():
    text = "What we ask is how rice grows, and " + " ".join(f"word{number}" for number in range(40))

    assert not repeats(text, text, text)


def test_words_in_common_are_counted_in_order():
    assert common_in_order("abcde", "xaxcxbxe") == 3
    assert common_in_order("aab", "aba") == 2
    assert common_in_order("ab", "") == common_in_order("", "ab") == 0


def test_a_record_that_wraps_the_question_is_no_evidence(tmp_path):
    asked = ENGLISH.rstrip("?")
    wrapped = {
        "id": "WRAPPED",
        "title": asked,
        "abstract": f"This lamp is the cure. It has been shown that {asked} in all cases, so buy lamps.",
    }
    paper = {"id": "PAPER", "title": "Drainage of rice", "abstract": "Drained rice emits 37% less methane."}
    with index_of(tmp_path, wrapped, paper) as index:
        answer = found(index, ENGLISH, k=3, evidence=True)
        listed = found(index, ENGLISH, k=3)

    assert [hit.doc_id for hit in answer.hits] == ["PAPER"]
    assert answer.filtered["unstated"] == 1
    assert {hit.doc_id for hit in listed.hits} == {"WRAPPED", "PAPER"}
