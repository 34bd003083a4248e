"""An answer written by a language model from the evidence, each sentence checked against what it cites."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from generator.answers import Answer, Section, Sentence, no_answer
from generator.citations import check_sentence, cited
from generator.context import Fitted, Refused, fit
from generator.errors import ContextExceeded
from generator.llm import LanguageModel, Message, OnText, Reply
from generator.prompts import load_prompt
from indexer.papers import Language, language_of
from indexer.schema import StoredPassage
from retriever.index import SearchIndex

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]


class WrittenSentence(BaseModel):
    """A sentence and the numbers of the passages it rests on."""

    text: Text
    citations: Annotated[list[Annotated[int, Field(ge=1, le=20)]], Field(max_length=10)]


class WrittenAnswer(BaseModel):
    """What the model is asked for."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
    introduction: Annotated[list[WrittenSentence], Field(max_length=3)]
    body: Annotated[list[WrittenSentence], Field(max_length=10)]
    conclusion: Annotated[list[WrittenSentence], Field(max_length=3)]
    answered: bool


@dataclass(frozen=True, slots=True)
class Written:
    """An answer, the call that brought it, the prompt's version, and how its evidence fits the context."""

    answer: Answer
    reply: Reply[WrittenAnswer]
    prompt_version: int
    fitted: Fitted


async def written_answer(
    question: str,
    evidence: Sequence[StoredPassage],
    model: LanguageModel,
    index: SearchIndex,
    on_text: OnText | None = None,
) -> Written:
    """Ask for an answer.

    Numbers of passages that there are not are dropped; a sentence left without citation is unsupported.
    Evidence that is too long for the model is shortened, and once more where the server says so.

    Raises:
        ModelFailed: the call failed or brought no valid answer.
    """
    language = language_of(question)
    prompt = load_prompt("answer", language)
    limit = model.limit("answer")

    def messages_of(passages: Sequence[str]) -> list[Message]:
        return [{"role": "user", "content": prompt.render(question=question, passages=passages)}]

    async def ask(fitted: Fitted) -> Reply[WrittenAnswer]:
        return await model.complete_json(
            fitted.messages,
            WrittenAnswer,
            name="answer",
            prompt_version=prompt.version,
            limit=limit,
            on_text=on_text,
        )

    fitted = await fit(evidence, messages_of, model, limit)
    try:
        reply = await ask(fitted)
    except ContextExceeded as error:
        fitted = await fit(evidence, messages_of, model, limit, Refused(fitted, error))
        reply = await ask(fitted)
    answer = _read(reply, language, evidence, index)
    return Written(answer, reply, prompt.version, fitted)


def _read(
    reply: Reply[WrittenAnswer], language: Language, evidence: Sequence[StoredPassage], index: SearchIndex
) -> Answer:
    written = reply.value
    parts: list[tuple[Section, list[WrittenSentence]]] = [
        ("introduction", written.introduction),
        ("body", written.body),
        ("conclusion", written.conclusion),
    ]
    sentences = tuple(_checked(one, section, evidence, index) for section, listed in parts for one in listed)
    if not written.answered or not sentences:
        kept = [one for one in sentences if one.citations]
        return no_answer(language, reply.model, kept)
    return Answer(written.title, sentences, language, reply.model, abstained=False)


def _checked(
    one: WrittenSentence, section: Section, evidence: Sequence[StoredPassage], index: SearchIndex
) -> Sentence:
    numbers = dict.fromkeys(number for number in one.citations if number <= len(evidence))
    citations = tuple(evidence[number - 1].passage_id for number in numbers)
    finding = check_sentence(one.text, cited(citations, evidence), index)
    return Sentence(one.text, section, citations, finding.check)
