"""Accepted strings: short texts by topic, one of which a correct answer contains.

JSON lines {"query_id": "Q1", "answers": ["37%", "37 %"]}; other keys are ignored.
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from eval.files import Digest
from eval.query_lines import QueryLine, Text, read_query_lines


class _Line(QueryLine):
    answers: Annotated[list[Text], Field(min_length=1)]


def read_accepted(path: str | Path, digest: Digest | None = None) -> dict[str, list[str]]:
    """Read accepted strings by query_id, with the arguments and errors of `read_query_lines`."""
    lines = read_query_lines(path, _Line, "accepted strings", digest)
    return {query_id: line.answers for query_id, line in lines.items()}
