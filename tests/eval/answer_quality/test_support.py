"""Sentences judged by the rules, and by a language model that may fail."""

import asyncio

import httpx
import pytest

from eval.answer_quality.support import MOST_CLAIMS, judge_by_model, judge_by_rules
from generator.answers.answer import Sentence
from generator.llm import LanguageModel
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import passage

pytest_plugins = ["tests.generator.sample_index"]

AEROGEL = passage("B1", "Aerogel sheets delayed thermal runaway by 14 minutes.", title="Aerogel")
MICA = passage("B2", "Mica plates delayed it by 6 minutes.", title="Mica")
BOTH = (AEROGEL, MICA)


def sentence(text, *citations):
    return Sentence(text, "body", citations, "not checkable")


DELAYED = sentence("Aerogel sheets delayed thermal runaway by 14 minutes.", "B1", "B2")
WRONG = sentence("Aerogel sheets delayed thermal runaway by 41 minutes.", "B1")
UNCITED = sentence("Aerogel is light.")


def by_model(sentences, *replies, **changed):
    script = Scripted(replies)

    async def run():
        async with LanguageModel(settings(retries=0, **changed), transport=script.transport) as model:
            return await judge_by_model(sentences, BOTH, "en", model)

    return asyncio.run(run()), script


def verdicts(*of):
    return says({"judgements": [{"sentence": n, "verdict": v, "why": ""} for n, v in enumerate(of, 1)]})


def test_the_rules_find_unneeded_citations_and_wrong_numbers(sample):
    supported, wrong, uncited = judge_by_rules([DELAYED, WRONG, UNCITED], BOTH, sample)
    assert (supported["verdict"], supported["precise"]) == ("supported", [True, False])
    assert (wrong["verdict"], wrong["precise"]) == ("unsupported", [False])
    assert ("number", "41 minutes") in wrong["reasons"]
    assert (uncited["verdict"], uncited["precise"]) == ("unsupported", [])


def test_the_model_judges_sentences_and_then_the_parts_of_their_citations():
    judged, script = by_model(
        [DELAYED, WRONG, UNCITED], verdicts("supported", "unsupported"), verdicts("supported", "unsupported")
    )
    assert [each["verdict"] for each in judged] == ["supported", "unsupported", "unsupported"]
    assert [each["precise"] for each in judged] == [[True, False], [False], []]
    first, second = (body["messages"][0]["content"] for body in script.bodies)
    assert '<sentence number="1">\n(1, 2) Aerogel sheets delayed' in first
    assert UNCITED.text not in first
    assert '<sentence number="2">\n(2) Aerogel sheets delayed' in second


@pytest.mark.parametrize(
    "reply", [verdicts("supported"), says("no JSON"), httpx.Response(500), httpx.ConnectError("gone")]
)
def test_a_failed_judgement_is_a_result(reply):
    judged, _ = by_model([DELAYED, WRONG, UNCITED], reply, reply)
    assert [each["verdict"] for each in judged] == ["not judged", "not judged", "unsupported"]
    assert [each["precise"] for each in judged] == [[None, None], [None], []]
    assert judged[0]["reasons"][0][0] == "judge"


def test_a_sentence_stays_supported_if_its_parts_are_not_judged():
    judged, _ = by_model([DELAYED], verdicts("supported"), httpx.Response(500))
    assert (judged[0]["verdict"], judged[0]["precise"]) == ("supported", [None, None])


def test_many_sentences_are_judged_in_several_calls_of_which_one_may_fail():
    many = [sentence(f"Aerogel delayed it by {number} minutes.", "B1") for number in range(MOST_CLAIMS + 2)]
    judged, script = by_model(many, httpx.Response(500), verdicts("supported", "unsupported"))
    assert len(script.bodies) == 2
    assert [each["verdict"] for each in judged[-3:]] == ["not judged", "supported", "unsupported"]
