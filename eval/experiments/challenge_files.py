"""The files of a challenge, and the form of an answer.

The mapping is TOML, or JSON with the same tables if its name ends with .json:

    [questions]
    id = "ID"                  # columns of the CSV that is read
    question = "Question"
    relevant = "References"    # optional: ids or titles of relevant documents
    separator = ";"            # of several in a cell

    [answers]                  # columns of the CSV that is written, in this order
    ID = "id"
    Answer = "answer"
    "document_{n}" = "document"       # document_1, document_2, … as many as are collected

    [document]
    format = "{title}"         # of a document in a cell: id, title, abstract, year, url

An answer of the ScienceON AI challenge has a title and three sections (SHRAG, A.2):

    ##제목##               ##Title of the answer##
    답의 제목
    ##서론##               ##Introduction##
    ##본론##               ##Main Body##
    ##결론##               ##Conclusion##

The paper forbids the signs * and -. Here no asterisk remains, and no hyphen that is a sign of layout. A
hyphen within a word (two-stage), in a range (10-20) or before a number (-5) is text and stays.

| text | becomes |
|---|---|
| `**word**`, `*word*`, `* item` | `word`, `word`, `item` |
| `3 * 4`, `3*4` | `3 × 4`, `3×4` |
| `A*`, `p = .03*` | `A∗`, `p = .03∗` (U+2217), because the sign has a meaning |
| `- item`; a line `---` | `item`; nothing |
| `word - word`, `word--word` | `word – word`, `word–word` |
"""

import csv
import io
import json
import re
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from base.calls import reason
from base.errors import InvalidCall
from eval.collection import TopicLine
from eval.errors import BadTopics
from eval.files import Source, numbered_blocks
from generator.answers.answer import EMPHASIS, SECTIONS, Answer, not_checked_line

NUMBERED = "{n}"  # in the name of a column of documents
DOCUMENT_FIELDS = ("id", "title", "abstract", "year", "url")

HEADINGS: dict[str, dict[str, str]] = {
    "ko": {"title": "제목", "introduction": "서론", "body": "본론", "conclusion": "결론"},
    "en": {"introduction": "Introduction", "body": "Main Body", "conclusion": "Conclusion"},
}
MARKED_HEADING = re.compile(r"\s*#{1,6}\s*(?P<text>.*?)\s*#*\s*")
RULE = re.compile(r"\s*([-*])\s*(?:\1\s*){2,}")
LIST_SIGN = re.compile(r"\A(?:[-–—*•·▪◦‣]\s+)+(?=\S)")
TIMES = re.compile(r"(?<=\d)( ?)\*( ?)(?=\d)|(?<=\w)( )\*( )(?=\w)")
SIGN_OF_TEXT = re.compile(r"(?<=\d)\*+|(?<=[\w.)\]])\*(?!\*)")
# Between blanks, unless both neighbours are numbers.
DASH = re.compile(r"-{2,}|(?<!\S)(?<!\d )-(?!\S)|(?<!\S)-(?!\S)(?! \d)")

