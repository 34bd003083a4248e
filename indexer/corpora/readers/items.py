"""Items of a reader: papers, and dead letters for invalid records."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import ValidationError

from indexer.corpora.papers import Origin, Paper, why_invalid

HEAD_BYTES = 200
NUMBER = re.compile("(?<![-\\w])[0-9][0-9,]*")
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

    @property
    def kind(self) -> str:
        """The reason without its numbers."""
        return NUMBER.sub("…", self.reason)


Item: TypeAlias = Paper | DeadLetter
# What the reader of a format finds: line from 1, the first bytes, and a record in Paper's keys or the reason
# why it is refused.
Found: TypeAlias = tuple[int, bytes, Mapping[str, Any] | str]


class Unreadable(Exception):
    """The rest of a file cannot be read; the message is the reason."""

    def __init__(self, reason: str, line: int = 0, head: bytes = b"") -> None:
        super().__init__(reason)
        self.line, self.head = line, head


def items_in(read: Callable[[Any], Iterator[Found]], stream: Any) -> Iterator[Item]:
    """Yield the papers and dead letters that a reader finds in a stream."""
    if stream.refused:
        yield dead_letter(stream.name, 0, stream.refused)
        return
    try:
        for line, raw, record in read(stream):
            yield make_item(record, stream.name, line, raw)
    except Unreadable as error:
        yield dead_letter(stream.name, error.line, str(error), error.head)


def make_item(record: Mapping[str, Any] | str, file: str, line: int, raw: bytes) -> Item:
    """Validate a record in Paper's keys; return a Paper, or a dead letter with the error or the reason."""
    if not isinstance(record, str):
        try:
            if not is_deeper(record):
                return Paper.model_validate(record, context=Origin(file, line, raw[:HEAD_BYTES]))
            record = TOO_DEEP
        except ValidationError as error:
            record = why_invalid(error)
    return dead_letter(file, line, record, raw)


def dead_letter(file: str, line: int, reason: str, raw: bytes = b"") -> DeadLetter:
    """Make a dead letter; the first 200 bytes are kept, with invalid UTF-8 as backslash escapes."""
    head = raw[:HEAD_BYTES].decode("utf-8", "backslashreplace")
    return DeadLetter(name_in_letters(file), line, reason[:REASON_CHARACTERS], head)


def name_in_letters(file: str) -> str:
    """Return a file name in the form of dead letters, with invalid UTF-8 as backslash escapes."""
    return file.encode("utf-8", "backslashreplace").decode("utf-8")


def is_deeper(value: object, levels: int = NESTING) -> bool:
    """Check whether lists and mappings in `value` are nested more than `levels` deep."""
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return levels < 0 or any(
        is_deeper(part, levels - 1) for part in parts if isinstance(part, (Mapping, list))
    )
