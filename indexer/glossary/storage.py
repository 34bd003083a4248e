"""A glossary as a file: SQLite, looked up by the tokens of either side."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from indexer.damage import describing_damage
from indexer.glossary.abbreviations import LONGEST_TOKENS as LONGEST_FORM
from indexer.glossary.abbreviations import Abbreviation
from indexer.glossary.forms import Forms
from indexer.glossary.loanwords import SpeltWord, loanword
from indexer.glossary.pairs import Pair, Target
from indexer.sqlite_files import SQLiteFile, writing_sqlite

SEPARATOR = "\x1f"
KOREAN, ENGLISH = 0, 1
TARGETS: tuple[Target, Target] = ("en", "ko")  # by the side that was found
# What the user gave goes before what was mined, and that before what is general.
TIERS = 3
TIER_OF = {"user": 0, "general": 2}
MINED = 1
# Two tables are their own indexes: what lengths the terms of a first token have, and the terms.
SCHEMA = """
CREATE TABLE pairs (
    id INTEGER PRIMARY KEY, korean TEXT, english TEXT, korean_tokens TEXT, english_tokens TEXT,
    count INTEGER, sources TEXT, target TEXT
);
CREATE TABLE lookups (
    first TEXT, length INTEGER, tokens TEXT, side INTEGER, pair INTEGER,
    PRIMARY KEY (first, length, tokens, side, pair)
) WITHOUT ROWID;
CREATE TABLE lengths (first TEXT, length INTEGER, PRIMARY KEY (first, length)) WITHOUT ROWID;
CREATE TABLE abbreviations (
    id INTEGER PRIMARY KEY, short TEXT, long TEXT, short_tokens TEXT, long_tokens TEXT, count INTEGER,
    ordinary INTEGER
);
CREATE TABLE abbreviation_sides (
    tokens TEXT, abbreviation INTEGER, PRIMARY KEY (tokens, abbreviation)
) WITHOUT ROWID;
CREATE TABLE words (
    key TEXT, word TEXT, sound TEXT, token TEXT, passages INTEGER, PRIMARY KEY (key, word)
) WITHOUT ROWID;
"""
LENGTHS = "SELECT length FROM lengths WHERE first = ?"
LOOKUP = """
SELECT side, pairs.* FROM lookups JOIN pairs ON pairs.id = lookups.pair
WHERE first = ? AND length = ? AND tokens = ? ORDER BY pair, side
"""


ABBREVIATIONS = """
SELECT tokens, abbreviations.* FROM abbreviation_sides JOIN abbreviations ON id = abbreviation
WHERE tokens IN ({}) ORDER BY id
"""
WORDS = "SELECT key, word, sound, token, passages FROM words WHERE key IN ({})"


@dataclass(frozen=True, slots=True)
class FormMatch:
    """An abbreviation whose short or long form stands at tokens[start:end]."""

    form: Abbreviation
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Match:
    """A pair one side of which stands at tokens[start:end]; `target` is the language of the other side."""

    pair: Pair
    start: int
    end: int
    target: Target

    @property
    def other_tokens(self) -> tuple[str, ...]:
        """The tokens of the other side."""
        return self.pair.english_tokens if self.target == "en" else self.pair.korean_tokens


def write_glossary(path: Path, pairs: Sequence[Pair], forms: Forms | None = None) -> None:
    """Write a glossary file, or replace it: a reader finds the old one or the new one whole.

    Raises:
        IndexNotWritten: disk full, no permission.
    """
    with writing_sqlite(path, "glossary", SCHEMA) as connection:
        connection.executemany("INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _rows(pairs))
        connection.executemany("INSERT INTO lookups VALUES (?, ?, ?, ?, ?)", sorted(_lookups(pairs)))
        connection.execute("INSERT INTO lengths SELECT DISTINCT first, length FROM lookups")
        if forms:
            _insert_forms(connection, forms)


def _rows(pairs: Sequence[Pair]) -> Iterator[tuple[int, str, str, str, str, int, str, str | None]]:
    for number, pair in enumerate(pairs):
        korean, english = SEPARATOR.join(pair.korean_tokens), SEPARATOR.join(pair.english_tokens)
        sources = SEPARATOR.join(pair.sources)
        yield number, pair.korean, pair.english, korean, english, pair.count, sources, pair.target


def _lookups(pairs: Sequence[Pair]) -> Iterator[tuple[str, int, str, int, int]]:
    for number, pair in enumerate(pairs):
        for side, tokens in ((KOREAN, pair.korean_tokens), (ENGLISH, pair.english_tokens)):
            if tokens and pair.target in {None, TARGETS[side]}:
                yield tokens[0], len(tokens), SEPARATOR.join(tokens), side, number


def _insert_forms(connection: sqlite3.Connection, forms: Forms) -> None:
    sides: set[tuple[str, int]] = set()
    for number, form in enumerate(forms.abbreviations):
        short, long = SEPARATOR.join(form.short_tokens), SEPARATOR.join(form.long_tokens)
        row = (number, form.short, form.long, short, long, form.count, form.ordinary)
        connection.execute("INSERT INTO abbreviations VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        sides |= {(short, number), (long, number)}
    connection.executemany("INSERT INTO abbreviation_sides VALUES (?, ?)", sorted(sides))
    connection.executemany(
        "INSERT INTO words VALUES (:key, :word, :sound, :token, :passages)",
        (word._asdict() for word in sorted(forms.words)),
    )


class Glossary:
    """A glossary file opened for reading; use it as a context manager or close it."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file, self._path = file, file.path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file at `path`.

        Raises:
            FileNotFoundError: there is none.
            IndexDamaged: the file is no glossary.
        """
        return cls(SQLiteFile(path, "glossary", table="lengths"))

    def translations(self, tokens: Sequence[str]) -> list[Match]:
        """Return the pairs one side of which stands in `tokens` without a gap: the longest first.

        Of two that overlap on the same side, the shorter is left out; pairs of the same span all stay, the
        one of most papers first. What the user's pairs cover is not looked up among the mined ones, and what
        these cover not among the general ones.
        """
        with describing_damage(self._path):
            return self._translations(tokens)

    def _translations(self, tokens: Sequence[str]) -> list[Match]:
        lengths = {first: [int(row[0]) for row in self._file.select(LENGTHS, first)] for first in set(tokens)}
        spans = [
            (start, start + length)
            for start, first in enumerate(tokens)
            for length in lengths[first]
            if start + length <= len(tokens)
        ]
        spans.sort(key=lambda span: (span[0] - span[1], span[0]))
        found = [
            Match(_pair(row[1:]), start, end, TARGETS[row[0]])
            for start, end in spans
            for row in self._file.select(
                LOOKUP, tokens[start], end - start, SEPARATOR.join(tokens[start:end])
            )
        ]
        matches = [match for target in TARGETS for match in _chosen(found, target, len(tokens))]
        return sorted(matches, key=lambda match: (match.start - match.end, match.start))

    def abbreviations(self, tokens: Sequence[str]) -> list[FormMatch]:
        """Return the abbreviations one side of which stands in `tokens` without a gap: the longest first.

        Of two that overlap the shorter is left out; those of the same span all stay, the commonest first.
        """
        with describing_damage(self._path):
            found = [match for start in range(len(tokens)) for match in self._abbreviations(tokens, start)]
        found.sort(key=lambda match: (match.start - match.end, match.start, -match.form.count))
        chosen: list[FormMatch] = []
        taken: dict[int, tuple[int, int]] = {}  # the span chosen at each place
        for match in found:
            span = match.start, match.end
            if all(taken.get(place, span) == span for place in range(*span)):
                taken |= dict.fromkeys(range(*span), span)
                chosen.append(match)
        return chosen

    def _abbreviations(self, tokens: Sequence[str], start: int) -> Iterator[FormMatch]:
        """Yield those one side of which begins at `start`."""
        ends = range(start + 1, min(start + LONGEST_FORM, len(tokens)) + 1)
        spans = {SEPARATOR.join(tokens[start:end]): end for end in ends}
        statement = ABBREVIATIONS.format(", ".join("?" * len(spans)))
        for side, _, short, long, short_tokens, long_tokens, count, ordinary in self._file.select(
            statement, *spans
        ):
            form = Abbreviation(
                str(short),
                str(long),
                tuple(str(short_tokens).split(SEPARATOR)),
                tuple(str(long_tokens).split(SEPARATOR)),
                int(count),
                bool(ordinary),
            )
            yield FormMatch(form, start, spans[str(side)])

    def loanword(self, korean: str) -> SpeltWord | None:
        """Return the corpus's English word that a Hangul word sounds like; None where none is clear."""
        with describing_damage(self._path):
            return loanword(korean, self._words)

    def _words(self, keys: Sequence[str]) -> list[SpeltWord]:
        rows = self._file.select(WORDS.format(", ".join("?" * len(keys))), *keys)
        return [
            SpeltWord(str(key), str(sound), str(word), str(token), int(passages))
            for key, word, sound, token, passages in rows
        ]

    def pairs(self) -> Iterator[Pair]:
        """Iterate over all pairs, most papers first."""
        with describing_damage(self._path):
            yield from map(_pair, self._file.select("SELECT * FROM pairs ORDER BY id"))

    def __len__(self) -> int:
        return int(self._file.select("SELECT count(*) FROM pairs")[0][0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; whoever asks afterwards is told by IndexClosed."""
        self._file.close()


def _chosen(found: Sequence[Match], target: Target, size: int) -> Iterator[Match]:
    """Choose for a language among what was found in so many tokens, the longest first."""
    longest = [0] * size  # of the spans taken at each place
    for tier in range(TIERS):
        free = [length == 0 for length in longest]  # of earlier tiers
        for match in found:
            span, length = slice(match.start, match.end), match.end - match.start
            looked_for = match.target == target and _tier(match.pair) == tier
            if looked_for and any(free[span]) and max(longest[span]) <= length:
                longest[span] = [max(taken, length) for taken in longest[span]]
                yield match


def _tier(pair: Pair) -> int:
    return TIER_OF.get(pair.sources[0], MINED)


def _pair(row: Sequence[object]) -> Pair:
    _, korean, english, korean_tokens, english_tokens, count, sources, target = row
    return Pair(
        korean=str(korean),
        english=str(english),
        korean_tokens=tuple(str(korean_tokens).split(SEPARATOR)),
        english_tokens=tuple(str(english_tokens).split(SEPARATOR)),
        count=int(str(count)),
        sources=tuple(str(sources).split(SEPARATOR)),
        target=next((language for language in TARGETS if language == target), None),
    )
