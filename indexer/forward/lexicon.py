"""The lexicon of a version: for each term its number, its document frequency, and its share in names.

Numbers count from 1 in the order in which terms were first indexed; 0 is a gap. An update keeps the numbers
of the previous version. The file is memory-mapped:

    header     number of terms, number of passages, tokens of all passages, bytes of the terms, and the width
               in bytes of each of the four columns, as eight 64-bit integers
    order      the numbers of the terms in order of their bytes
    frequency  passages that contain the term, from number 0
    lengths    bytes of each term, from number 0 (empty)
    named      the share of these passages that have the term in a name, in 200ths
    terms      UTF-8, concatenated
"""

import mmap
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.packing import GAP
from indexer.files.damage import map_damage_errors
from indexer.forward.rows import LONGEST_NAME, PassageRows

HEADER = np.dtype("<i8")
COLUMNS = 4  # order, frequency, lengths, named
WHOLE = 200  # a share of 1 in the file
REMEMBERED = 50_000  # terms in each cache: by term, and by number
LARGEST_CHARACTER = "\U0010ffff"
ROWS_AT_ONCE = 1_000  # rows whose tokens are counted in one call

Counts = NDArray[np.int64]


class Lexicon:
    """The terms of a version; several threads may read it."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Map the file of a lexicon.

        Raises:
            FileNotFoundError: it is missing.
            ValueError: it is damaged.
        """
        with path.open("rb") as file:
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), path)

    def __init__(self, data: bytes | mmap.mmap, what: str | Path = "a lexicon") -> None:
        """Read the bytes of a lexicon; error messages call it `what`.

        Raises:
            ValueError: they are damaged. A damaged term or number raises IndexDamaged when it is read.
        """
        self._what = what
        header = np.frombuffer(data, HEADER, 4 + COLUMNS)
        size, self.passages, self._tokens, _, *widths = map(int, header)
        at = [header.nbytes]
        for width in widths:
            at.append(at[-1] + (size + 1) * width)
        order, frequency, lengths, self._named = (
            np.frombuffer(data, f"<u{width}", size + 1, start)
            for width, start in zip(widths, at, strict=False)
        )
        self.frequency = frequency.astype(np.uint32, copy=False)
        self._ends = np.cumsum(lengths, dtype=np.uint32).data
        self._order = order[:size].data
        self._terms = memoryview(data)[at[-1] :]
        self._number = lru_cache(REMEMBERED)(self._find)
        self._term = lru_cache(REMEMBERED)(self._text)

    def __len__(self) -> int:
        return len(self._order)

    @property
    def average_length(self) -> float:
        """The mean number of tokens of a passage, with its title; 1 without passages."""
        return max(1.0, self._tokens / max(1, self.passages))

    def number(self, term: str) -> int:
        """Return the number of a term, 0 if no passage contains it."""
        with map_damage_errors(self._what):
            return self._number(term)

    def _find(self, term: str) -> int:
        encoded = _encoded(term)
        place = self._place(encoded)
        number = self._order[place] if place < len(self) else 0
        return number if number and self._bytes(number) == encoded else 0

    def terms(self, numbers: Iterable[int]) -> list[str]:
        """Return the terms of numbers, GAP for 0; IndexDamaged for an unknown number."""
        with map_damage_errors(self._what):
            return list(map(self._term, numbers))

    def _text(self, number: int) -> str:
        if number > len(self):
            raise ValueError(f"a lexicon of {len(self):,} terms has no number {number:,}")
        return str(self._bytes(number), "utf-8") if number else GAP

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return the document frequencies of terms."""
        return {term: int(self.frequency[self.number(term)]) for term in terms}

    def frequencies_among(self, numbers: NDArray[np.int32], passages: int) -> NDArray[np.float64]:
        """Return the document frequencies of numbers, scaled from the passages counted to some number."""
        return np.asarray(self.frequency[numbers] * np.float64(passages / max(1, self.passages)))

    def named_share(self, numbers: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the share of the passages of each number that have the term in a name, rounded down."""
        return self._named[numbers] / WHOLE

    def starting_with(self, prefix: str) -> list[tuple[str, int]]:
        """Return (term, document frequency) of the terms in use that start with a prefix, in order."""
        with map_damage_errors(self._what):
            first, end = map(self._place, (_encoded(prefix), _encoded(prefix + LARGEST_CHARACTER)))
            numbers = self._order[first:end].tolist()
            used = [number for number in numbers if self.frequency[number]]
        return list(zip(self.terms(used), self.frequency[used].tolist(), strict=True))

    def __iter__(self) -> Iterator[str]:
        """Yield the terms in order of their numbers."""
        with map_damage_errors(self._what):
            yield from map(self._text, range(1, len(self) + 1))

    def _place(self, encoded: bytes) -> int:
        return bisect_left(self._order, encoded, key=self._bytes)

    def _bytes(self, number: int) -> bytes:
        return bytes(self._terms[self._ends[number - 1] : self._ends[number]])


