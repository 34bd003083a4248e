"""Sentences judged without a model, and by a language model that may fail."""

import asyncio

import httpx
import pytest

from eval.answer_quality.judging import judge_sentences
from generator.answers.answer import Sentence
from generator.answers.judging import MOST_CLAIMS
from generator.llm import LanguageModel
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import passage

pytest_plugins = ["tests.generator.sample_index"]

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
