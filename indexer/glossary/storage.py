"""Glossary files: SQLite, with lookup by the tokens of either side."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from base.records import adapter
from indexer.files.damage import map_damage_errors
from indexer.files.sqlite_files import SQLiteFile, writing_sqlite
from indexer.glossary.abbreviations import LONGEST_TOKENS as LONGEST_FORM
from indexer.glossary.abbreviations import Abbreviation
from indexer.glossary.loanwords import SpeltWord, find_loanword
from indexer.glossary.pairs import LONGEST_TOKENS, Pair, Target, Tokens

SEPARATOR = "\x1f"
Term = TypeVar("Term", Pair, Abbreviation)
Unit = tuple[int, int]  # the span of the tokens of one term
TARGETS: tuple[Target, Target] = ("en", "ko")
# The user's pairs take precedence over mined ones, and these over general ones.
TIERS = 3
TIER_OF = {"user": 0, "general": 2}
MINED = 1
# A term is a pair or an abbreviation, as JSON, with the tokens of its two sides, joined by SEPARATOR.
SCHEMA = """
CREATE TABLE terms (id INTEGER PRIMARY KEY, kind TEXT, one TEXT, other TEXT, term TEXT);
CREATE INDEX terms_one ON terms (one);
CREATE INDEX terms_other ON terms (other);
CREATE TABLE words (
    key TEXT, sound TEXT, word TEXT, token TEXT, passages INTEGER, PRIMARY KEY (key, word)
) WITHOUT ROWID;
"""
INSERT = "INSERT INTO terms (kind, one, other, term) VALUES (?, ?, ?, ?)"
LOOKUP = """
SELECT term FROM terms WHERE kind = ?1 AND id IN (
    SELECT id FROM terms WHERE one IN (SELECT value FROM json_each(?2))
    UNION SELECT id FROM terms WHERE other IN (SELECT value FROM json_each(?2))
) ORDER BY id
"""
ALL = "SELECT term FROM terms WHERE kind = ? ORDER BY id"
WORDS = "SELECT * FROM words WHERE key IN (SELECT value FROM json_each(?))"
WORDS_OF_LETTER = "SELECT * FROM words WHERE word >= ? AND word < ? ORDER BY key, word"
LAST_LETTER = "\U0010ffff"


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


Matched = TypeVar("Matched", Match, FormMatch)


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
        for pair in pairs:
            connection.execute(INSERT, _row(pair, pair.korean_tokens, pair.english_tokens))
        for form in abbreviations:
            connection.execute(INSERT, _row(form, form.short_tokens, form.long_tokens))
        connection.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?)", sorted(words))


def _row(term: Pair | Abbreviation, one: Tokens, other: Tokens) -> tuple[str, str, str, str]:
    record = json.dumps(asdict(term), ensure_ascii=False)
    return type(term).__name__, SEPARATOR.join(one), SEPARATOR.join(other), record


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
        super().__init__(path, "glossary", "terms")

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
            for pair in self._lookup(Pair, spans)
            for target, side in _sides(pair).items()
            for start, end in spans.get(side, ())
            for match in [Match(pair, start, end, target)]
            if is_held is None or is_held(match.other_tokens)
        ]
        found.sort(key=_longest_first)
        matches: list[Match] = []
        for target in TARGETS:
            taken = [0] * len(tokens)
            for tier in range(TIERS):
                of_tier = [each for each in found if each.target == target and _tier(each.pair) == tier]
                matches += _without_overlaps(of_tier, taken)
        return sorted(matches, key=_longest_first)

    def korean_words(self, words: Sequence[str]) -> set[str]:
        """Return the words that are the only Korean token of a pair."""
        pairs = self._lookup(Pair, [(word,) for word in words])
        return {pair.korean for pair in pairs if pair.korean_tokens == (pair.korean,)} & {*words}

    def abbreviations(self, tokens: Sequence[str], units: Collection[Unit] = ()) -> list[FormMatch]:
        """Return the abbreviations with one side in `tokens` without a gap, longest first.

        Of two overlapping matches the shorter is dropped; the most frequent ones of a span come first. A
        match never splits one of the `units`.
        """
        spans = _spans(tokens, LONGEST_FORM, units)
        found = [
            FormMatch(form, start, end)
            for form in self._lookup(Abbreviation, spans)
            for side in {form.short_tokens, form.long_tokens}
            for start, end in spans.get(side, ())
        ]
        found.sort(key=lambda match: (*_longest_first(match), -match.form.count))
        return list(_without_overlaps(found, [0] * len(tokens)))

    def loanword(self, korean: str) -> SpeltWord | None:
        """Return the English word that a Hangul word sounds like; None if there is no clear candidate."""
        return find_loanword(korean, self._words)

    def _words(self, keys: Sequence[str]) -> list[SpeltWord]:
        return [SpeltWord(*row) for row in self.select(WORDS, json.dumps(keys))]

    def words_starting_with(self, letter: str) -> list[SpeltWord]:
        """Return the English words of the corpus that start with a small letter."""
        return [SpeltWord(*row) for row in self.select(WORDS_OF_LETTER, letter, letter + LAST_LETTER)]

    def pairs(self) -> Iterator[Pair]:
        """Iterate over all pairs, most passages first."""
        yield from self._read(Pair, ALL)

    def all_abbreviations(self) -> Iterator[Abbreviation]:
        """Iterate over all abbreviations, by their short forms."""
        yield from self._read(Abbreviation, ALL)

    def _lookup(self, kind: type[Term], sides: Iterable[Tokens]) -> list[Term]:
        """Return the terms with one of these sides, by id."""
        return self._read(kind, LOOKUP, json.dumps([SEPARATOR.join(side) for side in sides]))

    def _read(self, kind: type[Term], statement: str, *values: str) -> list[Term]:
        with map_damage_errors(self.path):
            rows = self.select(statement, kind.__name__, *values)
            return [adapter(cast("Any", kind)).validate_json(term) for (term,) in rows]


def _spans(tokens: Sequence[str], longest: int, units: Collection[Unit]) -> Mapping[Tokens, list[Unit]]:
    """Return the spans of at most `longest` tokens without a split unit, by their tokens."""
    spans: dict[Tokens, list[Unit]] = {}
    inside = {place for first, last in units for place in range(first + 1, last + 1)}
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + longest, len(tokens)) + 1):
            if start not in inside and end not in inside:
                spans.setdefault(tuple(tokens[start:end]), []).append((start, end))
    return spans


def _longest_first(match: Match | FormMatch) -> tuple[int, int]:
    return match.start - match.end, match.start


def _without_overlaps(found: Iterable[Matched], taken: list[int]) -> Iterator[Matched]:
    """Yield matches, given longest first, unless a longer or an earlier one has their place.

    `taken` is the length of the longest match at each place, and updated; those of earlier calls come first.
    """
    free = [length == 0 for length in taken]
    for match in found:
        span, length = slice(match.start, match.end), match.end - match.start
        if any(free[span]) and max(taken[span]) <= length:
            taken[span] = [max(other, length) for other in taken[span]]
            yield match


def _tier(pair: Pair) -> int:
    return TIER_OF.get(pair.sources[0], MINED)
