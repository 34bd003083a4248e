"""Sentences judged by a model, and the check by rules if the model fails."""

import asyncio
from dataclasses import replace

import httpx
import pytest

from generator.answers.answer import Answer, Sentence
from generator.answers.judging import judged
from generator.checking.sentence_check import Reason
from generator.request import Resources
from generator.tracing.steps import Step
from indexer.settings import CheckSettings, IndexerSettings
from retriever.index import open_index
from tests.generator.language_model import Scripted, says
from tests.generator.sample_index import NAME, passage, settings_of

pytest_plugins = ["tests.generator.sample_index"]

EVIDENCE = (
    passage("B1", "Aerogel sheets delayed thermal runaway by 14 minutes.", title="Aerogel"),
    passage("B2", "Mica plates delayed it by 6 minutes.", title="Mica"),
)
WRONG = (Reason("words", "too few of its words"),)
ANSWER = Answer(
    "Aerogel",
    (
        Sentence("Aerogel delayed it by 41 minutes.", "body", ("B1",), "unsupported", WRONG),
        Sentence("Both delayed it.", "body", ("B1", "B2"), "supported"),
        Sentence("It is known.", "conclusion", (), "unsupported", (Reason("citation", "no citation"),)),
    ),
    "en",
    "tiny-writer-7b",
    abstained=False,
)
LLM = {"llm": {"base_url": "http://model.test/v1", "model": "tiny-writer-7b", "retries": 0}}


def judge(home, check, *replies, answer=ANSWER):
    """Have the answer judged; return it, the step and what the language model was asked."""
    script = Scripted(replies)
    settings = settings_of(home, **LLM)

    async def run(index):
        async with settings.language_model(script.transport) as model:
            step = Step("ask")
            made = await judged(step, answer, EVIDENCE, Resources(index, settings, model))
            return made, step, script

    with open_index(IndexerSettings(home=home, check=check), NAME) as index:
        return asyncio.run(run(index))


def verdicts(*of):
    return says({"judgements": [{"sentence": n, "verdict": v, "why": why} for n, v, why in of]})


def test_by_default_the_rules_judge_and_no_model_is_asked(sample_home):
    made, step, script = judge(sample_home, CheckSettings())
    assert made == ANSWER
    assert made.checked_by == "rules"
    assert (step.children, script.requests) == ([], [])


def test_the_language_model_judges_every_sentence_that_cites(sample_home):
    reply = verdicts((1, "unsupported", "14 minutes in the passage"), (2, "supported", ""))
    made, step, script = judge(sample_home, CheckSettings(judge="model"), reply)

    assert [sentence.check for sentence in made.sentences] == ["unsupported", "supported", "unsupported"]
    assert made.sentences[0].reasons == (Reason("judge", "14 minutes in the passage"),)
    assert made.sentences[2] == ANSWER.sentences[2]
    assert made.checked_by == "tiny-writer-7b"
    (child,) = step.children
    assert (child.name, child.model_call["prompt_version"]) == ("check", 1)
    asked = script.bodies[0]["messages"][0]["content"]
    assert '<sentence number="2">\n(1, 2) Both delayed it.' in asked
    assert "It is known." not in asked


def test_the_judge_does_not_get_certain_signs(sample_home):
    number = replace(ANSWER.sentences[0], reasons=(Reason("number", "41 minutes"),))
    answer = replace(ANSWER, sentences=(number, *ANSWER.sentences[1:]))

    made, _, script = judge(
        sample_home, CheckSettings(judge="model"), verdicts((1, "supported", "")), answer=answer
    )

    assert made.sentences[0] == number
    asked = script.bodies[0]["messages"][0]["content"]
    assert "Both delayed it." in asked
    assert "41 minutes" not in asked


def test_a_long_reason_is_truncated(sample_home):
    reply = verdicts((1, "unsupported", "14 minutes. " * 100), (2, "supported", ""))

    made, _, _ = judge(sample_home, CheckSettings(judge="model"), reply)

    (reason,) = made.sentences[0].reasons
    assert reason.words == ("14 minutes. " * 100)[:300]


@pytest.mark.parametrize(
    "replies",
    [
        (verdicts((1, "supported", "")),),
        (says("no JSON"), says("again none")),
        (httpx.ConnectError("gone"),),
    ],
    ids=["a sentence left out", "no JSON", "no connection"],
)
def test_the_check_by_rules_remains_if_the_language_model_fails(sample_home, replies):
    made, step, _ = judge(sample_home, CheckSettings(judge="model"), *replies)
    assert made == ANSWER
    assert step.children[0].fallback == "check by rules"
    assert step.children[0].notes[0].startswith("check by rules, the model failed")


@pytest.mark.needs_models
def test_an_entailment_model_judges_and_is_named_with_its_revision(sample_home, tmp_path):
    from indexer.encoders.entailment import EntailmentModel
    from tests.indexer.encoders.tiny_models import tiny_entailment_model

    folder = tiny_entailment_model(tmp_path, ("entailment", "neutral", "contradiction"))
    check = CheckSettings(model=str(folder), device="cpu")
    pair = ("Aerogel\nAerogel sheets delayed thermal runaway by 14 minutes.", ANSWER.sentences[0].text)
    (expected,) = EntailmentModel(check).judge([pair])

    made, step, _ = judge(sample_home, check)

    wanted = "supported" if expected.relation == "entailment" else "unsupported"
    assert made.sentences[0].check == wanted
    assert made.sentences[2] == ANSWER.sentences[2]
    assert made.checked_by.startswith("model@files:")
    assert step.children[0].output["checked_by"] == made.checked_by


@pytest.mark.needs_models
def test_the_check_by_rules_remains_without_the_entailment_model(sample_home, tmp_path):
    made, step, _ = judge(sample_home, CheckSettings(model=str(tmp_path / "none")))
    assert made == ANSWER
    assert step.children[0].fallback == "check by rules"
    assert "SHRAG_CHECK__MODEL" in step.children[0].error
