"""Sentences and answers judged without and with a language model, and scores of citations as in ALCE."""

import asyncio

import httpx
import pytest

from eval.answer_quality.judging import (
    Judged,
    Judgement,
    Verdict,
    citation_scores,
    judge_answer,
    judge_sentences,
    parts_of,
    precise_citations,
)
from generator.answers.answer import Sentence
from generator.answers.judging import MOST_CLAIMS
from generator.llm import LanguageModel
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import passage

AEROGEL = passage("B1", "Aerogel sheets delayed thermal runaway by 14 minutes.", title="Aerogel")
MICA = passage("B2", "Mica plates delayed it by 6 minutes.", title="Mica")
BOTH = (AEROGEL, MICA)


def sentence(text, *citations):
    return Sentence(text, "body", citations, "not checked")


DELAYED = sentence("Aerogel delayed thermal runaway by 14 minutes.", "B1", "B2")
WRONG = sentence("Aerogel delayed thermal runaway by 41 minutes.", "B1")
UNCITED = sentence("Aerogel is light.")


def by_model(sentences, *replies, **changed):
    script = Scripted(replies)

    async def run():
        async with LanguageModel(settings(retries=0, **changed), transport=script.transport) as model:
            return await judge_sentences(sentences, BOTH, "en", model)

    return asyncio.run(run()), script


def verdicts(*of):
    return says({"judgements": [{"sentence": n, "verdict": v, "why": ""} for n, v in enumerate(of, 1)]})


def test_without_a_model_only_the_words_of_a_passage_are_supported():
    verbatim = sentence(AEROGEL.text, "B1", "B2")
    judged = asyncio.run(judge_sentences([verbatim, WRONG, UNCITED], BOTH, "en", None))
    assert [each["verdict"] for each in judged] == ["supported", "not judged", "unsupported"]
    assert [each["precise"] for each in judged] == [[True, None], [None], []]
    assert [each["hints"] for each in judged] == [[], ["number"], ["citation"]]


def test_the_model_judges_sentences_and_then_the_parts_of_their_citations():
    judged, script = by_model(
        [DELAYED, WRONG, UNCITED], verdicts("supported", "unsupported"), verdicts("supported", "unsupported")
    )
    assert [each["verdict"] for each in judged] == ["supported", "unsupported", "unsupported"]
    assert [each["precise"] for each in judged] == [[True, False], [False], []]
    first, second = (body["messages"][0]["content"] for body in script.bodies)
    assert '<sentence number="1">\n(1, 2) Aerogel delayed' in first
    assert UNCITED.text not in first
    assert '<sentence number="2">\n(2) Aerogel delayed' in second


@pytest.mark.parametrize(
    "reply", [verdicts("supported"), says("no JSON"), httpx.Response(500), httpx.ConnectError("gone")]
)
def test_a_failed_judgement_is_a_result(reply):
    judged, _ = by_model([DELAYED, WRONG, UNCITED], reply, reply)
    assert [each["verdict"] for each in judged] == ["not judged", "not judged", "unsupported"]
    assert [each["precise"] for each in judged] == [[None, None], [None], []]
    assert judged[1]["hints"] == ["number"]


def test_many_sentences_are_judged_in_several_calls_of_which_one_may_fail():
    many = [sentence(f"Aerogel delayed it by {number} minutes.", "B1") for number in range(MOST_CLAIMS + 2)]
    judged, script = by_model(many, httpx.Response(500), verdicts("supported", "unsupported"))
    assert len(script.bodies) == 2
    assert [each["verdict"] for each in judged[-3:]] == ["not judged", "supported", "unsupported"]
    judged, _ = by_model([DELAYED], verdicts("supported"), httpx.Response(500))  # its parts are not judged
    assert (judged[0]["verdict"], judged[0]["precise"]) == ("supported", [None, None])


QUESTION = "How long did the aerogel delay thermal runaway?"
REFERENCES = ["By 14 minutes.", "Fourteen minutes at 80 °C."]


def judge(*replies):
    script = Scripted(replies)

    async def run():
        async with LanguageModel(settings(retries=0), transport=script.transport) as model:
            return await judge_answer(QUESTION, REFERENCES, "It took 14 min.", model)

    return asyncio.run(run()), script


def test_the_model_compares_the_answer_with_all_references():
    judgement, script = judge(says({"reason": "The same time.", "verdict": "correct"}))
    assert judgement == Judgement("correct", "The same time.")
    asked = script.bodies[0]["messages"][0]["content"]
    assert '<reference number="2">\nFourteen minutes at 80 °C.\n</reference>' in asked
    assert "<answer>\nIt took 14 min.\n</answer>" in asked


@pytest.mark.parametrize(
    "replies",
    [(says({"verdict": "perhaps"}), says({"verdict": "perhaps"})), (httpx.ConnectError("gone"),)],
    ids=["no such verdict", "no connection"],
)
def test_a_failed_judgement_of_an_answer_is_a_result(replies):
    judgement, _ = judge(*replies)
    assert judgement.verdict == "not judged"
    assert judgement.why


YES: Verdict = "supported"
NO: Verdict = "unsupported"
FAILED: Verdict = "not judged"
A: tuple[str, ...] = ("a",)
B: tuple[str, ...] = ("b",)
AB: tuple[str, ...] = ("a", "b")


def judged(verdict, *precise):
    return Judged(verdict=verdict, precise=list(precise), hints=[])


def test_the_parts_are_each_citation_and_the_others():
    assert parts_of(A) == []
    assert parts_of(("a", "b", "c")) == [A, B, ("c",), ("b", "c"), ("a", "c"), AB]


@pytest.mark.parametrize(
    ("citations", "verdicts", "precise"),
    [
        (A, {A: YES}, [True]),
        (A, {A: NO}, [False]),
        (AB, {AB: YES, A: YES, B: NO}, [True, False]),  # b is irrelevant: a supports without it
        (AB, {AB: YES, A: YES, B: YES}, [True, True]),
        (AB, {AB: YES, A: NO, B: NO}, [True, True]),  # only together they support
        (AB, {AB: NO}, [False, False]),
        (AB, {AB: FAILED}, [None, None]),
        (AB, {AB: YES, A: YES, B: FAILED}, [True, None]),
        (AB, {AB: YES, A: NO, B: FAILED}, [None, True]),
    ],
)
def test_a_citation_that_neither_supports_nor_is_needed_is_not_precise(citations, verdicts, precise):
    assert precise_citations(citations, verdicts) == precise


@pytest.mark.parametrize(
    ("answers", "recall", "precision"),
    [
        ([[judged(YES, True, False), judged(NO, False), judged(NO)], [judged(YES, True)]], 2 / 3, 2 / 3),
        ([[judged(NO)], [judged(YES, True)]], 0.5, 0.5),
        ([[judged(NO)]], 0, 0),
        ([[judged(FAILED, None), judged(YES, True, None)], [judged(FAILED, None)]], 1, 1),
        ([[judged(FAILED, None)]], None, None),
    ],
)
def test_the_scores_are_means_over_answers_and_their_judged_sentences(answers, recall, precision):
    scores = citation_scores(answers)
    assert [scores.recall, scores.precision] == pytest.approx([recall, precision])
