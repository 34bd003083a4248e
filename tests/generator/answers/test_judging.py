"""Sentences judged by a model, and left unchecked if the model fails."""

import asyncio

import httpx
import pytest

from generator.answers.answer import Answer, Sentence
from generator.answers.judging import judged
from generator.checking import Hint
from generator.request import Resources
from generator.tracing import Step
from indexer.settings import CheckSettings, IndexerSettings
from retriever.index import open_index
from tests.generator.language_model import Scripted, says
from tests.generator.sample_index import NAME, passage, settings_of

EVIDENCE = (
    passage("B1", "Aerogel sheets delayed thermal runaway by 14 minutes.", title="Aerogel"),
    passage("B2", "Mica plates delayed it by 6 minutes.", title="Mica"),
)
NUMBER = Hint("number", {"text": "41 minutes"})
ANSWER = Answer(
    "Aerogel delays it",
    (
        Sentence("Aerogel delayed it by 41 minutes.", "body", ("B1",), "not checked", (NUMBER,)),
        Sentence("Both delayed it.", "body", ("B1", "B2"), "not checked"),
        Sentence(EVIDENCE[0].text, "body", ("B1",), "supported"),
        Sentence("It is hot.", "body", ("B1",), "excluded"),
        Sentence("It is known.", "conclusion", (), "unsupported", (Hint("citation", {}),)),
    ),
    "en",
    "tiny-writer-7b",
    abstained=False,
    title_check="not checked",
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


def test_without_a_judge_no_model_is_asked(sample_home):
    made, step, script = judge(sample_home, CheckSettings(judge="none"))
    assert made == ANSWER
    assert (step.children, script.requests) == ([], [])


def test_by_default_the_language_model_judges_what_is_not_checked_yet(sample_home):
    reply = verdicts((1, "supported", ""), (2, "unsupported", "14 minutes there"), (3, "supported", ""))
    made, step, script = judge(sample_home, CheckSettings(), reply)

    checks = [sentence.check for sentence in made.sentences]
    assert checks == ["unsupported", "supported", "supported", "excluded", "unsupported"]
    assert made.title_check == "supported"
    assert made.sentences[0].hints == (NUMBER, Hint("judge", {"text": "14 minutes there"}))
    assert made.sentences[2:] == ANSWER.sentences[2:]
    assert made.checked_by == "tiny-writer-7b"
    (child,) = step.children
    assert (child.name, child.model_call["prompt_version"]) == ("check", 1)
    asked = script.bodies[0]["messages"][0]["content"]
    assert '<sentence number="1">\n(1, 2) Aerogel delays it' in asked
    assert '<sentence number="3">\n(1, 2) Both delayed it.' in asked
    assert asked.count("<sentence number") == 3


@pytest.mark.parametrize(
    "replies",
    [
        (verdicts((1, "supported", "")),),
        (says("no JSON"), says("again none")),
        (httpx.ConnectError("gone"),),
    ],
    ids=["a sentence left out", "no JSON", "no connection"],
)
def test_sentences_stay_unchecked_if_the_language_model_fails(sample_home, replies):
    made, step, _ = judge(sample_home, CheckSettings(judge="model"), *replies)
    assert made == ANSWER
    assert step.children[0].fallback == "sentences not checked"
    assert step.children[0].notes[0].startswith("sentences not checked, the model failed")


@pytest.mark.needs_models
def test_an_entailment_model_judges_and_is_named_with_its_revision(sample_home, tmp_path):
    from indexer.encoders.cross_encoder import EntailmentModel
    from tests.indexer.encoders.tiny_models import tiny_entailment_model

    folder = tiny_entailment_model(tmp_path, ("entailment", "neutral", "contradiction"))
    check = CheckSettings(model=str(folder), device="cpu")
    pair = ("Aerogel\nAerogel sheets delayed thermal runaway by 14 minutes.", ANSWER.sentences[0].text)
    (expected,) = EntailmentModel(check).judge([pair])

    made, step, _ = judge(sample_home, check)

    wanted = "supported" if expected.relation == "entailment" else "unsupported"
    assert made.sentences[0].check == wanted
    assert made.sentences[2:] == ANSWER.sentences[2:]
    assert made.checked_by.startswith("model@files:")
    assert step.children[0].output["checked_by"] == made.checked_by
