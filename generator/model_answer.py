"""An answer written by a language model from the evidence, each sentence checked against what it cites."""

import asyncio
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints, create_model

from generator.answers import SECTIONS, Answer, Section, Sentence, no_answer
from generator.checking.reading import Reading
from generator.citations import check_sentence, cited, reader
from generator.context import FittedPrompt, RefusedPrompt, fit
from generator.errors import ContextExceeded
from generator.excluding import exclusion_prompt, mark_excluded
from generator.llm import LanguageModel, Message, OnText, Reply
from generator.model_step import FromModel
from generator.prompts import load_prompt
from indexer.papers import Language, language_of
from indexer.schema import StoredPassage
from retriever.constraints import Constraints
from retriever.index import SearchIndex

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


class WrittenSentence(BaseModel):
    """A sentence and the numbers of the passages it rests on."""

    text: Text
    citations: list[int]


class WrittenAnswer(BaseModel):
    """What the model is asked for."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
    introduction: Annotated[list[WrittenSentence], Field(max_length=3)]
    body: Annotated[list[WrittenSentence], Field(max_length=10)]
    conclusion: Annotated[list[WrittenSentence], Field(max_length=3)]
    answered: bool


@lru_cache
def answer_schema(passages: int) -> type[WrittenAnswer]:
    """Return the schema of an answer from so many passages: a sentence cites numbers from 1 to that.

    A server that enforces the schema keeps within the bounds. What another one writes beyond them is read
    all the same: a citation of a passage that there is not costs no second call.
    """
    number = Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": passages})]
    citations = Annotated[list[number], Field(json_schema_extra={"maxItems": passages})]
    sentence = create_model("WrittenSentence", __base__=WrittenSentence, citations=(citations, ...))
    lists = {
        name: (Annotated[list[sentence], *WrittenAnswer.model_fields[name].metadata], ...)
        for name in SECTIONS
    }
    return create_model("WrittenAnswer", __base__=WrittenAnswer, **lists)  # type: ignore[call-overload,no-any-return]


async def answer_from_model(
    question: str,
    evidence: Sequence[StoredPassage],
    model: LanguageModel,
    index: SearchIndex,
    on_text: OnText | None = None,
    constraints: Constraints | None = None,
) -> FromModel[Answer]:
    """Ask for an answer.

    Numbers of passages that there are not are dropped; a sentence left without citation is unsupported.
    Evidence that is too long for the model is shortened, and once more where the server says so. The model is
    told what `constraints` exclude, and a sentence about it is marked.

    Raises:
        ModelFailed: the call failed or brought no valid answer.
    """
    language = language_of(question)
    prompt = load_prompt("answer", language)
    schema = answer_schema(len(evidence))
    limit = model.limit("answer")
    asked = constraints or Constraints()
    left_out, left_out_version = exclusion_prompt(asked, language)

    def messages_of(passages: Sequence[str]) -> list[Message]:
        rendered = prompt.render(question=question, passages=passages)
        return [{"role": "user", "content": f"{rendered}\n\n{left_out}" if left_out else rendered}]

    async def ask(fitted: FittedPrompt) -> Reply[WrittenAnswer]:
        return await model.complete_json(
            fitted.messages,
            schema,
            name="answer",
            prompt_version=prompt.version,
            limit=limit,
            on_text=on_text,
        )

    fitted = await fit(evidence, messages_of, model, limit)
    try:
        reply = await ask(fitted)
    except ContextExceeded as error:
        fitted = await fit(evidence, messages_of, model, limit, RefusedPrompt(fitted, error))
        reply = await ask(fitted)
    answer = await asyncio.to_thread(checked_answer, reply.value, reply.model, language, evidence, index)
    answer = await asyncio.to_thread(mark_excluded, answer, asked, index)
    return FromModel(answer, reply, prompt.version, fitted, left_out_version)


def checked_answer(
    written: WrittenAnswer,
    written_by: str,
    language: Language,
    evidence: Sequence[StoredPassage],
    index: SearchIndex,
) -> Answer:
    """Make the answer of what a model wrote, each sentence checked against the passages it cites."""
    parts: list[tuple[Section, list[WrittenSentence]]] = [
        ("introduction", written.introduction),
        ("body", written.body),
        ("conclusion", written.conclusion),
    ]
    read = reader(index)
    sentences = tuple(
        _checked(sentence, section, evidence, index, read) for section, listed in parts for sentence in listed
    )
    if not written.answered or not sentences:
        return no_answer(language, written_by, [sentence for sentence in sentences if sentence.citations])
    return Answer(written.title, sentences, language, written_by, abstained=False)


def _checked(
    sentence: WrittenSentence,
    section: Section,
    evidence: Sequence[StoredPassage],
    index: SearchIndex,
    read: Callable[[str], Reading],
) -> Sentence:
    numbers = dict.fromkeys(number for number in sentence.citations if 1 <= number <= len(evidence))
    citations = tuple(evidence[number - 1].passage_id for number in numbers)
    finding = check_sentence(sentence.text, cited(citations, evidence), index, read)
    return Sentence(sentence.text, section, citations, finding.check, finding.reasons)
