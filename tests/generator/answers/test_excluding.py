"""Exclusions of a question: left out of quotations, marked in answers of a model."""

import asyncio

from generator.answers.model_answer import written_answer
from generator.llm import LanguageModel
from generator.prompts import load_prompt
from retriever.exclusions import Excluded
from retriever.strategy import Strategy
from tests.generator.answers.test_model_answer import EVIDENCE, GOOD, answer_of
from tests.generator.language_model import Scripted, says, settings
from tests.generator.sample_index import found, quoted

NO_MICA = (Excluded("mica plates", (((0, "mica"), (1, "plate")),)),)
MICA = {"text": "Mica plates delayed thermal runaway by 6 minutes.", "citations": [2]}
QUESTION = "How long is thermal runaway delayed, apart from mica plates?"


def asked_of_model(sample, question, *sentences):
    script = Scripted([says(answer_of(*sentences))])

    async def call():
        async with LanguageModel(settings(), transport=script.transport) as model:
            writing = written_answer(question, EVIDENCE, sample, exclusions=NO_MICA)
            return await writing.call(model)

    made = asyncio.run(call())
    return script.bodies[0]["messages"][0]["content"], made


def test_the_prompt_names_exclusions_and_sentences_about_them_are_marked(sample):
    prompt, made = asked_of_model(sample, QUESTION, GOOD, MICA, MICA | {"citations": []})

    assert made.call_record()["exclusions_prompt_version"] == load_prompt("exclusions", "en").version
    assert prompt.endswith('<exclusions>\n<exclusion number="1">\nmica plates\n</exclusion>\n</exclusions>')
    answer = made.value
    assert [sentence.check for sentence in answer.sentences] == ["not checked", "excluded", "unsupported"]


def test_excluded_subjects_are_not_quoted(sample):
    question = "How is kimchi fermented"

    with_all = quoted(sample, found(sample, f"{question} with less salt?"), 0.0)
    strategy = Strategy(en=("kimchi",), exclude=({"en": "salt"},))
    without = quoted(sample, found(sample, question, strategy=strategy), 0.0)

    assert any("salt" in sentence.text.lower() for sentence in with_all.sentences)
    assert without.sentences
    assert not any("salt" in sentence.text.lower() for sentence in without.sentences)


def test_a_sentence_keeps_its_context_about_an_excluded_subject(sample):
    question = "Compare vonoprazan with bismuth therapy for Helicobacter, but not clarithromycin"
    sentences = quoted(sample, found(sample, question), 0.0).sentences
    [text] = [each.text for each in sentences if "bismuth quadruple therapy" in each.text]
    assert text.startswith("In regions where resistance to clarithromycin exceeds 20%")
