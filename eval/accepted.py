"""Accepted strings: short texts by topic, one of which a correct answer contains.

JSON lines {"query_id": "Q1", "answers": ["37%", "37 %"]}; other keys are ignored.
"""

from pathlib import Path
from typing import Annotated
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationError

from base.calls import reason
from eval.errors import BadTopics
from eval.files import Digest, numbered_lines

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Line(BaseModel):
    query_id: Annotated[Text, AfterValidator(lambda value: normalize("NFC", value))]  # as in topics
    answers: Annotated[list[Text], Field(min_length=1)]


def read_accepted(path: str | Path, digest: Digest | None = None) -> dict[str, list[str]]:
    """Read accepted strings by query_id, in the order of the file; `digest` hashes the bytes read.

    Raises:
        BadTopics: with file and line; no JSON, a missing or invalid value, a repeated id, or no line.
    """
    accepted: dict[str, list[str]] = {}
    for number, line in numbered_lines(Path(path), BadTopics, digest):
        where = f"{path}:{number}"
        try:
            read = _Line.model_validate_json(line)
        except ValidationError as error:
            raise BadTopics(f"{where}: {reason(error)}") from None
        if read.query_id in accepted:
            raise BadTopics(f"{where}: {read.query_id} occurs a second time; query ids must be unique")
        accepted[read.query_id] = read.answers
    if not accepted:
        raise BadTopics(f"{path}: it contains no accepted strings")
    return accepted
