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

The paper forbids the signs * and - as marks. Emphasis, list signs and headings of Markdown are removed, an
asterisk that remains becomes ∗ (U+2217), and a hyphen between blanks or a doubled one a dash.
"""

import csv
import io
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
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
MARKS = re.compile(r"\A\s*(?:#{1,6}\s+|[-–—*•·▪◦‣]\s+|[-*]{3,}\Z)+")  # at the start of a line
DASH = re.compile(r"-{2,}|(?<=\s)-(?=\s)")

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
        try:
            given.format(**dict.fromkeys(DOCUMENT_FIELDS, ""))
        except (LookupError, ValueError, AttributeError) as error:
            raise ValueError(f"{error}; the fields are {', '.join(DOCUMENT_FIELDS)}") from None
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


def answer_parts(answer: Answer, question: str) -> dict[str, str]:
    """Return the title and the three sections of an answer.

    Quoted sentences are the body; the question is their title, and two fixed sentences are around them.
    """
    quoted = answer.section("passages")
    sections: dict[str, str] = {part: getattr(answer, part) for part in SECTIONS}
    if quoted and not answer.abstained:
        fixed = {"introduction": answer.title, "conclusion": not_checked_line(answer.language)}
        return {"title": question, **fixed, "body": quoted}
    return {"title": answer.title, **sections, "body": answer.body or quoted}


def laid_out(parts: Mapping[str, str], language: str) -> str:
    """Return an answer under the headings of the challenge; its parts are not changed.

    Args:
        parts: the title and the sections.
        language: ko for the Korean form; any other for the English one.
    """
    headings = HEADINGS["ko" if language == "ko" else "en"]
    title = f"##{headings['title']}##\n{parts['title']}" if "title" in headings else f"##{parts['title']}##"
    sections = (f"##{headings[part]}##\n{parts[part]}".rstrip() for part in SECTIONS)
    return "\n\n".join([title, *sections]) + "\n"


def without_signs(parts: Mapping[str, str]) -> dict[str, str]:
    """Return an answer without forbidden signs, and with a title of one line without number signs."""
    without = {part: plain(text) for part, text in parts.items()}
    return without | {"title": " ".join(without["title"].split()).replace("#", "♯")}


def plain(text: str) -> str:
    """Return a text without asterisks, and without hyphens and number signs that are signs of layout."""
    lines = (MARKS.sub("", EMPHASIS.sub(r"\2", line)).strip() for line in text.splitlines())
    return DASH.sub("–", "\n".join(lines).strip().replace("*", "∗"))


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
        BadTopics: with file and line; a missing column, an empty or repeated id, an empty question, or no
            question.
    """
    text = "".join(text for _, text in numbered_blocks(path, BadTopics))
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    questions: dict[str, ChallengeQuestion] = {}
    try:
        header = rows.fieldnames or ()
        for name in filter(None, (columns.id, columns.question, columns.relevant)):
            if name not in header:
                raise BadTopics(f"{path}:1: no column {name!r}; the header is {', '.join(header) or 'empty'}")
        for row in rows:
            where = f"{path}:{rows.line_num}"
            try:
                topic = TopicLine(query_id=row[columns.id], question=row[columns.question])
            except ValidationError as error:
                raise BadTopics(f"{where}: {reason(error)}") from None
            query_id, question = topic.query_id, topic.question
            if query_id in questions:
                raise BadTopics(f"{where}: {query_id} occurs a second time; ids must be unique")
            named = map(str.strip, (row.get(columns.relevant) or "").split(columns.separator))
            questions[query_id] = ChallengeQuestion(query_id, question, tuple(filter(None, named)))
    except csv.Error as error:
        raise BadTopics(f"{path}:{rows.reader.line_num}: not a row of a table: {error}") from None
    if not questions:
        raise BadTopics(f"{path}: it contains no questions")
    return questions


def written_table(mapping: ChallengeMapping, answered: Sequence[Mapping[str, Any]], collected: int) -> str:
    """Return the CSV of answers, with the columns of the mapping.

    Args:
        mapping: names and contents of the columns.
        answered: the rows, with id, question, answer, its parts, and documents with DOCUMENT_FIELDS.
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
    for row in answered:
        documents = [mapping.document.format.format(**document) for document in row["documents"]]
        values = {**row, "documents": mapping.document.separator.join(documents), "": ""}
        numbered = dict(enumerate(documents))
        rows.writerow(
            numbered.get(number, "") if value == "document" else values[value] for _, value, number in columns
        )
    return file.getvalue()
