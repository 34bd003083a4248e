"""Rows: the tokens of a passage as 16-bit words, and the rows of several passages as arrays.

A row is a header of `HEADER` words, the body, the title, and the names:

    body    a number for each position of title and text, 0 for a gap, then three gaps. In a paper's first
            passage the title in the other language follows in the same form. Tokens that share a position
            (compounds and their parts) take a place each.
    title   a number for each position of the title, 0 for a gap; left out if the body starts with the same
    names   a word for each name: its first place in the body, and its length

Numbers below 49,152 take one word. Higher ones take two: the bits 0b11 and the upper 14 bits, then the lower
15 bits.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Self, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.names import Name
from indexer.analysis.packing import TERM_SEPARATOR, PassageTokens
from indexer.corpora.papers import Language
from indexer.files.schema import StoredPassage

GAPS = 3  # after the text and after the other title; neighbouring words are less far apart
HEADER = 11
TWO_WORDS = 0xC000  # the least number that takes two words
LOW_BITS = 15
LOW_MASK = (1 << LOW_BITS) - 1
LARGEST = ((1 << 14) << LOW_BITS) - 1
WORD_BITS = 16
WORD_MASK = (1 << WORD_BITS) - 1
# Bits of a name: places fit in 13 bits, as names are searched at the beginning of a passage only.
LENGTH_BITS = 3
LONGEST_NAME = 1 << LENGTH_BITS
LAST_PLACE = (1 << (WORD_BITS - LENGTH_BITS)) - 1
LANGUAGES: tuple[Language, ...] = ("other", "ko", "en")
# The header's flags.
LANGUAGE_BITS, HAS_TEXT, TITLE_IN_BODY, TITLE_NAME_AT = 0b11, 0b100, 0b1000, 4

DAMAGED = "a row of a passage is damaged"
T = TypeVar("T", bound=np.generic)
Words = NDArray[np.uint16]
Numbers = NDArray[np.int32]
Places = NDArray[np.int64]


class RowTokens(NamedTuple):
    """The tokens of a passage as numbers by place, 0 for a gap, and its names."""

    body: Sequence[int]
    other_title: Sequence[int]
    title: Sequence[int]
    names: Sequence[Name]
    title_name: int = 0  # tokens of the title that name its subject: Mercury of "Mercury (planet)"


def pack_row(passage: StoredPassage, tokens: RowTokens) -> bytes:
    """Pack the tokens of a passage, with its language, its year and a checksum of its title."""
    body = [*tokens.body, *[0] * GAPS]
    if tokens.other_title:
        body += [*tokens.other_title, *[0] * GAPS]
    in_body = body[: len(tokens.title)] == [*tokens.title]
    encoded, title = _encoded(body), _encoded([] if in_body else tokens.title)
    names = [
        (first << LENGTH_BITS) | (min(length, LONGEST_NAME) - 1)
        for first, length in tokens.names
        if first <= LAST_PLACE
    ]
    flags = LANGUAGES.index(passage.lang) | (HAS_TEXT if passage.text.strip() else 0)
    flags |= TITLE_IN_BODY if in_body else 0
    flags |= tokens.title_name << TITLE_NAME_AT if tokens.title_name <= LONGEST_NAME else 0
    title_size = len(tokens.title) if in_body else len(title)
    title_sum = crc32(passage.title.encode()) if passage.title else 0
    header = [flags, passage.year or 0, len(names)]
    for value in (len(encoded), title_size, len(tokens.other_title), title_sum):
        header += [value & WORD_MASK, value >> WORD_BITS]
    pieces = [np.array(header, np.uint16), encoded, title, np.array(names, np.uint16)]
    return np.concatenate(pieces).tobytes()


def _encoded(numbers: Sequence[int]) -> Words:
    values = np.array(numbers, np.int64)
    long = values >= TWO_WORDS
    if not long.any():
        return values.astype(np.uint16)
    if int(values.max()) > LARGEST:
        raise ValueError(f"a lexicon contains at most {LARGEST:,} terms")
    words = np.zeros(len(values) + int(long.sum()), np.uint16)
    at = np.arange(len(values)) + np.cumsum(long) - long
    words[at] = np.where(long, TWO_WORDS | (values >> LOW_BITS), values)
    words[at[long] + 1] = values[long] & LOW_MASK
    return words


class _Header(NamedTuple):
    """The headers of rows, checked against the rows' sizes."""

    flags: Places
    year: Places
    names: Places  # number of words
    body: Places  # number of words
    title: Places  # number of words, 0 if the title is in the body
    title_size: Places
    other_title: Places
    same_title: Places
    in_body: NDArray[np.bool_]

    @classmethod
    def read(cls, words: Words, starts: Places, ends: Places) -> Self:
        if (ends - starts < HEADER).any() or (ends > len(words)).any():
            raise ValueError(DAMAGED)
        header = words[starts[:, None] + np.arange(HEADER)].astype(np.int64)
        flags, year, names = header.T[:3]
        body, title_size, other_title, same_title = (header[:, 3::2] | (header[:, 4::2] << WORD_BITS)).T
        in_body = (flags & TITLE_IN_BODY) > 0
        title = np.where(in_body, 0, title_size)
        if (starts + HEADER + body + title + names != ends).any():
            raise ValueError(DAMAGED)
        return cls(flags, year, names, body, title, title_size, other_title, same_title, in_body)


