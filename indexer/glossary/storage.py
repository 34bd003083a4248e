"""Glossary files: SQLite with compact columns of tokens, and lookup by the tokens of either side."""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self
from zlib import crc32

from indexer.files.damage import map_damage_errors
from indexer.files.sqlite_files import SQLiteFile, writing_sqlite
from indexer.glossary.forms import Forms
from indexer.glossary.loanwords import SpeltWord, loanword
from indexer.glossary.pairs import Pair, Target, Tokens
from indexer.glossary.patterns.abbreviations import LONGEST_TOKENS as LONGEST_FORM
from indexer.glossary.patterns.abbreviations import Abbreviation

SEPARATOR = "\x1f"
LEAST_INTEGER = 2**31  # SQLite stores -2^31 to 2^31 - 1 in four bytes, and no larger number


def tokens_number(tokens: Tokens) -> int:
    """Return the lookup number of tokens, a hash with possible collisions."""
    return crc32(SEPARATOR.join(tokens).encode()) - LEAST_INTEGER


def packed_tokens(term: str, tokens: Tokens) -> int | str:
    """Return n if the tokens are the term's first n letters in lower case, otherwise the tokens."""
    joined = SEPARATOR.join(tokens)
    return len(joined) if _spelt_out(term).startswith(joined) else joined


def unpacked_tokens(term: str, packed: int | str) -> Tokens:
    """Unpack tokens packed by `packed_tokens`."""
    joined = _spelt_out(term)[:packed] if isinstance(packed, int) else packed
    return tuple(joined.split(SEPARATOR))


def _spelt_out(term: str) -> str:
    return term.lower().replace(" ", SEPARATOR)


Unit = tuple[int, int]  # the span of the tokens of one term
TARGETS: tuple[Target, Target] = ("en", "ko")
# The user's pairs take precedence over mined ones, and these over general ones.
TIERS = 3
TIER_OF = {"user": 0, "general": 2}
GENERAL = ("general",)  # the sources of most pairs
MINED = 1
# Three tables are WITHOUT ROWID indexes. The file's user_version is the number of tokens of its longest term.
# Tokens are packed, and looked up by number (`columns.py`). The source of a general pair is NULL. The token
# of a word is an integer n if it is the first n letters of the word.
SCHEMA = """
CREATE TABLE pairs (
    id INTEGER PRIMARY KEY, korean TEXT, english TEXT, korean_tokens, english_tokens, count INTEGER,
    sources TEXT, target TEXT
);
CREATE TABLE lookups (tokens INTEGER, pair INTEGER, PRIMARY KEY (tokens, pair)) WITHOUT ROWID;
CREATE TABLE abbreviations (
    id INTEGER PRIMARY KEY, short TEXT, long TEXT, short_tokens, long_tokens, count INTEGER, ordinary INTEGER
);
CREATE TABLE abbreviation_sides (
    tokens INTEGER, abbreviation INTEGER, PRIMARY KEY (tokens, abbreviation)
) WITHOUT ROWID;
CREATE TABLE words (
    key TEXT, word TEXT, sound TEXT, token, passages INTEGER, PRIMARY KEY (key, word)
) WITHOUT ROWID;
"""
LOOKUP = """
SELECT * FROM pairs WHERE id IN (SELECT pair FROM lookups WHERE tokens IN ({})) ORDER BY id
"""
ABBREVIATIONS = """
SELECT * FROM abbreviations
WHERE id IN (SELECT abbreviation FROM abbreviation_sides WHERE tokens IN ({})) ORDER BY id
"""
MOST_VALUES = 900  # values per statement
WORDS = """
SELECT key, word, sound,
    CASE typeof(token) WHEN 'integer' THEN substr(word, 1, token) ELSE token END, passages
FROM words WHERE key IN ({})
"""
WORDS_OF_LETTER = """
SELECT word, CASE typeof(token) WHEN 'integer' THEN substr(word, 1, token) ELSE token END, passages
FROM words WHERE word >= ? AND word < ?
"""
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
    def other_tokens(self) -> tuple[str, ...]:
        """The tokens of the other side."""
        return self.pair.english_tokens if self.target == "en" else self.pair.korean_tokens


