"""JSON lines about topics: one object for each query_id, checked by a model; other keys are ignored."""

from pathlib import Path
from typing import Annotated, TypeVar
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from base.calls import reason
from eval.errors import BadTopics
from eval.files import Digest, numbered_lines

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _query_id(value: str) -> str:
    if len(value.split()) != 1:
        raise ValueError(f"{value!r} contains white space")
    return normalize("NFC", value)  # as in topics


class QueryLine(BaseModel):
    """A line; the kinds of files have subclasses."""

    model_config = ConfigDict(frozen=True)

    query_id: Annotated[Text, AfterValidator(_query_id)]


L = TypeVar("L", bound=QueryLine)


def read_query_lines(
    path: str | Path, kind: type[L], lines: str, digest: Digest | None = None
) -> dict[str, L]:
    """Read lines by query_id, in the order of the file.

    Args:
        path: may be gzipped.
        kind: the model of a line.
        lines: a name of the lines, for messages.
        digest: hashes the bytes read.

    Raises:
        BadTopics: with file and line; no JSON, a missing or invalid value, a repeated id, or no line.
    """
    found: dict[str, L] = {}
    for number, line in numbered_lines(Path(path), BadTopics, digest):
        where = f"{path}:{number}"
        try:
            read = kind.model_validate_json(line)
        except ValidationError as error:
            raise BadTopics(f"{where}: {reason(error)}") from None
        if read.query_id in found:
            raise BadTopics(f"{where}: {read.query_id} occurs a second time; query ids must be unique")
        found[read.query_id] = read
    if not found:
        raise BadTopics(f"{path}: it contains no {lines}")
    return found


class PaperQuestion(QueryLine):
    """A question about a paper with reference answers.

        {"query_id": "Q1", "question": "…", "topic": "PAPER-1", "answers": ["…"], "strings": ["12 months"]}

    `topic` is the id or the exact title of the paper that the question is about; without it the answer may
    come from any paper. A correct answer contains one of `strings`.
    """

    question: Text
    topic: Text | None = None
    answers: Annotated[tuple[Text, ...], Field(min_length=1)]
    strings: tuple[Text, ...] = ()


def read_paper_questions(path: str | Path, digest: Digest | None = None) -> dict[str, PaperQuestion]:
    """Read questions by query_id, with the arguments and errors of `read_query_lines`."""
    return read_query_lines(path, PaperQuestion, "questions", digest)