Value = Literal[
    "id", "question", "answer", "title", "introduction", "body", "conclusion", "documents", "document", ""
]
Name = Annotated[str, Field(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class QuestionColumns(_Table):
    """Columns of the CSV of questions."""

    id: Name
    question: Name
    relevant: str = ""
    separator: Name = ";"


class DocumentForm(_Table):
    """The form of a document in a cell, and the separator of several."""

    format: Name = "{title}"
    separator: Name = "; "

    @field_validator("format")
    @classmethod
    def _known_fields(cls, given: str) -> str:
        for _, name, form, conversion in string.Formatter().parse(given):
            if name is not None and (name not in DOCUMENT_FIELDS or form or conversion):
                whole = f"{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}"
                raise ValueError(f"no field {whole!r}; there are {', '.join(DOCUMENT_FIELDS)}")
        return given


class ChallengeMapping(_Table):
    """The columns of both files."""

    questions: QuestionColumns
    answers: Annotated[dict[Name, Value], Field(min_length=1)]
    document: DocumentForm = DocumentForm()


class ChallengeQuestion(NamedTuple):
    """A question, and the ids or titles of its relevant documents; none if it is not judged."""

    query_id: str
    question: str
    relevant: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChallengeAnswer:
    """The parts of an answer, as plain text."""

    title: str
    introduction: str = ""
    body: str = ""
    conclusion: str = ""

    @classmethod
    def of(cls, answer: Answer, question: str) -> "ChallengeAnswer":
        """Return the parts of an answer.

        Quoted sentences are the body; the question is their title, and two fixed sentences are around them.
        """
        quoted = answer.section("passages")
        if quoted and not answer.abstained:
            return cls(question, answer.title, quoted, not_checked_line(answer.language))
        return cls(answer.title, answer.introduction, answer.body or quoted, answer.conclusion)


class AnsweredQuestion(NamedTuple):
    """A question with its answer and the documents collected for it, best first."""

    question: ChallengeQuestion
    answer: ChallengeAnswer
    text: str  # in the form of the challenge
    documents: Sequence[Mapping[str, Any]]  # each with DOCUMENT_FIELDS


def laid_out(answer: ChallengeAnswer, language: str) -> str:
    """Return an answer under the headings of the challenge; its parts are not changed.

    Args:
        answer: the parts.
        language: ko for the Korean form; any other for the English one.
    """
    headings = HEADINGS["ko" if language == "ko" else "en"]
    title = f"##{headings['title']}##\n{answer.title}" if "title" in headings else f"##{answer.title}##"
    sections = (f"##{headings[part]}##\n{getattr(answer, part)}".rstrip() for part in SECTIONS)
    return "\n\n".join([title, *sections]) + "\n"


def without_signs(answer: ChallengeAnswer) -> ChallengeAnswer:
    """Return an answer without forbidden signs, and with a title of one line without number signs."""
    parts = {part: plain(text) for part, text in asdict(answer).items()}
    title = " ".join(parts.pop("title").split()).replace("#", "♯")
    return ChallengeAnswer(title, **parts)


def plain(text: str) -> str:
    """Return a text without asterisks, and without hyphens and number signs that are signs of layout."""
    lines = []
    for line in text.splitlines():
        if not RULE.fullmatch(line):
            while (without := _one_layer_removed(line)) != line:  # as in `**- item**`
                line = without  # noqa: PLW2901 - until no sign is left
            lines.append(line)
    return "\n".join(lines).strip()


def _one_layer_removed(line: str) -> str:
    line = " ".join(line.split())
    if marked := MARKED_HEADING.fullmatch(line):
        line = marked["text"]
    line = EMPHASIS.sub(r"\2", LIST_SIGN.sub("", line))
    if EMPHASIS.search(line):
        return line
    line = TIMES.sub(lambda found: found[0].replace("*", "×"), line)
    line = SIGN_OF_TEXT.sub(lambda found: "∗" * len(found[0]), line).replace("*", "")
    return DASH.sub("–", line)


def read_mapping(source: Source) -> ChallengeMapping:
    """Read a mapping.

    Raises:
        InvalidCall: with file and field; unreadable, not TOML or JSON, an unknown table, column or value.
    """
    content = "".join(text for _, text in numbered_blocks(source, BadTopics))
    try:
        read = (json if str(source).lower().endswith(".json") else tomllib).loads(content)
        return ChallengeMapping.model_validate(read)
    except (ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        why = reason(error) if isinstance(error, ValidationError) else error
        raise InvalidCall(f"{source} is not a mapping: {why}") from None


def read_questions(path: Source, columns: QuestionColumns) -> dict[str, ChallengeQuestion]:
    """Read the questions by id, in the order of the CSV.

    Raises:
        BadTopics: with file and line; a missing column, a row of another length, an empty or repeated id, an
            empty question, or no question.
    """
    text = "".join(text for _, text in numbered_blocks(path, BadTopics))
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    questions: dict[str, ChallengeQuestion] = {}
    try:
        header = [name.strip() for name in next(rows, [])]
        for name in filter(None, (columns.id, columns.question, columns.relevant)):
            if header.count(name) != 1:
                times = "several columns" if name in header else "no column"
                shown = ", ".join(header) or "empty"
                raise BadTopics(f"{path}:1: {times} {name!r}; the header is {shown}")
        for row in rows:
            where = f"{path}:{rows.line_num}"
            if not any(map(str.strip, row)):
                continue
            if len(row) != len(header):
                raise BadTopics(f"{where}: {len(row)} cells, the header has {len(header)}")
            cells = dict(zip(header, map(str.strip, row), strict=True))
            try:
                topic = TopicLine(query_id=cells[columns.id], question=cells[columns.question])
            except ValidationError as error:
                raise BadTopics(f"{where}: {reason(error)}") from None
            query_id, question = topic.query_id, topic.question
            if query_id in questions:
                raise BadTopics(f"{where}: {query_id} occurs a second time; ids must be unique")
            named = map(str.strip, cells.get(columns.relevant, "").split(columns.separator))
            questions[query_id] = ChallengeQuestion(query_id, question, tuple(filter(None, named)))
    except csv.Error as error:
        raise BadTopics(f"{path}:{rows.line_num}: not a row of a table: {error}") from None
    if not questions:
        raise BadTopics(f"{path}: it contains no questions")
    return questions


def written_table(mapping: ChallengeMapping, answered: Sequence[AnsweredQuestion], collected: int) -> str:
    """Return the CSV of answers, with the columns of the mapping.

    Args:
        mapping: names and contents of the columns.
        answered: the rows.
        collected: number of columns of a name with `{n}`; a row with fewer documents has empty cells.
    """
    # Each column that is written, with its value and the number of its document.
    columns = [
        (column.replace(NUMBERED, str(number + 1)), value, number)
        for column, value in mapping.answers.items()
        for number in range(collected if NUMBERED in column else 1)
    ]
    file = io.StringIO(newline="")
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow([name for name, _, _ in columns])
    for question, answer, text, collected_documents in answered:
        documents = [mapping.document.format.format(**document) for document in collected_documents]
        joined = mapping.document.separator.join(documents)
        values = {"id": question.query_id, "question": question.question, "answer": text}
        values |= {**asdict(answer), "documents": joined, "": ""}
        numbered = dict(enumerate(documents))
        rows.writerow(
            numbered.get(number, "") if value == "document" else values[value] for _, value, number in columns
        )
    return file.getvalue()
