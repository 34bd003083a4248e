"""Patterns: tokens, and tokens at fixed distances, counted in the rows of passages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.analysis import Token
from indexer.forward.rows import PassageRows, Places
from retriever.engines import NumberedRows
from retriever.queries.boolean import Pattern

Counts: TypeAlias = NDArray[np.int64]
Columns: TypeAlias = NDArray[np.int16]

NOWHERE = -1


def tokens_of(patterns: Iterable[Pattern]) -> set[str]:
    """Return the tokens of patterns."""
    return {token for pattern in patterns for _, token in pattern}


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Counts of patterns in n passages.

    Args:
        columns: the column of each pattern; a pattern with a token that the lexicon lacks has none.
        texts: n × columns, counts in title, text and title in the other language.
        titles: n × columns, counts in the title.
        lengths, title_lengths: tokens of each passage's text and title.
    """

    columns: Mapping[Pattern, int]
    texts: Counts
    titles: Counts
    lengths: Counts
    title_lengths: Counts


@dataclass(frozen=True, slots=True)
class Found:
    """Places of some tokens in n concatenated texts, with the `column` (token) and `row` (text) of each."""

    at: Places
    column: Columns
    row: Places

    @classmethod
    def of(cls, columns: Columns, rows: Places) -> "Found":
        """Find the places that have a column."""
        at: Places = np.flatnonzero(columns >= 0)
        return cls(at, columns[at], rows[at])

    def counts(self, rows: int, columns: int) -> Counts:
        """Return the count of each token in each text: rows × columns."""
        cells = self.row * columns + self.column
        return np.bincount(cells, minlength=rows * columns).reshape(rows, columns)


@dataclass(frozen=True)  # without slots, for cached properties
class TokenPlaces:
    """Places of some tokens in n passages: `body` and `title` hold the column of each token, or `NOWHERE`."""

    rows: PassageRows
    column: Mapping[str, int]
    body: Columns
    title: Columns

    @classmethod
    def of(cls, read: NumberedRows, tokens: Iterable[str]) -> "TokenPlaces":
        """Look up the tokens that the lexicon has."""
        rows, lexicon = read.rows, read.lexicon
        numbers = {token: number for token in dict.fromkeys(tokens) if (number := lexicon.number(token))}
        table = np.full(len(lexicon) + 1, NOWHERE, np.int16)
        table[list(numbers.values())] = np.arange(len(numbers))
        column = {token: place for place, token in enumerate(numbers)}
        return cls(rows, column, table[rows.body], table[rows.title])

    @cached_property
    def in_bodies(self) -> Found:
        """The places of the tokens in the bodies."""
        return Found.of(self.body, self.rows.body_row)

    @cached_property
    def in_titles(self) -> Found:
        """The places of the tokens in the titles."""
        return Found.of(self.title, self.rows.title_row)

    @cached_property
    def texts(self) -> Counts:
        """Counts of the tokens in the texts: n × tokens."""
        return self.in_bodies.counts(len(self.rows), len(self.column))

    @cached_property
    def titles(self) -> Counts:
        """Counts of the tokens in the titles: n × tokens."""
        return self.in_titles.counts(len(self.rows), len(self.column))

    def count(self, patterns: Iterable[Pattern]) -> Occurrences:
        """Count patterns whose tokens were looked up."""
        known = self.column
        found = [
            pattern for pattern in dict.fromkeys(patterns) if all(token in known for _, token in pattern)
        ]
        firsts = [known[pattern[0][1]] for pattern in found]
        texts, titles = self.texts[:, firsts], self.titles[:, firsts]
        for place, pattern in enumerate(found):
            if len(pattern) > 1:
                texts[:, place] = self._per_row(self.rows.body_row[self.of_pattern(pattern)])
                titles[:, place] = self._per_row(self.rows.title_row[self._pattern_in_titles(pattern)])
        columns = {pattern: place for place, pattern in enumerate(found)}
        return Occurrences(columns, texts, titles, self.rows.length, self.rows.title_length)

    def of_pattern(self, pattern: Pattern) -> Places:
        """Return the starts of a pattern's matches in the bodies; its tokens must have been looked up."""
        wanted = [(at, self.column[token]) for at, token in pattern]
        return _match_starts(self.in_bodies, self.body, self.rows.body_row, wanted)

    def _pattern_in_titles(self, pattern: Pattern) -> Places:
        """Return the starts of a pattern's matches in the titles; the distances of its tokens are ignored."""
        wanted = list(enumerate(self.column[token] for _, token in pattern))
        return _match_starts(self.in_titles, self.title, self.rows.title_row, wanted)

    def _per_row(self, rows: Places) -> Counts:
        return np.bincount(rows, minlength=len(self.rows))


def occurrences_in(texts: Sequence[Sequence[Token]], patterns: Iterable[Pattern]) -> Occurrences:
    """Count patterns in analysed texts that have no title."""
    distinct = list(dict.fromkeys(patterns))
    counts = np.zeros((len(texts), len(distinct)), np.int64)
    for row, tokens in enumerate(texts):
        at: dict[str, set[int]] = {}
        for token, position, _, _ in tokens:
            at.setdefault(token, set()).add(position)
        for column, ((_, first), *others) in enumerate(distinct):
            counts[row, column] = sum(
                all(position + apart in at.get(token, ()) for apart, token in others)
                for position in at.get(first, ())
            )
    lengths = np.array([len(tokens) for tokens in texts], np.int64)
    columns = {pattern: column for column, pattern in enumerate(distinct)}
    return Occurrences(columns, counts, np.zeros_like(counts), lengths, np.zeros_like(lengths))


def _match_starts(
    all_found: Found, columns: Columns, of_row: Places, wanted: Sequence[tuple[int, int]]
) -> Places:
    """Return the places of the first column with the others at their distances from it, in the same row."""
    (_, first), *others = wanted
    found: Places = all_found.at[all_found.column == first]
    for distance, column in others:
        found = found[found + distance < len(columns)]
        at = found + distance
        found = found[(columns[at] == column) & (of_row[at] == of_row[found])]
    return found
