"""Answers judged by a language model."""

import asyncio

import httpx
import pytest

from eval.answer_quality.judging import Judgement, judge_answer
from generator.llm import LanguageModel
from tests.generator.language_model import Scripted, says, settings

QUESTION = "How long did the aerogel delay thermal runaway?"
REFERENCES = ["By 14 minutes.", "Fourteen minutes at 80 °C."]


def judge(*replies, question=QUESTION):
    script = Scripted(replies)

    async def run():
        async with LanguageModel(settings(retries=0), transport=script.transport) as model:
            return await judge_answer(question, REFERENCES, "It took 14 min.", model)

    return asyncio.run(run()), script


def test_the_model_compares_the_answer_with_all_references():
    judgement, script = judge(says({"reason": "The same time.", "verdict": "correct"}))
    assert judgement == Judgement("correct", "The same time.")
    asked = script.bodies[0]["messages"][0]["content"]
    assert '<reference number="2">\nFourteen minutes at 80 °C.\n</reference>' in asked
    assert "<answer>\nIt took 14 min.\n</answer>" in asked


def test_a_korean_question_is_judged_with_the_korean_rubric():
    _, script = judge(says({"verdict": "incorrect"}), question="에어로젤은 열폭주를 얼마나 늦추는가?")
    assert "채점" in script.bodies[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    "replies",
    [(says({"verdict": "perhaps"}), says({"verdict": "perhaps"})), (httpx.ConnectError("gone"),)],
    ids=["no such verdict", "no connection"],
)
def test_a_failed_judgement_is_a_result(replies):
    judgement, _ = judge(*replies)
    assert judgement.verdict == "not judged"
    assert judgement.why
