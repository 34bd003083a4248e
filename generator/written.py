"""An answer written by a language model from the evidence, each sentence checked against what it cites."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from generator.answers import Answer, Section, Sentence, no_answer
from generator.citations import check_sentence, cited
from generator.llm import LanguageModel, OnText, Reply
from generator.prompts import load_prompt
from indexer.papers import language_of
from indexer.schema import StoredPassage
from retriever.index import SearchIndex

LONGEST_PASSAGE = 6_000  # characters of a passage that go into the prompt

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


async def written_answer(
    question: str,
    evidence: Sequence[StoredPassage],
    model: LanguageModel,
    index: SearchIndex,
    on_text: OnText | None = None,
) -> tuple[Answer, Reply[WrittenAnswer], int]:
    """Ask for an answer; return it with the call and the prompt's version.

    Numbers of passages that there are not are dropped; a sentence left without citation is unsupported.

    Raises:
        GeneratorError: the call failed or brought no valid answer.
    """
    language = language_of(question)
    prompt = load_prompt("answer", language)
    passages = [f"{one.title}\n{one.text[:LONGEST_PASSAGE]}" for one in evidence]
    content = prompt.render(question=question, passages=passages)
    messages = [{"role": "user", "content": content}]
    reply = await model.complete_json(messages, WrittenAnswer, name="answer", on_text=on_text)
    written = reply.value
    parts: list[tuple[Section, list[WrittenSentence]]] = [
        ("introduction", written.introduction),
        ("body", written.body),
        ("conclusion", written.conclusion),
    ]
    sentences = tuple(_checked(one, section, evidence, index) for section, listed in parts for one in listed)
    if not written.answered or not sentences:
        kept = [one for one in sentences if one.citations]
        return no_answer(language, reply.model, kept), reply, prompt.version
    return Answer(written.title, sentences, language, reply.model, abstained=False), reply, prompt.version


def _checked(
    one: WrittenSentence, section: Section, evidence: Sequence[StoredPassage], index: SearchIndex
) -> Sentence:
    numbers = dict.fromkeys(number for number in one.citations if number <= len(evidence))
    citations = tuple(evidence[number - 1].passage_id for number in numbers)
    finding = check_sentence(one.text, cited(citations, evidence), index)
    return Sentence(one.text, section, citations, finding.check)