@dataclass(frozen=True, slots=True)
class PassageRows:
    """The rows of n passages as arrays.

    Args:
        body: numbers by place, the passages concatenated; 0 for a gap. int32.
        body_row: the passage (0 … n − 1) of each place.
        body_start: the first place of each passage in `body`.
        title: numbers of the titles' tokens without gaps; `title_row` is the passage of each.
        name_place, name_length, name_row: first place in `body`, length, and passage of each name.
        length, title_length: tokens of each body and title, without gaps.
        other_title: places of each passage's title in the other language.
        language: index in `LANGUAGES`.
        year: 0 if it is unknown.
        has_text: whether the passage has a text and not only a title.
        same_title: equal for passages of equal titles; 0 without a title.
        title_name: tokens of the title that name its subject; 0 if they are more than `LONGEST_NAME`.
    """

    body: Numbers
    body_row: Places
    body_start: Places
    title: Numbers
    title_row: Places
    name_place: Places
    name_length: Places
    name_row: Places
    length: Places
    title_length: Places
    other_title: Places
    language: Places
    year: Places
    has_text: NDArray[np.bool_]
    same_title: Places
    title_name: Places

    @classmethod
    def of(cls, rows: Sequence[bytes]) -> Self:
        """Unpack rows; ValueError if one is damaged."""
        sizes = np.array([len(row) for row in rows], np.int64)
        if (sizes % 2).any():
            raise ValueError(DAMAGED)
        ends = np.cumsum(sizes // 2)
        return cls.of_words(np.frombuffer(b"".join(rows), np.uint16), ends - sizes // 2, ends)

    @classmethod
    def of_words(cls, words: Words, starts: Places, ends: Places) -> Self:
        """Unpack the rows in `words` from each start to its end; ValueError as `of`."""
        header, at, row = _Header.read(words, starts, ends), starts + HEADER, np.arange(len(starts))
        body, counts = _decoded(words, at, header.body)
        body_start = np.cumsum(counts) - counts
        name_words = _gathered(words, ends - header.names, header.names).astype(np.int64)
        first, length = name_words >> LENGTH_BITS, (name_words & (LONGEST_NAME - 1)) + 1
        name_row = np.repeat(row, header.names)
        language, other_title = header.flags & LANGUAGE_BITS, header.other_title
        if (
            (counts < GAPS + np.where(other_title > 0, other_title + GAPS, 0)).any()
            or (header.in_body & (header.title_size > counts)).any()
            or (first + length > counts[name_row]).any()
            or (language >= len(LANGUAGES)).any()
        ):
            raise ValueError(DAMAGED)
        title, title_counts = _decoded(words, at + header.body, header.title)
        if header.in_body.any():  # take these titles from the bodies
            title_start = np.where(
                header.in_body, body_start, len(body) + np.cumsum(title_counts) - title_counts
            )
            title_counts = np.where(header.in_body, header.title_size, title_counts)
            title = _gathered(np.concatenate([body, title]), title_start, title_counts)
        titled = title > 0
        title_row = np.repeat(row, title_counts)[titled]
        return cls(
            body=body,
            body_row=np.repeat(row, counts),
            body_start=body_start,
            title=title[titled],
            title_row=title_row,
            name_place=body_start[name_row] + first,
            name_length=length,
            name_row=name_row,
            length=np.add.reduceat(body > 0, body_start, dtype=np.int64) if len(row) else counts,
            title_length=np.bincount(title_row, minlength=len(row)),
            other_title=other_title,
            language=language,
            year=header.year,
            has_text=(header.flags & HAS_TEXT) > 0,
            same_title=header.same_title,
            title_name=header.flags >> TITLE_NAME_AT,
        )

    def __len__(self) -> int:
        return len(self.body_start)

    def joined(self, other: Self) -> Self:
        """Return these rows, followed by others."""
        shifts = dict.fromkeys(("body_row", "title_row", "name_row"), len(self))
        shifts |= dict.fromkeys(("body_start", "name_place"), len(self.body))
        columns = []
        for name in (field.name for field in fields(self)):
            more = getattr(other, name)
            columns.append(
                np.concatenate([getattr(self, name), more + shifts[name] if name in shifts else more])
            )
        return type(self)(*columns)

    @property
    def in_text(self) -> NDArray[np.bool_]:
        """Whether each place of `body` is in title and text; False for the title in the other language."""
        ends = np.append(self.body_start[1:], len(self.body))
        other = np.where(self.other_title > 0, self.other_title + GAPS, 0)
        inside: NDArray[np.bool_] = np.arange(len(self.body)) < (ends - GAPS - other)[self.body_row]
        return inside

    def body_of(self, row: int) -> Numbers:
        """Return the numbers of one passage by place."""
        end = self.body_start[row + 1] if row + 1 < len(self) else len(self.body)
        return self.body[self.body_start[row] : end]


def _gathered(values: NDArray[T], starts: Places, sizes: Places) -> NDArray[T]:
    """Return slices of an array, concatenated."""
    ends = (starts + sizes).tolist()
    slices = (values[start:end] for start, end in zip(starts.tolist(), ends, strict=True))
    return np.concatenate([values[:0], *slices])


def _decoded(words: Words, starts: Places, sizes: Places) -> tuple[Numbers, Places]:
    """Return the numbers of the slices of words, concatenated, and the count of each slice."""
    found = _gathered(words, starts, sizes)
    numbers = found.astype(np.int32)
    [long] = np.nonzero(found >= TWO_WORDS)
    if not long.size:
        return numbers, sizes
    if long[-1] + 1 >= len(found):
        raise ValueError(DAMAGED)
    numbers[long] = ((numbers[long] - TWO_WORDS) << LOW_BITS) | numbers[long + 1]
    kept = np.ones(len(numbers), np.bool_)
    kept[long + 1] = False
    return numbers[kept], sizes - np.bincount(
        np.searchsorted(np.cumsum(sizes), long, side="right"), minlength=len(sizes)
    )


def tokens_of_row(
    row: bytes, layout: Sequence[str], terms: Callable[[Iterable[int]], list[str]]
) -> PassageTokens:
    """Return the tokens that a row was packed from.

    Args:
        row: row of the passage.
        layout: `PassageTokens.layout` of its tokens.
        terms: returns the terms of numbers, GAP for 0.
    """
    words, start = np.frombuffer(row, np.uint16), np.zeros(1, np.int64)
    header = _Header.read(words, start, start + len(words))
    body, title = (
        _decoded(words, start + HEADER + before, size)[0].tolist()
        for before, size in ((0, header.body), (header.body, header.title))
    )
    title, other = body[: header.title_size[0]] if header.in_body[0] else title, int(header.other_title[0])
    text_end = len(body) - GAPS - (other + GAPS if other else 0)
    parts = body[:text_end], title, body[text_end + GAPS :][:other]
    lines = []
    for numbers, positions in zip(parts, [*layout[::2], "", "", ""], strict=False):
        lines.append((TERM_SEPARATOR if positions else " ").join(terms(numbers)))
    return PassageTokens.of_layout(lines, layout)
