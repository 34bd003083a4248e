"""Exclusions of a question: left out of quotations, marked in answers of a model."""

import asyncio

import pytest

from generator.answers.model_answer import written_answer
from generator.llm import LanguageModel
from generator.prompts import load_prompt
from retriever.exclusions import Excluded
from retriever.strategy import Strategy
from tests.generator.answers.test_model_answer import EVIDENCE, GOOD, answer_of
from tests.generator.language_model import Scripted, no_fallback, says, settings
from tests.generator.sample_index import found, quoted

pytest_plugins = ["tests.generator.sample_index"]

NO_MICA = (Excluded("mica plates", (((0, "mica"), (1, "plate")),)),)
MICA = {"text": "Mica plates delayed thermal runaway by 6 minutes.", "citations": [2]}
QUESTIONS = {
    "en": "How long is thermal runaway delayed, apart from mica plates?",
    "ko": "운모판을 제외하면 열폭주는 얼마나 늦춰지는가?",
}


def asked_of_model(sample, question, *sentences, exclusions=NO_MICA):
    script = Scripted([says(answer_of(*sentences))] * 2)  # a Korean answer is asked for once more

    async def call():
        async with LanguageModel(settings(), transport=script.transport) as model:
            writing = written_answer(question, EVIDENCE, sample, no_fallback, exclusions=exclusions)
            return await writing.call(model)

    made = asyncio.run(call())
    return script.bodies[0]["messages"][0]["content"], made


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_prompt_names_exclusions(sample, language):
    prompt, made = asked_of_model(sample, QUESTIONS[language], GOOD)

    assert made.call_record()["exclusions_prompt_version"] == load_prompt("exclusions", language).version
    assert prompt.endswith('<exclusions>\n<exclusion number="1">\nmica plates\n</exclusion>\n</exclusions>')


def test_a_sentence_about_an_excluded_subject_is_marked(sample):
    uncited = MICA | {"citations": []}

    _, made = asked_of_model(sample, QUESTIONS["en"], GOOD, MICA, uncited)

    answer = made.value
    assert [sentence.check for sentence in answer.sentences] == ["not checked", "excluded", "unsupported"]
    assert f"{MICA['text']} [B2] (excluded)" in answer.as_text()


def test_excluded_subjects_are_not_quoted(sample):
    question = "How is kimchi fermented"

    with_all = quoted(sample, found(sample, f"{question}?"), 0.0)
    strategy = Strategy(en=("kimchi",), exclude=({"en": "salt"},))
    without = quoted(sample, found(sample, question, strategy=strategy), 0.0)

    assert any("salt" in sentence.text.lower() for sentence in with_all.sentences)
    assert without.sentences
    assert not any("salt" in sentence.text.lower() for sentence in without.sentences)
