"""What a reader yields: a paper, or a dead letter for what could not be read as one."""

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
    """What was refused: `line` counts from 1, 0 is the whole file; `head` is how the refused line begins."""

    file: str
    line: int
    reason: str
    head: str

    @property
    def described(self) -> str:
        """Say what was refused and why."""
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}: {self.reason}"


Item: TypeAlias = Paper | DeadLetter


def dead_letter(file: str, line: int, reason: str, raw: bytes = b"") -> DeadLetter:
    """Make a dead letter of a line's bytes: the first 200 are kept, what is no UTF-8 with backslashes."""
    head = raw[:HEAD_BYTES].decode("utf-8", "backslashreplace")
    return DeadLetter(name_in_letters(file), line, reason[:REASON_CHARACTERS], head)


def name_in_letters(file: str) -> str:
    """Return the name of a file as dead letters have it: what is no UTF-8 with backslashes."""
    return file.encode("utf-8", "backslashreplace").decode("utf-8")


def admitted(record: Mapping[str, Any], file: str, line: int, raw: bytes) -> Item:
    """Make a Paper of a record in Paper's keys, or a dead letter that says what is wrong with it."""
    if nested_deeper(record, NESTING):
        return dead_letter(file, line, f"nested deeper than {NESTING} levels", raw)
    try:
        return Paper.model_validate(record, context=Origin(file, line, raw[:HEAD_BYTES]))
    except ValidationError as error:
        return dead_letter(file, line, why_invalid(error), raw)


def nested_deeper(value: object, levels: int) -> bool:
    """Tell whether `value` holds lists or mappings in each other, more than `levels` deep."""
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
