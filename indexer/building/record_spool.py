"""The records of a corpus in a file of the build: read once, before any of them is analysed.

When all records are there, the superfluous records are known. A resumed build reads this file
instead of the corpus. It contains two lines of JSON for each record or dead letter, compressed:

    [id, file, line, head, whether it was cut, whether it is incomplete, ids of its further passages]
    the passages of the record

    [file, line, reason, head]
    (an empty line)
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeAlias

from base.files.durable import sync
from indexer.corpora.papers import Origin
from indexer.corpora.readers import DeadLetter
from indexer.errors import IndexDamaged
from indexer.files.schema import StoredPassage

FIELDS = (
    *("passage_id", "doc_id", "title", "text", "lang", "part", "year", "journal", "source", "incomplete"),
    *("title2", "record", "type", "authors"),
)
VALUES = attrgetter(*FIELDS)
FAST = 1  # the compression level


class RecordHead(NamedTuple):
    """A record without its passages."""

    id: str
    origin: Origin
    cut: bool  # whether a text was too long
    incomplete: bool  # whether it has no text beyond a title
    further: list[str]  # ids of its passages after the first one


Spooled: TypeAlias = tuple[RecordHead, list[StoredPassage]] | DeadLetter


class RecordSpool:
    """A file of records and dead letters."""

    def __init__(self, path: Path) -> None:
        """Name the file, which may not exist."""
        self._path = path

    def is_complete(self) -> bool:
        """Check whether the file was written to its end."""
        return self._path.exists()

    def write(self, items: Iterable[Spooled]) -> Iterator[RecordHead | DeadLetter]:
        """Write the items, and yield the head of each; the file exists when all were yielded."""
        writing = self._path.with_suffix(".unfinished")
        with gzip.open(writing, "wt", FAST, encoding="utf-8", newline="\n") as file:
            for item in items:
                if isinstance(item, DeadLetter):
                    _write(file, [item.file, item.line, item.reason, item.head], "")
                    yield item
                else:
                    head, passages = item
                    file_name, line, raw = head.origin
                    values = [head.id, file_name, line, raw.decode("latin-1"), *head[2:]]
                    _write(file, values, json.dumps(list(map(VALUES, passages)), ensure_ascii=False))
                    yield head
        sync(writing)
        writing.rename(self._path)

    def heads(self) -> Iterator[RecordHead | DeadLetter]:
        """Yield the heads of all items."""
        return (head for head, _ in self._lines())

    def records(self) -> Iterator[tuple[RecordHead, str]]:
        """Yield the head of each record, and its passages for `passages_in`."""
        return ((head, body) for head, body in self._lines() if isinstance(head, RecordHead))

    def _lines(self) -> Iterator[tuple[RecordHead | DeadLetter, str]]:
        try:
            with gzip.open(self._path, "rt", encoding="utf-8", newline="\n") as file:
                for line, body in zip(file, file, strict=True):
                    values = json.loads(line)
                    if body == "\n":
                        yield DeadLetter(*values), ""
                    else:
                        record_id, name, number, raw, *more = values
                        yield RecordHead(record_id, Origin(name, number, raw.encode("latin-1")), *more), body
        except (EOFError, zlib.error, gzip.BadGzipFile, ValueError, TypeError) as error:
            raise IndexDamaged(f"{self._path} cannot be read ({error})") from error


def _write(file: TextIO, head: list[Any], body: str) -> None:
    file.write(f"{json.dumps(head)}\n{body}\n")


def passages_in(body: str) -> list[StoredPassage]:
    """Return the passages of a record."""
    return [
        StoredPassage(*values[:-2], type=values[-2], authors=tuple(values[-1]))  # type: ignore[misc]
        for values in json.loads(body)
    ]
