"""The records of a corpus in a file of the build: read once, before any of them is analysed.

When all records are there, the records that later ones replace are known. A resumed build reads this file
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
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeAlias

from base.files.durable import sync
from indexer.corpora.papers import Origin
from indexer.corpora.readers import DeadLetter
from indexer.errors import IndexDamaged
from indexer.files.schema import StoredPassage

FIELDS = [field.name for field in fields(StoredPassage) if field.name not in {"tokens", "row"}]
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


def write_spool(path: Path, items: Iterable[Spooled]) -> Iterator[RecordHead | DeadLetter]:
    """Write records and dead letters, and yield the head of each; the file exists when all were yielded."""
    writing = path.with_suffix(".unfinished")
    with gzip.open(writing, "wt", FAST, encoding="utf-8", newline="\n") as file:
        for item in items:
            if isinstance(item, DeadLetter):
                file.write(f"{json.dumps([item.file, item.line, item.reason, item.head])}\n\n")
                yield item
                continue
            head, passages = item
            name, line, raw = head.origin
            body = json.dumps(list(map(VALUES, passages)), ensure_ascii=False)
            file.write(f"{json.dumps([head.id, name, line, raw.decode('latin-1'), *head[2:]])}\n{body}\n")
            yield head
    sync(writing)
    writing.rename(path)


def read_spool(path: Path) -> Iterator[tuple[RecordHead | DeadLetter, str]]:
    """Yield each head, with the passages of a record for `passages_in`; IndexDamaged if it cannot be read."""
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            for line, body in zip(file, file, strict=True):
                values = json.loads(line)
                if body == "\n":
                    yield DeadLetter(*values), ""
                else:
                    record_id, name, number, raw, *more = values
                    yield RecordHead(record_id, Origin(name, number, raw.encode("latin-1")), *more), body
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError, TypeError) as error:
        raise IndexDamaged(f"{path} cannot be read ({error})") from error


def passages_in(body: str) -> list[StoredPassage]:
    """Return the passages of a record."""
    return [
        StoredPassage(*values, type=kind, authors=tuple(authors), keys=tuple(keys))  # type: ignore[misc]
        for *values, kind, authors, keys in json.loads(body)
    ]
