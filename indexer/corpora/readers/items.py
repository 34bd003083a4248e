"""Items of a reader: papers, and dead letters for invalid records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import ValidationError

from indexer.corpora.papers import Origin, Paper, why_invalid

HEAD_BYTES = 200
REASON_CHARACTERS = 500
NESTING = 100


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


def admitted(record: Mapping[str, Any], file: str, line: int, raw: bytes) -> Item:
    """Validate a record in Paper's keys; return a Paper, or a dead letter with the error."""
    if nested_deeper(record, NESTING):
        return dead_letter(file, line, f"nested deeper than {NESTING} levels", raw)
    try:
        return Paper.model_validate(record, context=Origin(file, line, raw[:HEAD_BYTES]))
    except ValidationError as error:
        return dead_letter(file, line, why_invalid(error), raw)


def nested_deeper(value: object, levels: int) -> bool:
    """Check whether lists and mappings in `value` are nested more than `levels` deep."""
    layer: list[object] = [value]
    for _ in range(levels + 1):
        inner: list[object] = []
        for part in layer:
            if isinstance(part, Mapping):
                inner.extend(part.values())
            elif isinstance(part, list):
                inner.extend(part)
        layer = [part for part in inner if isinstance(part, (Mapping, list))]
        if not layer:
            return False
    return True