def write_glossary(path: Path, pairs: Sequence[Pair], forms: Forms | None = None) -> None:
    """Write or atomically replace a glossary file.

    Raises:
        IndexNotWritten: disk full, no permission.
    """
    with writing_sqlite(path, "glossary", SCHEMA) as connection:
        connection.executemany("INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _rows(pairs))
        sides = [(number, side) for number, pair in enumerate(pairs) for side in _looked_up(pair).values()]
        connection.executemany("INSERT INTO lookups VALUES (?, ?)", _numbered(sides))
        longest = max((len(side) for _, side in sides), default=0)
        connection.execute(f"PRAGMA user_version = {longest:d}")  # PRAGMA takes no parameters
        if forms:
            _insert_forms(connection, forms)


def _looked_up(pair: Pair) -> dict[Target, Tokens]:
    """Return the lookup tokens of a pair by the language of the other side."""
    sides: dict[Target, Tokens] = {"en": pair.korean_tokens, "ko": pair.english_tokens}
    return {target: side for target, side in sides.items() if side and pair.target in {None, target}}


def _numbered(sides: Iterable[tuple[int, Tokens]]) -> list[tuple[int, int]]:
    """Return rows of a lookup table: the number of a side's tokens, and the id of its pair."""
    return sorted({(tokens_number(side), number) for number, side in sides})


def _rows(pairs: Sequence[Pair]) -> Iterator[tuple[object, ...]]:
    for number, pair in enumerate(pairs):
        korean = packed_tokens(pair.korean, pair.korean_tokens)
        english = packed_tokens(pair.english, pair.english_tokens)
        sources = None if pair.sources == GENERAL else SEPARATOR.join(pair.sources)
        yield number, pair.korean, pair.english, korean, english, pair.count, sources, pair.target


def _insert_forms(connection: sqlite3.Connection, forms: Forms) -> None:
    for number, form in enumerate(forms.abbreviations):
        short, long = packed_tokens(form.short, form.short_tokens), packed_tokens(form.long, form.long_tokens)
        row = (number, form.short, form.long, short, long, form.count, form.ordinary)
        connection.execute("INSERT INTO abbreviations VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    sides = [
        (number, side)
        for number, form in enumerate(forms.abbreviations)
        for side in (form.short_tokens, form.long_tokens)
    ]
    connection.executemany("INSERT INTO abbreviation_sides VALUES (?, ?)", _numbered(sides))
    connection.executemany(
        "INSERT INTO words VALUES (:key, :word, :sound, :token, :passages)",
        ({**word._asdict(), "token": _shortened(word)} for word in sorted(forms.words)),
    )


def _shortened(word: SpeltWord) -> int | str:
    return len(word.token) if word.word.startswith(word.token) else word.token


class Glossary:
    """A glossary file opened for reading; use it as a context manager or close it."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file, self._path = file, file.path
        self._words_starting_with = lru_cache(CACHED_LETTERS)(self._read_words_of)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file at `path`.

        Raises:
            FileNotFoundError: the file does not exist.
            IndexDamaged: the file is not a glossary.
        """
        return cls(SQLiteFile(path, "glossary", table="lookups"))

    def translations(
        self,
        tokens: Sequence[str],
        units: Collection[Unit] = (),
        is_held: Callable[[Sequence[str]], bool] | None = None,
    ) -> list[Match]:
        """Return the pairs with one side in `tokens` without a gap, longest first.

        Of two overlapping matches on the same side, the shorter is dropped; all pairs of the same span are
        returned, most papers first. Mined pairs do not match tokens that the user's pairs match, and general
        pairs do not match tokens that mined pairs match. A match never splits one of the `units` (CO of CO2).
        With `is_held`, pairs match only if it accepts the tokens of their other side, so that a longer term
        contained in no passage does not displace a shorter one. A general pair of several words that only
        joins the translations of its words (nurse burnout) never matches.
        """
        with map_damage_errors(self._path):
            found = self._matches(tokens, units)
        found = [match for match in found if is_held is None or is_held(match.other_tokens)]
        found = [match for match in found if not _is_composed(match, found)]
        matches = [match for target in TARGETS for match in _chosen(found, target, len(tokens))]
        return sorted(matches, key=lambda match: (match.start - match.end, match.start))

    def _matches(self, tokens: Sequence[str], units: Collection[Unit]) -> list[Match]:
        """Return all pairs with one side in `tokens`, longest first."""
        spans = _spans(tokens, self._longest, units)
        found = [
            Match(pair, start, end, target)
            for pair in map(_pair, self._with_sides(LOOKUP, spans))
            for target, side in _looked_up(pair).items()
            for start, end in spans.get(side, ())
        ]
        return sorted(found, key=lambda match: (match.start - match.end, match.start))

    def korean_words(self, words: Sequence[str]) -> set[str]:
        """Return the words that are the only Korean token of a pair."""
        with map_damage_errors(self._path):
            pairs = list(map(_pair, self._with_sides(LOOKUP, [(word,) for word in words])))
        return {pair.korean for pair in pairs if pair.korean_tokens == (pair.korean,)} & {*words}

    def abbreviations(self, tokens: Sequence[str], units: Collection[Unit] = ()) -> list[FormMatch]:
        """Return the abbreviations with one side in `tokens` without a gap, longest first.

        Of two overlapping matches the shorter is dropped; all of the same span are returned, most frequent
        first. A match never splits one of the `units`.
        """
        with map_damage_errors(self._path):
            spans = _spans(tokens, LONGEST_FORM, units)
            found = [
                FormMatch(form, start, end)
                for form in map(_abbreviation, self._with_sides(ABBREVIATIONS, spans))
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

    @cached_property
    def _longest(self) -> int:
        """The number of tokens of the longest side of a pair."""
        return int(self._file.select("PRAGMA user_version")[0][0])

    def _with_sides(self, statement: str, sides: Iterable[Tokens]) -> list[tuple[Any, ...]]:
        """Return the rows with one of these sides, including hash collisions, by id."""
        return sorted(set(self._select_in(statement, [tokens_number(side) for side in sides])))

    def _select_in(self, statement: str, values: Sequence[str | int]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement for any number of values."""
        for start in range(0, len(values), MOST_VALUES):
            some = values[start : start + MOST_VALUES]
            yield from self._file.select(statement.format(", ".join("?" * len(some))), *some)

    def loanword(self, korean: str) -> SpeltWord | None:
        """Return the English word that a Hangul word sounds like; None if there is no clear candidate."""
        with map_damage_errors(self._path):
            return loanword(korean, self._words)

    def words_starting_with(self, letter: str) -> CorpusWords:
        """Return the English words of the corpus that start with a small letter; cached."""
        return self._words_starting_with(letter)

    def _read_words_of(self, letter: str) -> CorpusWords:
        with map_damage_errors(self._path):
            rows = self._file.select(WORDS_OF_LETTER, letter, letter + LAST_LETTER)
        words, tokens, passages = zip(*rows, strict=True) if rows else ((), (), ())
        return CorpusWords(words, tokens, passages)

    def _words(self, keys: Sequence[str]) -> list[SpeltWord]:
        return _spelt(self._select_in(WORDS, keys))

    def pairs(self) -> Iterator[Pair]:
        """Iterate over all pairs, most papers first."""
        with map_damage_errors(self._path):
            yield from map(_pair, self._file.select("SELECT * FROM pairs ORDER BY id"))

    def all_abbreviations(self) -> Iterator[Abbreviation]:
        """Iterate over all abbreviations, by their short forms."""
        with map_damage_errors(self._path):
            yield from map(_abbreviation, self._file.select("SELECT * FROM abbreviations ORDER BY id"))

    def __len__(self) -> int:
        return int(self._file.select("SELECT count(*) FROM pairs")[0][0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; later calls raise IndexClosed."""
        self._file.close()


def _spelt(rows: Iterable[Sequence[object]]) -> list[SpeltWord]:
    return [
        SpeltWord(str(key), str(sound), str(word), str(token), int(str(passages)))
        for key, word, sound, token, passages in rows
    ]


def _spans(tokens: Sequence[str], longest: int, units: Collection[Unit]) -> dict[Tokens, list[Unit]]:
    """Return the spans of at most `longest` tokens without a split unit, by their tokens."""
    spans: dict[Tokens, list[Unit]] = {}
    inside = {place for first, last in units for place in range(first + 1, last + 1)}
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + longest, len(tokens)) + 1):
            if start not in inside and end not in inside:
                spans.setdefault(tuple(tokens[start:end]), []).append((start, end))
    return spans


def _is_composed(match: Match, found: Iterable[Match]) -> bool:
    """Check whether a general pair of several words only joins the translations of its words."""
    pair, span = match.pair, range(match.start, match.end)
    if _tier(pair) != TIER_OF["general"] or " " not in pair.korean or " " not in pair.english:
        return False
    parts = (
        other.other_tokens
        for other in found
        if other.target == match.target
        and other.start in span
        and other.end - 1 in span
        and other.end - other.start < len(span)
    )
    return set(match.other_tokens) <= {token for tokens in parts for token in tokens}


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


def _abbreviation(row: Sequence[Any]) -> Abbreviation:
    _, short, long, short_tokens, long_tokens, count, ordinary = row
    return Abbreviation(
        short,
        long,
        unpacked_tokens(short, short_tokens),
        unpacked_tokens(long, long_tokens),
        int(count),
        bool(ordinary),
    )


def _pair(row: Sequence[Any]) -> Pair:
    _, korean, english, korean_tokens, english_tokens, count, sources, target = row
    return Pair(
        korean=korean,
        english=english,
        korean_tokens=unpacked_tokens(korean, korean_tokens),
        english_tokens=unpacked_tokens(english, english_tokens),
        count=int(count),
        sources=tuple(sources.split(SEPARATOR)) if sources is not None else GENERAL,
        target=next((language for language in TARGETS if language == target), None),
    )
