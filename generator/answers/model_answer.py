"""Answers written by a language model from the evidence, each sentence checked against its citations."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import takewhile
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import from_json

from base.letters import HANGUL
from base.notes import Note
from generator.answers.answer import (
    SECTIONS,
    Answer,
    Section,
    Sentence,
    cited_passages,
    no_answer,
    without_markup,
)
from generator.answers.extractive import MOST_SENTENCES
from generator.checking import check_sentence
from generator.llm import Growth, OnText, Reply
from generator.llm.reading import fitted_value, numbers_in, without_thoughts
from generator.model_step import ModelStep
from generator.prompts import load_prompt
from indexer.corpora.papers import Language, language_of, language_of_question
from indexer.files.schema import StoredPassage
from retriever.exclusions import Excluded
from retriever.index import SearchIndex

Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000),
    AfterValidator(without_markup),
]

Title = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=300),
    AfterValidator(without_markup),
]
# A citation that a model writes into a sentence, and a run of them at its end: [1], [2, 3], [^4], 【5】, (6).
CITATION = r"(?:\[\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*\]|【\d{1,3}(?!\d)[^】]*】|[（(]\d{1,3}[)）])"
LAST_CITATIONS = re.compile(rf"\s*({CITATION}(?:\s*(?:,|;|and|및|–|-)?\s*{CITATION})*)(?=[\s.。!?]*\Z)")
INNER_CITATION = re.compile(r"(?<!\S)\[\^?(\d{1,3})\](?![A-Za-z])")


class WrittenSentence(BaseModel):
    """A sentence and the numbers of the passages it cites."""

    text: Text
    citations: list[int]


class Answering(BaseModel):
    """A reply with sentences, unless its field `answered` is false."""

    @model_validator(mode="after")
    def _has_a_sentence(self) -> Self:
        if getattr(self, "answered", True) and not any(getattr(self, section, ()) for section in SECTIONS):
            raise ValueError("it has no sentence, although it is answered")
        return self


class WrittenAnswer(Answering):
    """Reply schema."""

    title: Title
    introduction: Annotated[list[WrittenSentence], Field(max_length=3)]
    body: Annotated[list[WrittenSentence], Field(max_length=10)]
    conclusion: Annotated[list[WrittenSentence], Field(max_length=3)]
    answered: bool = True


@lru_cache
def answer_schema(passages: int) -> type[WrittenAnswer]:
    """Return the schema of an answer from a number of passages; citations are from 1 to that number.

    Only servers that enforce the schema respect these limits. Other replies are accepted: an invalid citation
    costs no second call, and longer lists of sentences are cut.
    """
    number = Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": passages})]
    citations = Annotated[list[number], Field(json_schema_extra={"maxItems": passages})]
    sentence = create_model("WrittenSentence", __base__=WrittenSentence, citations=(citations, ...))
    lists = {
        name: (Annotated[list[sentence], *WrittenAnswer.model_fields[name].metadata], ...)
        for name in SECTIONS
    }
    return create_model("WrittenAnswer", __base__=WrittenAnswer, **lists)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """Prompt, schema and length of an answer.

    `schema` returns the schema for a number of passages; `values` fill further fields of the prompt.
    `findings` are results of earlier steps: the prompt contains them, but the answer may not cite them.
    `quotes_in_context`: quote sentences with those around them.
    """

    prompt: str
    schema: Callable[[int], type[WrittenAnswer]]
    sections: tuple[Section, ...]
    most_quoted: int  # sentences of an answer without a model
    values: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[str, ...] = ()
    quotes_in_context: bool = True


WHOLE_ANSWER = AnswerForm("answer", answer_schema, SECTIONS, MOST_SENTENCES)


def written_answer(
    question: str,
    evidence: Sequence[StoredPassage],
    index: SearchIndex,
    otherwise: Callable[[], Awaitable[Answer]],
    *,
    exclusions: Sequence[Excluded] = (),
    on_sentences: Callable[[tuple[Sentence, ...]], None] | None = None,
    form: AnswerForm = WHOLE_ANSWER,
) -> ModelStep[WrittenAnswer, Answer]:
    """Return the step that asks for an answer; `otherwise` makes the answer without the model.

    `on_sentences` receives all checked sentences so far after each new sentence. Numbers of nonexistent
    passages are dropped; a sentence without remaining citations is unsupported. The prompt names the subjects
    of `exclusions`, and sentences that name them are marked.
    """
    language = language_of_question(question)
    schema = form.schema(len(evidence))
    excluded = [each.text for each in exclusions if each.names]
    left_out = load_prompt("exclusions", language) if excluded else None
    further = [load_prompt("findings", language).render(findings=form.findings)] if form.findings else []
    if left_out:
        further.append(left_out.render(exclusions=excluded))
    check = make_check(evidence, index, exclusions)

    def closed(text: str) -> None:
        try:
            written = fitted_value({"title": "", **complete_sentences(text, form.sections)}, schema)
        except ValidationError:
            return
        sentences = [check(*sentence) for sentence in _in_order(written)]
        # Until the body begins, the model may still abstain and drop sentences without citations.
        holds = any(sentence.section != "introduction" for sentence in sentences)
        if on_sentences:
            on_sentences(tuple(takewhile(lambda sentence: holds or sentence.citations, sentences)))

    def read(reply: Reply[WrittenAnswer]) -> Answer:
        answer = checked_answer(question, reply.value, reply.model, language, check, evidence)
        if on_sentences:
            on_sentences(answer.sentences)
        return answer

    return ModelStep(
        "answer",
        load_prompt(form.prompt, language),
        {"question": question, **form.values},
        schema,
        read=read,
        fallback="extractive answer",
        otherwise=otherwise,
        inputs={"evidence": [passage.passage_id for passage in evidence]},
        output=Answer.as_record,
        passages=evidence,
        fault=partial(_wrong_language, language),
        further="\n\n".join(further),
        further_versions={"exclusions_prompt_version": left_out.version} if left_out else {},
        on_text=each_sentence(closed) if on_sentences else None,
    )


def _wrong_language(language: Language, written: WrittenAnswer) -> Note | None:
    """Return a note on an answer in the other language; a Korean one may consist of English terms."""
    text = " ".join(text for text, *_ in _in_order(written))
    is_wrong = not HANGUL.search(text) if language == "ko" else language_of(text) == "ko"
    return Note(f"answer_not_{language}") if text and is_wrong and language != "other" else None


def with_citations_of_text(text: str, numbers: Iterable[int], passages: int) -> tuple[str, tuple[int, ...]]:
    """Return a sentence without citations at its end, and the numbers of all passages that it cites.

    Several numbers in one pair of brackets may be an interval, and a number in parentheses may belong to the
    text: where the model lists other citations, they stay. Where it lists none, numbers in square brackets
    within the text are citations, too; the text keeps them.
    """
    listed = [number for number in numbers if 1 <= number <= passages]
    found, last = list(listed), LAST_CITATIONS.search(text)
    if last:
        inside = [number for each in re.findall(CITATION, last[1]) for number in numbers_in(each)]
        is_certain = re.fullmatch(r"(?:\[\^?\d+\]|【[^】]*】|[^\d\[\]()（）])+", last[1])
        if all(1 <= number <= passages for number in inside) and (
            is_certain or {*inside} <= {*(listed or inside)}
        ):
            shorter, found = (text[: last.start()] + text[last.end() :]).strip(), found + inside
            text = shorter or text
    if not listed:
        found += [number for number in map(int, INNER_CITATION.findall(text)) if 1 <= number <= passages]
    return text, tuple(dict.fromkeys(found))


SentenceCheck: TypeAlias = Callable[[str, Section, tuple[int, ...]], Sentence]


def make_check(
    evidence: Sequence[StoredPassage],
    index: SearchIndex,
    exclusions: Sequence[Excluded],
) -> SentenceCheck:
    """Return a cached check of a sentence against the passages with its citation numbers.

    A sentence that names an excluded thing is "excluded".
    """

    @lru_cache
    def check(text: str, section: Section, numbers: tuple[int, ...]) -> Sentence:
        text, numbers = with_citations_of_text(text, numbers, len(evidence))
        citations = tuple(evidence[number - 1].passage_id for number in numbers)
        checked, hints = check_sentence(text, cited_passages(citations, evidence))
        if citations and any(each.mentions(text, index.analyzer) for each in exclusions):
            checked = "excluded"
        return Sentence(text, section, citations, checked, hints)

    return check


def checked_answer(
    question: str,
    written: WrittenAnswer,
    written_by: str,
    language: Language,
    check: SentenceCheck,
    evidence: Sequence[StoredPassage],
) -> Answer:
    """Make an answer from a model's reply: each sentence is checked against the passages that it cites.

    The title is checked against all passages that are cited; a question is no claim and has no check. Without
    a title, the question is the title.
    """
    sentences = tuple(check(*sentence) for sentence in _in_order(written))
    if not written.answered or not sentences:
        return no_answer(language, written_by, [sentence for sentence in sentences if sentence.citations])
    answer = Answer(written.title or question, sentences, language, written_by, abstained=False)
    cited = cited_passages((each for sentence in sentences for each in sentence.citations), evidence)
    if not cited or answer.title == question or answer.title.endswith(("?", "？")):
        return answer
    checked, hints = check_sentence(answer.title, cited)
    return replace(answer, title_check=checked, title_hints=hints)


def _in_order(written: WrittenAnswer) -> Iterator[tuple[str, Section, tuple[int, ...]]]:
    for section in SECTIONS:
        for sentence in getattr(written, section, ()):  # a brief answer has only a body
            yield sentence.text, section, tuple(sentence.citations)


# Unfinished answers

LONGEST_READ = 200_000  # characters of an unfinished answer that are parsed; long answers have a tenth
PARTS = {"text", "citations"}  # of a complete sentence


def each_sentence(closed: Callable[[str], None]) -> OnText:
    """Return a listener that passes the text of an answer to `closed` after each closing brace."""
    heard = 0

    def listen(growth: Growth) -> None:
        nonlocal heard
        before, heard = heard, len(growth.text)
        if "}" in growth.text[before if before <= heard else 0 :]:
            closed(growth.text)

    return listen


def partial_json(text: str, *, strings: bool = False) -> dict[str, Any]:
    """Return the object that an unfinished text starts, without its unfinished values; {} if there is none.

    With `strings` an unfinished string is kept as far as it goes.
    """
    if "{" not in text:  # reasoning may have some hundred thousand characters
        return {}
    text = text if text.lstrip().startswith("{") else without_thoughts(text)
    begin = text.find("{")
    try:
        allow: Any = "trailing-strings" if strings else True
        read = from_json(text[begin : begin + LONGEST_READ], allow_partial=allow) if begin >= 0 else {}
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def readable(text: str) -> str:
    """Return title and sentences of an unfinished answer, one per line; "" before the first."""
    read = partial_json(text, strings=True)
    sections = [read.get(section) for section in SECTIONS]
    listed = [sentence for section in sections if isinstance(section, list) for sentence in section]
    texts = [read.get("title"), *(each.get("text") for each in listed if isinstance(each, dict))]
    return "\n".join(line for line in texts if isinstance(line, str) and line)


def complete_sentences(text: str, sections: Sequence[Section]) -> dict[str, list[dict[str, Any]]]:
    """Return the complete sentences of an unfinished answer by section."""
    read = partial_json(text[: text.rfind("}") + 1])  # up to the end of a sentence
    return {
        section: [each for each in listed if isinstance(each, dict) and each.keys() >= PARTS]
        for section in sections
        if isinstance(listed := read.get(section), list)
    }
