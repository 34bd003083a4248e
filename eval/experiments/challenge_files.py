"""The files of a challenge: the CSV of questions, the CSV of answers, and the mapping of their columns.

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

The mapping is TOML, or JSON with the same tables if its name ends with .json.
"""

import csv
import io
import json
import string
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from base.calls import reason
from base.errors import InvalidCall
from base.files.durable import cause_of
from base.files.regular_files import read_regular
from eval.errors import BadTopics
from eval.experiments.challenge_form import ChallengeAnswer
from eval.files import Digest

LARGEST_MAPPING, LARGEST_TABLE = 1_000_000, 64_000_000  # bytes
NUMBERED = "{n}"  # in the name of a column of documents
DOCUMENT_FIELDS = ("id", "title", "abstract", "year", "url")

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


@dataclass(frozen=True, slots=True)
class ChallengeQuestion:
    """A question, and the ids or titles of its relevant documents; none if it is not judged."""

    query_id: str
    question: str
    relevant: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question with its answer and the documents collected for it, best first."""

    question: ChallengeQuestion
    answer: ChallengeAnswer
    text: str  # in the form of the challenge
    documents: Sequence[Mapping[str, Any]]  # each with DOCUMENT_FIELDS


def read_mapping(path: str | Path, digest: Digest | None = None) -> ChallengeMapping:
    """Read a mapping; `digest` hashes the bytes read.

    Raises:
        InvalidCall: with file and field; unreadable, not TOML or JSON, an unknown table, column or value.
    """
    content = _text_of(path, LARGEST_MAPPING, InvalidCall, digest)
    try:
        read = json.loads(content) if Path(path).suffix.lower() == ".json" else tomllib.loads(content)
        return ChallengeMapping.model_validate(read)
    except ValidationError as error:
        raise InvalidCall(f"{path} is not a mapping: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidCall(f"{path} is not a mapping: {error}") from None


def _text_of(path: str | Path, most: int, error: Callable[[str], Exception], digest: Digest | None) -> str:
    """Return the text of a file of at most `most` bytes; raise `error` if it is unreadable or not UTF-8."""
    try:
        content = read_regular(Path(path), most)
        text = content.decode("utf-8-sig")
    except OSError as refused:
        raise error(f"{path} cannot be read: {cause_of(refused)}") from None
    except UnicodeDecodeError:
        raise error(f"{path}: not UTF-8; save the file as UTF-8") from None
    if digest:
        digest.update(content)
    if "\0" in text:
        raise error(f"{path}: a NUL byte; save the file as UTF-8")
    return text


def read_questions(
    path: str | Path, columns: QuestionColumns, digest: Digest | None = None
) -> dict[str, ChallengeQuestion]:
    """Read the questions by id, in the order of the CSV; `digest` hashes the bytes read.

    Raises:
        BadTopics: with file and line; a missing column, a row of another length, an empty or repeated id, an
            empty question, or no question.
    """
    text = _text_of(path, LARGEST_TABLE, BadTopics, digest)
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
            if any(map(str.strip, row)):
                read = _question(f"{path}:{rows.line_num}", header, row, columns)
                if read.query_id in questions:
                    where = f"{path}:{rows.line_num}"
                    raise BadTopics(f"{where}: {read.query_id} occurs a second time; ids must be unique")
                questions[read.query_id] = read
    except csv.Error as error:
        raise BadTopics(f"{path}:{rows.line_num}: not a row of a table: {error}") from None
    if not questions:
        raise BadTopics(f"{path}: it contains no questions")
    return questions


def _question(
    where: str, header: Sequence[str], row: Sequence[str], columns: QuestionColumns
) -> ChallengeQuestion:
    if len(row) != len(header):
        raise BadTopics(f"{where}: {len(row)} cells, the header has {len(header)}")
    cells = dict(zip(header, map(str.strip, row), strict=True))
    query_id, question = cells[columns.id], cells[columns.question]
    if len(query_id.split()) != 1:
        raise BadTopics(f"{where}: {query_id!r} is not an id: an id is not empty and has no white space")
    if not question:
        raise BadTopics(f"{where}: the question of {query_id} is empty")
    named = cells.get(columns.relevant, "").split(columns.separator)
    return ChallengeQuestion(query_id, question, tuple(filter(None, map(str.strip, named))))


def written_table(mapping: ChallengeMapping, answered: Sequence[AnsweredQuestion], collected: int) -> str:
    """Return the CSV of answers, with the columns of the mapping.

    Args:
        mapping: names and contents of the columns.
        answered: the rows.
        collected: number of columns of a name with `{n}`; a row with fewer documents has empty cells.
    """
    file = io.StringIO(newline="")
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow([name for column in mapping.answers for name in _names(column, collected)])
    for each in answered:
        documents = [mapping.document.format.format(**document) for document in each.documents]
        values = {
            "id": each.question.query_id,
            "question": each.question.question,
            "answer": each.text,
            **asdict(each.answer),
            "documents": mapping.document.separator.join(documents),
            "": "",
        }
        row: list[str] = []
        for column, value in mapping.answers.items():
            names = _names(column, collected)
            missing = [""] * (len(names) - len(documents))
            of_documents = (documents + missing)[: len(names)]
            row += of_documents if value == "document" else [values[value]] * len(names)
        rows.writerow(row)
    return file.getvalue()


def _names(column: str, collected: int) -> list[str]:
    if NUMBERED not in column:
        return [column]
    return [column.replace(NUMBERED, str(number)) for number in range(1, collected + 1)]
