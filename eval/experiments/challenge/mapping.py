"""The mapping of a challenge: columns of the CSV of questions, and of the CSV of answers.

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

import json
import string
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from base.calls import reason
from base.errors import InvalidCall
from base.files.durable import cause_of
from base.files.regular_files import read_regular
from eval.files import Digest

MOST_BYTES = 1_000_000  # of a mapping
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


def read_mapping(path: str | Path, digest: Digest | None = None) -> ChallengeMapping:
    """Read a mapping; `digest` hashes the bytes read.

    Raises:
        InvalidCall: with file and field; unreadable, not TOML or JSON, an unknown table, column or value.
    """
    content = text_of(path, MOST_BYTES, InvalidCall, digest)
    try:
        read = json.loads(content) if Path(path).suffix.lower() == ".json" else tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidCall(f"{path} is not a mapping: {error}") from None
    try:
        return ChallengeMapping.model_validate(read)
    except ValidationError as error:
        raise InvalidCall(f"{path} is not a mapping: {reason(error)}") from None


def text_of(path: str | Path, most: int, error: Callable[[str], Exception], digest: Digest | None) -> str:
    """Return the text of a file of at most `most` bytes; raise `error` if it is unreadable or not UTF-8."""
    try:
        content = read_regular(Path(path), most)
    except OSError as refused:
        raise error(f"{path} cannot be read: {cause_of(refused)}") from None
    if digest:
        digest.update(content)
    if b"\0" in content:
        raise error(f"{path}: a NUL byte; save the file as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise error(f"{path}: not UTF-8; save the file as UTF-8") from None
