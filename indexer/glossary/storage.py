"""Glossary files: SQLite, with lookup by the tokens of either side."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from indexer.files.damage import map_damage_errors
from indexer.files.sqlite_files import SQLiteFile, writing_sqlite
from indexer.glossary.abbreviations import LONGEST_TOKENS as LONGEST_FORM
from indexer.glossary.abbreviations import Abbreviation
from indexer.glossary.loanwords import SpeltWord, find_loanword
from indexer.glossary.pairs import LONGEST_TOKENS, Pair, Target, Tokens

SEPARATOR = "\x1f"
Row = tuple[Any, ...]
Made = TypeVar("Made")
Unit = tuple[int, int]  # the span of the tokens of one term
TARGETS: tuple[Target, Target] = ("en", "ko")
# The user's pairs take precedence over mined ones, and these over general ones.
TIERS = 3
TIER_OF = {"user": 0, "general": 2}
MINED = 1
# Tokens are joined by SEPARATOR.
SCHEMA = """
CREATE TABLE pairs (
    id INTEGER PRIMARY KEY, korean TEXT, english TEXT, korean_tokens TEXT, english_tokens TEXT, count INTEGER,
    sources TEXT, target TEXT
);
CREATE INDEX pairs_korean ON pairs (korean_tokens);
CREATE INDEX pairs_english ON pairs (english_tokens);
CREATE TABLE abbreviations (
    id INTEGER PRIMARY KEY, short TEXT, long TEXT, short_tokens TEXT, long_tokens TEXT, count INTEGER,
    ordinary INTEGER
);
CREATE INDEX abbreviations_short ON abbreviations (short_tokens);
CREATE INDEX abbreviations_long ON abbreviations (long_tokens);
CREATE TABLE words (
    key TEXT, sound TEXT, word TEXT, token TEXT, passages INTEGER, PRIMARY KEY (key, word)
) WITHOUT ROWID;
"""
LOOKUP = """
SELECT * FROM {0} WHERE {1} IN (SELECT value FROM json_each(?))
UNION SELECT * FROM {0} WHERE {2} IN (SELECT value FROM json_each(?)) ORDER BY id
"""
PAIRS = LOOKUP.format("pairs", "korean_tokens", "english_tokens")
ABBREVIATIONS = LOOKUP.format("abbreviations", "short_tokens", "long_tokens")
WORDS = "SELECT * FROM words WHERE key IN (SELECT value FROM json_each(?))"
WORDS_OF_LETTER = "SELECT word, token, passages FROM words WHERE word >= ? AND word < ?"
CACHED_LETTERS = 64  # letters with cached words; a glossary has at most 200,000 words
LAST_LETTER = "\U0010ffff"


class CorpusWords(NamedTuple):
    """English words of a corpus, with the token and the number of passages of each."""

    words: tuple[str, ...]
    tokens: tuple[str, ...]
    passages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FormMatch:
    """An abbreviation with its short or long form at tokens[start:end]."""

    form: Abbreviation
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Match:
    """A pair with one side at tokens[start:end]; `target` is the language of the other side."""

    pair: Pair
    start: int
    end: int
    target: Target

    @property
    def other_tokens(self) -> Tokens:
        """The tokens of the other side."""
        return self.pair.english_tokens if self.target == "en" else self.pair.korean_tokens


def write_glossary(
    path: Path,
    pairs: Iterable[Pair],
    abbreviations: Iterable[Abbreviation] = (),
    words: Iterable[SpeltWord] = (),
) -> None:
    """Write or atomically replace a glossary file.

    Raises:
        IndexNotWritten: disk full, no permission.
    """
    with writing_sqlite(path, "glossary", SCHEMA) as connection:
        for table, items in (("pairs", pairs), ("abbreviations", abbreviations)):
            for row in map(_row, count(), items):
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
        connection.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?)", sorted(words))


def _row(number: int, item: Pair | Abbreviation) -> Row:
    values = (getattr(item, field.name) for field in fields(item))
    return number, *(SEPARATOR.join(value) if isinstance(value, tuple) else value for value in values)


def _pair(row: Row) -> Pair:
    _, korean, english, korean_tokens, english_tokens, count, sources, target = row
    return Pair(
        korean, english, _parts(korean_tokens), _parts(english_tokens), count, _parts(sources), target
    )


def _abbreviation(row: Row) -> Abbreviation:
    _, short, long, short_tokens, long_tokens, count, ordinary = row
    return Abbreviation(short, long, _parts(short_tokens), _parts(long_tokens), count, bool(ordinary))


def _parts(joined: str) -> Tokens:
    return tuple(joined.split(SEPARATOR))


def _sides(pair: Pair) -> dict[Target, Tokens]:
    """Return the lookup tokens of a pair by the language of the other side."""
    sides: dict[Target, Tokens] = {"en": pair.korean_tokens, "ko": pair.english_tokens}
    return {target: side for target, side in sides.items() if pair.target in {None, target}}


class Glossary(SQLiteFile):
    """A glossary file opened for reading."""

    def __init__(self, path: Path) -> None:
        """Open the file at `path`.

        Raises:
            FileNotFoundError: the file does not exist.
            IndexDamaged: the file is not a glossary.
        """
        super().__init__(path, "glossary", "pairs")
        self._words_starting_with = lru_cache(CACHED_LETTERS)(self._read_words_of)

    def translations(
        self,
        tokens: Sequence[str],
        units: Collection[Unit] = (),
        is_held: Callable[[Sequence[str]], bool] | None = None,
    ) -> list[Match]:
        """Return the pairs with one side in `tokens` without a gap, longest first.

        Of two overlapping matches on the same side, the shorter is dropped; all pairs of the same span are
        returned, most passages first. Mined pairs do not match tokens that the user's pairs match, and
        general pairs do not match tokens that mined pairs match. A match never splits one of the `units` (CO
        of CO2). With `is_held`, pairs match only if it accepts the tokens of their other side, so that a
        longer term contained in no passage does not displace a shorter one.
        """
        spans = _spans(tokens, LONGEST_TOKENS, units)
        found = [
            match
            for pair in self._lookup(_pair, PAIRS, spans)
            for target, side in _sides(pair).items()
            for start, end in spans.get(side, ())
            for match in [Match(pair, start, end, target)]
            if is_held is None or is_held(match.other_tokens)
        ]
        found.sort(key=lambda match: (match.start - match.end, match.start))
        matches = [match for target in TARGETS for match in _chosen(found, target, len(tokens))]
        return sorted(matches, key=lambda match: (match.start - match.end, match.start))

    def korean_words(self, words: Sequence[str]) -> set[str]:
        """Return the words that are the only Korean token of a pair."""
        pairs = self._lookup(_pair, PAIRS, [(word,) for word in words])
        return {pair.korean for pair in pairs if pair.korean_tokens == (pair.korean,)} & {*words}

    def abbreviations(self, tokens: Sequence[str], units: Collection[Unit] = ()) -> list[FormMatch]:
        """Return the abbreviations with one side in `tokens` without a gap, longest first.

        Of two overlapping matches the shorter is dropped; all of the same span are returned, most frequent
        first. A match never splits one of the `units`.
        """
        spans = _spans(tokens, LONGEST_FORM, units)
        found = [
            FormMatch(form, start, end)
            for form in self._lookup(_abbreviation, ABBREVIATIONS, spans)
            for side in {form.short_tokens, form.long_tokens}
            for start, end in spans.get(side, ())
        ]
        found.sort(key=lambda match: (match.start - match.end, match.start, -match.form.count))
        chosen: list[FormMatch] = []
        taken: dict[int, tuple[int, int]] = {}  # the span chosen at each place
        for match in found:
            span = match.start, match.end
            if all(taken.get(place, span) == span for place in range(*span)):
                taken |= dict.fromkeys(range(*span), span)
                chosen.append(match)
        return chosen

    def loanword(self, korean: str) -> SpeltWord | None:
        """Return the English word that a Hangul word sounds like; None if there is no clear candidate."""
        return find_loanword(korean, self._words)

    def _words(self, keys: Sequence[str]) -> list[SpeltWord]:
        return self._read(SpeltWord._make, WORDS, json.dumps(keys))

    def words_starting_with(self, letter: str) -> CorpusWords:
        """Return the English words of the corpus that start with a small letter; cached."""
        return self._words_starting_with(letter)

    def _read_words_of(self, letter: str) -> CorpusWords:
        rows = self._read(tuple, WORDS_OF_LETTER, letter, letter + LAST_LETTER)
        words, tokens, passages = zip(*rows, strict=True) if rows else ((), (), ())
        return CorpusWords(words, tokens, passages)

    def pairs(self) -> Iterator[Pair]:
        """Iterate over all pairs, most passages first."""
        yield from self._read(_pair, "SELECT * FROM pairs ORDER BY id")

    def all_abbreviations(self) -> Iterator[Abbreviation]:
        """Iterate over all abbreviations, by their short forms."""
        yield from self._read(_abbreviation, "SELECT * FROM abbreviations ORDER BY id")

    def _lookup(self, make: Callable[[Row], Made], statement: str, sides: Iterable[Tokens]) -> list[Made]:
        """Return the rows with one of these sides, by id."""
        joined = json.dumps([SEPARATOR.join(side) for side in sides])
        return self._read(make, statement, joined, joined)

    def _read(self, make: Callable[[Row], Made], statement: str, *values: str) -> list[Made]:
        with map_damage_errors(self.path):
            return [make(row) for row in self.select(statement, *values)]


def _spans(tokens: Sequence[str], longest: int, units: Collection[Unit]) -> Mapping[Tokens, list[Unit]]:
    """Return the spans of at most `longest` tokens without a split unit, by their tokens."""
    spans: dict[Tokens, list[Unit]] = {}
    inside = {place for first, last in units for place in range(first + 1, last + 1)}
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + longest, len(tokens)) + 1):
            if start not in inside and end not in inside:
                spans.setdefault(tuple(tokens[start:end]), []).append((start, end))
    return spans


def _chosen(found: Sequence[Match], target: Target, size: int) -> Iterator[Match]:
    """Yield the longest non-overlapping matches for a language; `size` is the number of tokens."""
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
