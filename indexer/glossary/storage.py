"""A glossary as a file: SQLite, looked up by the tokens of either side."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal, Self

from indexer.damage import describing_damage
from indexer.durable import temporary_path
from indexer.errors import IndexClosed, IndexDamaged, IndexNotWritten, Remedy
from indexer.glossary.pairs import Pair

SEPARATOR = "\x1f"
KOREAN, ENGLISH = 0, 1
TARGETS: tuple[Literal["en"], Literal["ko"]] = ("en", "ko")  # by the side that was found
# Two tables are their own indexes: what lengths the terms of a first token have, and the terms.
SCHEMA = """
CREATE TABLE pairs (
    id INTEGER PRIMARY KEY, korean TEXT, english TEXT, korean_tokens TEXT, english_tokens TEXT,
    count INTEGER, sources TEXT
);
CREATE TABLE lookups (
    first TEXT, length INTEGER, tokens TEXT, side INTEGER, pair INTEGER,
    PRIMARY KEY (first, length, tokens, side, pair)
) WITHOUT ROWID;
CREATE TABLE lengths (first TEXT, length INTEGER, PRIMARY KEY (first, length)) WITHOUT ROWID;
"""
LENGTHS = "SELECT length FROM lengths WHERE first = ?"
LOOKUP = """
SELECT side, pairs.* FROM lookups JOIN pairs ON pairs.id = lookups.pair
WHERE first = ? AND length = ? AND tokens = ? ORDER BY pair, side
"""


@dataclass(frozen=True, slots=True)
class Match:
    """A pair one side of which stands at tokens[start:end]; `target` is the language of the other side."""

    pair: Pair
    start: int
    end: int
    target: Literal["ko", "en"]


def write_glossary(path: Path, pairs: Sequence[Pair]) -> None:
    """Write a glossary file, or replace it: a reader finds the old one or the new one whole.

    Raises:
        IndexNotWritten: disk full, no permission.
    """
    passing = temporary_path(path)
    try:
        connection = sqlite3.connect(passing)
        try:
            connection.execute("PRAGMA journal_mode = OFF")  # nobody reads it before it has its name
            connection.executescript(SCHEMA)
            with connection:
                connection.executemany("INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?)", _rows(pairs))
                connection.executemany("INSERT INTO lookups VALUES (?, ?, ?, ?, ?)", sorted(_lookups(pairs)))
                connection.execute("INSERT INTO lengths SELECT DISTINCT first, length FROM lookups")
        finally:
            connection.close()
        passing.replace(path)
    except (sqlite3.Error, OSError) as error:
        raise IndexNotWritten(
            f"the glossary {path} was not written ({error})",
            remedy="mend the cause and give the same command again",
        ) from error
    finally:
        passing.unlink(missing_ok=True)


def _rows(pairs: Sequence[Pair]) -> Iterator[tuple[int, str, str, str, str, int, str]]:
    for number, pair in enumerate(pairs):
        korean, english = SEPARATOR.join(pair.korean_tokens), SEPARATOR.join(pair.english_tokens)
        yield number, pair.korean, pair.english, korean, english, pair.count, SEPARATOR.join(pair.sources)


def _lookups(pairs: Sequence[Pair]) -> Iterator[tuple[str, int, str, int, int]]:
    for number, pair in enumerate(pairs):
        for side, tokens in ((KOREAN, pair.korean_tokens), (ENGLISH, pair.english_tokens)):
            if tokens:
                yield tokens[0], len(tokens), SEPARATOR.join(tokens), side, number


class Glossary:
    """A glossary file opened for reading; use it as a context manager or close it."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._lock = Lock()  # one connection, asked from many threads
        self._path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file at `path`.

        Raises:
            FileNotFoundError: there is none.
            IndexDamaged: the file is no glossary.
        """
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            path.stat()  # FileNotFoundError where it is gone
            raise _damaged(path, error) from error
        glossary = cls(connection, path)
        try:
            glossary._select("SELECT first FROM lengths LIMIT 1")
        except IndexDamaged:
            connection.close()
            raise
        return glossary

    def translations(self, tokens: Sequence[str]) -> list[Match]:
        """Return the pairs one side of which stands in `tokens` without a gap: the longest first.

        Of two that overlap on the same side, the shorter is left out; pairs of the same span all stay, the
        one of most papers first.
        """
        with describing_damage(self._path):
            return self._translations(tokens)

    def _translations(self, tokens: Sequence[str]) -> list[Match]:
        lengths = {first: [int(row[0]) for row in self._select(LENGTHS, first)] for first in set(tokens)}
        spans = [
            (start, start + length)
            for start, first in enumerate(tokens)
            for length in lengths[first]
            if start + length <= len(tokens)
        ]
        spans.sort(key=lambda span: (span[0] - span[1], span[0]))
        longest = [[0] * len(tokens), [0] * len(tokens)]  # of the spans taken at each place, by side
        matches: list[Match] = []
        for start, end in spans:
            phrase = SEPARATOR.join(tokens[start:end])
            found = self._select(LOOKUP, tokens[start], end - start, phrase)
            free = [max(lengths_of_side[start:end]) <= end - start for lengths_of_side in longest]
            matches += [Match(_pair(row[1:]), start, end, TARGETS[row[0]]) for row in found if free[row[0]]]
            for side in {row[0] for row in found if free[row[0]]}:
                longest[side][start:end] = [max(length, end - start) for length in longest[side][start:end]]
        return matches

    def pairs(self) -> Iterator[Pair]:
        """Iterate over all pairs, most papers first."""
        with describing_damage(self._path):
            yield from map(_pair, self._select("SELECT * FROM pairs ORDER BY id"))

    def __len__(self) -> int:
        return int(self._select("SELECT count(*) FROM pairs")[0][0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; whoever asks afterwards is told by IndexClosed."""
        with self._lock:
            self._connection.close()

    def _select(self, statement: str, *values: str | int) -> list[tuple[int, ...]]:
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.ProgrammingError as error:  # no other is possible with statements that are fixed
            raise IndexClosed(
                f"the glossary {self._path} is closed", remedy="open the index again"
            ) from error
        except sqlite3.DatabaseError as error:
            raise _damaged(self._path, error) from error


def _pair(row: Sequence[object]) -> Pair:
    _, korean, english, korean_tokens, english_tokens, count, sources = row
    return Pair(
        korean=str(korean),
        english=str(english),
        korean_tokens=tuple(str(korean_tokens).split(SEPARATOR)),
        english_tokens=tuple(str(english_tokens).split(SEPARATOR)),
        count=int(str(count)),
        sources=tuple(str(sources).split(SEPARATOR)),
    )


def _damaged(path: Path, error: sqlite3.Error) -> IndexDamaged:
    return IndexDamaged(
        f"the glossary {path} cannot be read ({error})", remedy=(Remedy.REBUILD, Remedy.ROLL_BACK)
    )