def _encoded(term: str) -> bytes:
    return term.encode(errors="surrogatepass")  # a question may have a lone surrogate; no lexicon has one


class LexiconBuilder:
    """The numbers of terms during a build."""

    def __init__(self, terms: Iterable[str] = ()) -> None:
        """Number the given terms first, in their order."""
        self._numbers: dict[str, int] = defaultdict(count(1).__next__, {GAP: 0})
        self.numbers(terms)

    def __len__(self) -> int:
        return len(self._numbers) - 1

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """Return the numbers of terms, 0 for a GAP; a new term gets the next one."""
        return list(map(self._numbers.__getitem__, terms))

    @property
    def terms(self) -> list[str]:
        """The terms in the order of their numbers."""
        return list(self._numbers)[1:]


class TokenCounts:
    """Counts of passages by term number, and of passages with the term in a name."""

    def __init__(self, passages: int = 0, tokens: int = 0, columns: Sequence[Counts] | None = None) -> None:
        """Start with the counts of other passages, or with none."""
        self.passages, self.tokens = passages, tokens
        self._frequency, self._named = columns or (np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._rows: dict[int, list[bytes]] = {1: [], -1: []}  # rows to add, and to subtract

    def add(self, row: bytes, sign: int = 1) -> None:
        """Count the row of a passage; with the sign −1, subtract one that was counted."""
        self._rows[sign].append(row)
        if len(self._rows[sign]) == ROWS_AT_ONCE:
            self._count(sign)

    def columns(self, size: int) -> tuple[Counts, Counts]:
        """Return the document frequencies and the counts in names, by number from 0 to `size`."""
        self._count(1)
        self._count(-1)
        found = np.zeros((2, size + 1), np.int64)
        for column, counts in zip(found, (self._frequency, self._named), strict=True):
            column[1 : len(counts)] = counts[1:]
        return found[0], found[1]

    def _count(self, sign: int) -> None:
        if not self._rows[sign]:
            return
        rows = PassageRows.of(self._rows[sign])
        self.passages += sign * len(rows)
        self.tokens += sign * int(rows.length.sum())
        self._rows[sign] = []
        in_text, within = rows.in_text, np.arange(LONGEST_NAME)
        inside = within < rows.name_length[:, None]  # the tokens of each name
        in_names = rows.body[(rows.name_place[:, None] + within)[inside]]
        of_names = np.repeat(rows.name_row, rows.name_length)
        self._frequency = _added(self._frequency, rows.body_row[in_text], rows.body[in_text], sign)
        self._named = _added(self._named, of_names, in_names, sign)


def _added(counts: Counts, rows: Counts, numbers: NDArray[np.int32], sign: int) -> Counts:
    """Add the distinct pairs of passage and number to counts by number, or subtract them."""
    if not len(numbers):
        return counts
    size = int(numbers.max()) + 1
    distinct = np.unique(rows * size + numbers) % size
    new = sign * np.bincount(distinct, minlength=len(counts))
    new[: len(counts)] += counts
    return new


def lexicon_bytes(terms: Sequence[str], counts: TokenCounts) -> bytes:
    """Return the bytes of a lexicon of terms in the order of their numbers."""
    encoded = [term.encode() for term in terms]
    lengths = np.array([0, *map(len, encoded)], np.int64)
    order = np.zeros(len(terms) + 1, np.int64)
    order[:-1] = sorted(range(1, len(terms) + 1), key=lambda number: encoded[number - 1])
    frequency, named = counts.columns(len(terms))
    shares = WHOLE * named // np.maximum(1, frequency)
    columns = [_narrowed(column) for column in (order, frequency, lengths, shares)]
    widths = [column.itemsize for column in columns]
    header = np.array([len(terms), counts.passages, counts.tokens, int(lengths.sum()), *widths], HEADER)
    return b"".join([header.tobytes(), *(column.tobytes() for column in columns), *encoded])


def _narrowed(column: Counts) -> NDArray[np.unsignedinteger[Any]]:
    """Return integers in the smallest type for the largest: one, two or four bytes."""
    largest = int(column.max())
    return column.astype(next(f"<u{width}" for width in (1, 2, 4) if largest < 1 << 8 * width))
