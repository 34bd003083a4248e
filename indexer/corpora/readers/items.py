"""Items of a reader: papers, and dead letters for invalid records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import ValidationError

from indexer.corpora.papers import Origin, Paper, why_invalid

HEAD_BYTES = 200
REASON_CHARACTERS = 500
NESTING = 100
TOO_DEEP = f"nested deeper than {NESTING} levels"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A refused record: `line` counts from 1, 0 is the whole file; `head` is its beginning."""

    file: str
    line: int
    reason: str
    head: str

    @property
    def described(self) -> str:
        """Describe the record and the reason."""
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}: {self.reason}"


Item: TypeAlias = Paper | DeadLetter


def dead_letter(file: str, line: int, reason: str, raw: bytes = b"") -> DeadLetter:
    """Make a dead letter; the first 200 bytes are kept, with invalid UTF-8 as backslash escapes."""
    head = raw[:HEAD_BYTES].decode("utf-8", "backslashreplace")
    return DeadLetter(name_in_letters(file), line, reason[:REASON_CHARACTERS], head)


def name_in_letters(file: str) -> str:
    """Return a file name in the form of dead letters, with invalid UTF-8 as backslash escapes."""
    return file.encode("utf-8", "backslashreplace").decode("utf-8")


def make_item(record: Mapping[str, Any], file: str, line: int, raw: bytes) -> Item:
    """Validate a record in Paper's keys; return a Paper, or a dead letter with the error."""
    if is_deeper(record):
        return dead_letter(file, line, TOO_DEEP, raw)
    try:
        return Paper.model_validate(record, context=Origin(file, line, raw[:HEAD_BYTES]))
    except ValidationError as error:
        return dead_letter(file, line, why_invalid(error), raw)


def is_deeper(value: object, levels: int = NESTING) -> bool:
    """Check whether lists and mappings in `value` are nested more than `levels` deep."""
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return levels < 0 or any(
        is_deeper(part, levels - 1) for part in parts if isinstance(part, (Mapping, list))
    )
