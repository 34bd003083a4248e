"""The form of a challenge's answers: headings, signs, and the repair of texts in other forms."""

import random

import pytest

from eval.experiments.challenge.form import (
    ChallengeAnswer,
    form_problems,
    laid_out,
    parsed,
    repaired,
    without_signs,
)
from generator.answers.answer import Sentence, no_answer, quoting_answer

KOREAN = "##제목##\n제목이다\n\n##서론##\n하나.\n\n##본론##\n둘.\n\n##결론##\n셋.\n"
ENGLISH = "##A title##\n\n##Introduction##\nOne.\n\n##Main Body##\nTwo.\n\n##Conclusion##\nThree.\n"


def test_the_korean_form_has_the_heading_of_the_title():
    assert laid_out(ChallengeAnswer("제목이다", "하나.", "둘.", "셋."), "ko") == KOREAN


def test_the_english_form_has_the_title_as_its_first_heading():
    assert laid_out(ChallengeAnswer("A title", "One.", "Two.", "Three."), "en") == ENGLISH


@pytest.mark.parametrize(("text", "language"), [(KOREAN, "ko"), (ENGLISH, "en")])
def test_a_text_in_the_form_stays_and_has_no_problems(text, language):
    assert repaired(text, language) == text
    assert form_problems(text, language) == ()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**Yields** fell *slightly*.", "Yields fell slightly."),
        ("* one\n- two\n• three", "one\ntwo\nthree"),
        ("3 * 4 is 12, 3*4 too", "3 × 4 is 12, 3×4 too"),
        ("A* search, p = .03*", "A∗ search, p = .03∗"),
        ("a two-stage method, 10-20 °C, -5 °C, 1 - 2", "a two-stage method, 10-20 °C, -5 °C, 1 - 2"),
        ("-5 °C was measured", "-5 °C was measured"),
        ("yields - and prices - fell", "yields – and prices – fell"),
        ("yields--and prices", "yields–and prices"),
        ("one\n---\ntwo", "one\ntwo"),
        ("## Results", "Results"),
        ("**- item**", "item"),
        ("an unclosed **mark", "an unclosed mark"),
    ],
)
def test_signs_of_layout_are_removed_and_signs_of_the_text_stay(text, plain):
    assert without_signs(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "##Conclusion##\nThree.\n##A title##\n##Main Body##\nTwo.\n##Introduction##\nOne.",
        "A title\n\n**Introduction**\nOne.\n\n**Main body:**\nTwo.\n\n# Conclusion\nThree.",
        "##Title##\nA title\n##서론##\nOne.\n##본론##\nTwo.\n##결론##\nThree.",
        "# A title #\n\nIntroduction\n- One.\nMain Body\n* Two.\nConclusion\n**Three.**",
    ],
)
def test_headings_in_another_form_or_order_are_repaired(text):
    assert form_problems(text, "en")
    assert repaired(text, "en") == ENGLISH


def test_missing_sections_are_added_and_repeated_ones_joined():
    assert repaired("##제목##\n가\n##본론##\n나\n##본론##\n다", "ko") == (
        "##제목##\n가\n\n##서론##\n\n##본론##\n나\n다\n\n##결론##\n"
    )


def test_text_before_the_headings_of_a_titled_answer_is_introduction():
    assert parsed("Before.\n##Title##\nT\n##Introduction##\nOne.").introduction == "Before.\nOne."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ENGLISH.replace("##Main Body##\n", ""), "Main Body occurs 0"),
        (ENGLISH + "##Conclusion##\n", "Conclusion occurs 2"),
        (ENGLISH.replace("A title", ""), "title"),
        ("##T##\n##Main Body##\n##Introduction##\n##Conclusion##\n", "order"),
        (ENGLISH + "2 * 3", "*"),
        (ENGLISH + "- item", "-"),
        (ENGLISH + "one - two", "-"),
    ],
)
def test_a_deviation_is_named(text, problem):
    [found] = form_problems(text, "en")
    assert problem in found


def test_whatever_a_text_contains_one_repair_is_enough():
    draw = random.Random(1)
    pieces = (
        "##제목##,##Title x##,##서론##,Introduction,# Main Body,**결론**,- ,* ,**, - ,--,---,-5,10-20,"
        "two-stage,A*,3 * 4,\n,\n,\n\n,word,단어,#,##,_,__,.,:, ,1,##Introduction##,*x*,•,- Conclusion"
    ).split(",")
    for _ in range(2_000):
        text = "".join(draw.choice(pieces) for _ in range(draw.randint(0, 14)))
        for language in ("ko", "en"):
            once = repaired(text, language)
            assert repaired(once, language) == once
            assert set(form_problems(once, language)) <= {"the title is missing"}


def test_quoted_sentences_are_the_body_between_two_fixed_sentences():
    quoted = [Sentence("Yields fell.", "passages", ("A",), "quoted")]
    answer = ChallengeAnswer.of(quoting_answer("en", quoted), "Did yields fall?")
    assert (answer.title, answer.body) == ("Did yields fall?", "Yields fell.")
    assert answer.introduction
    assert answer.conclusion


def test_an_abstention_is_the_introduction():
    answer = ChallengeAnswer.of(no_answer("ko", "extractive"), "왜?")
    assert answer.introduction.startswith("찾은 문헌에는")
    assert (answer.body, answer.conclusion) == ("", "")


def test_the_parts_of_a_text_are_without_signs_and_marks():
    text = "##C# and *Java*##\n##Introduction##\n- One.\n##Main Body##\n##Conclusion##\n"
    assert parsed(text) == ChallengeAnswer("C♯ and Java", "One.", "", "")
