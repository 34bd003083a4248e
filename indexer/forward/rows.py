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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self
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
    title, names = _encoded([] if in_body else tokens.title), _named(tokens.names)
    flags = LANGUAGES.index(passage.lang) | (HAS_TEXT if passage.text.strip() else 0)
    flags |= TITLE_IN_BODY if in_body else 0
    flags |= tokens.title_name << TITLE_NAME_AT if tokens.title_name <= LONGEST_NAME else 0
    title_size = len(tokens.title) if in_body else len(title)
    title_sum = crc32(passage.title.encode()) if passage.title else 0
    header = [flags, passage.year or 0, len(names)]
    encoded = _encoded(body)
    for value in (len(encoded), title_size, len(tokens.other_title), title_sum):
        header += [value & WORD_MASK, value >> WORD_BITS]
    return np.concatenate([np.array(header, np.uint16), encoded, title, names]).tobytes()


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


def _named(names: Sequence[Name]) -> Words:
    return np.array(
        [
            (first << LENGTH_BITS) | (min(length, LONGEST_NAME) - 1)
            for first, length in names
            if first <= LAST_PLACE
        ],
        np.uint16,
    )


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
            raise ValueError("a row of a passage is damaged")
        ends = np.cumsum(sizes // 2)
        return cls.of_words(np.frombuffer(b"".join(rows), np.uint16), ends - sizes // 2, ends)

    @classmethod
    def of_words(cls, words: Words, starts: Places, ends: Places) -> Self:
        """Unpack the rows in `words` from each start to its end; ValueError as `of`."""
        if len(starts) == 0:
            return cls(*_nothing())
        if int((ends - starts).min()) < HEADER or int(ends.max()) > len(words):
            raise ValueError("a row of a passage is damaged")
        header = words[starts[:, None] + np.arange(HEADER)].astype(np.int64)
        flags, year, named = header.T[:3]
        body_words, title_size, other_title, same_title = (header[:, 3::2] | (header[:, 4::2] << WORD_BITS)).T
        in_body = (flags & TITLE_IN_BODY) > 0
        at = starts + HEADER
        title_words = np.where(in_body, 0, title_size)
        if (at + body_words + title_words + named != ends).any():
            raise ValueError("a row of a passage is damaged")
        body, counts = _decoded(words, at, body_words)
        row = np.arange(len(starts))
        body_row = np.repeat(row, counts)
        body_start = np.cumsum(counts) - counts
        name_words = _gathered(words, ends - named, named).astype(np.int64)
        first, length = name_words >> LENGTH_BITS, (name_words & (LONGEST_NAME - 1)) + 1
        name_row = np.repeat(row, named)
        language = flags & LANGUAGE_BITS
        if (
            (counts < GAPS + np.where(other_title > 0, other_title + GAPS, 0)).any()
            or (in_body & (title_size > counts)).any()
            or (first + length > counts[name_row]).any()
            or int(language.max()) >= len(LANGUAGES)
        ):
            raise ValueError("a row of a passage is damaged")
        title, title_counts = _decoded(words, at + body_words, title_words)
        if in_body.any():
            title, title_counts = _merged(title, title_counts, body, body_start, in_body, title_size)
        titled = title > 0
        title_row = np.repeat(row, title_counts)[titled]
        return cls(
            body=body,
            body_row=body_row,
            body_start=body_start,
            title=title[titled],
            title_row=title_row,
            name_place=body_start[name_row] + first,
            name_length=length,
            name_row=name_row,
            length=np.add.reduceat(body > 0, body_start, dtype=np.int64),
            title_length=np.bincount(title_row, minlength=len(row)),
            other_title=other_title,
            language=language,
            year=year,
            has_text=(flags & HAS_TEXT) > 0,
            same_title=same_title,
            title_name=flags >> TITLE_NAME_AT,
        )

    def __len__(self) -> int:
        return len(self.body_start)

    def joined(self, other: Self) -> Self:
        """Return these rows, followed by others."""
        rows, places = len(self), len(self.body)
        offsets = {
            "body_row": rows,
            "title_row": rows,
            "name_row": rows,
            "body_start": places,
            "name_place": places,
        }
        names = [field.name for field in fields(self)]
        return type(self)(
            *(
                np.concatenate([getattr(self, name), getattr(other, name) + offsets[name]])
                if name in offsets
                else np.concatenate([getattr(self, name), getattr(other, name)])
                for name in names
            )
        )

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


def _nothing() -> tuple[Any, ...]:
    none, numbers = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return numbers, none, none, numbers, *[none] * 9, np.zeros(0, np.bool_), none, none


def _gathered(words: Words, starts: Places, sizes: Places) -> Words:
    """Return the slices of words, concatenated."""
    ends = (starts + sizes).tolist()
    return np.concatenate([words[start:end] for start, end in zip(starts.tolist(), ends, strict=True)])


def _decoded(words: Words, starts: Places, sizes: Places) -> tuple[Numbers, Places]:
    """Return the numbers of the slices of words, concatenated, and the count of each slice."""
    found = _gathered(words, starts, sizes)
    numbers = found.astype(np.int32)
    [long] = np.nonzero(found >= TWO_WORDS)
    if not long.size:
        return numbers, sizes
    if long[-1] + 1 >= len(found):
        raise ValueError("a row of a passage is damaged")
    numbers[long] = ((numbers[long] - TWO_WORDS) << LOW_BITS) | numbers[long + 1]
    kept = np.ones(len(numbers), np.bool_)
    kept[long + 1] = False
    return numbers[kept], sizes - np.bincount(
        np.searchsorted(np.cumsum(sizes), long, side="right"), minlength=len(sizes)
    )


def _merged(
    numbers: Numbers,
    counts: Places,
    others: Numbers,
    starts: Places,
    from_others: NDArray[np.bool_],
    sizes: Places,
) -> tuple[Numbers, Places]:
    """Return the slices of `numbers`, some of them replaced by slices of `others`, and the new counts.

    Args:
        numbers: slices of `counts`, concatenated.
        counts: size of each slice.
        others: array with the replacements.
        starts, sizes: position of each slice in `others`.
        from_others: whether a slice is taken from `others`.
    """
    at = np.where(from_others, starts, np.cumsum(counts) - counts).tolist()
    counts = np.where(from_others, sizes, counts)
    pieces = zip(at, counts.tolist(), from_others.tolist(), strict=True)
    return np.concatenate(
        [(others if other else numbers)[start : start + size] for start, size, other in pieces]
    ), counts


def tokens_of_row(
    row: bytes, layout: Sequence[str], terms: Callable[[Sequence[int]], list[str]]
) -> PassageTokens:
    """Return the tokens that a row was packed from.

    Args:
        row: row of the passage.
        layout: `PassageTokens.layout` of its tokens.
        terms: returns the terms of numbers, GAP for 0.
    """
    body, title, other = _numbers_of_row(row)
    text_end = len(body) - GAPS - (other + GAPS if other else 0)
    parts = body[:text_end], title, body[text_end + GAPS :][:other]
    lines = []
    for numbers, positions in zip(parts, [*layout[::2], "", "", ""], strict=False):
        lines.append((TERM_SEPARATOR if positions else " ").join(terms(numbers)))
    return PassageTokens.of_layout(lines, layout)


def _numbers_of_row(row: bytes) -> tuple[list[int], list[int], int]:
    """Return the numbers of body and title by position, 0 for a gap, and the size of the other title."""
    words = np.frombuffer(row, np.uint16).tolist()
    flags, _, named, *sizes = words[: HEADER - 2]
    body_words, title_size, other = (
        low | (high << WORD_BITS) for low, high in zip(sizes[::2], sizes[1::2], strict=True)
    )
    title_words = 0 if flags & TITLE_IN_BODY else title_size
    if len(words) != HEADER + body_words + title_words + named:
        raise ValueError("a row of a passage is damaged")
    body = _numbers(words[HEADER : HEADER + body_words])
    title = _numbers(words[HEADER + body_words :][:title_words]) if title_words else body[:title_size]
    return body, title if title_size else [], other


def _numbers(words: list[int]) -> list[int]:
    if not words or max(words) < TWO_WORDS:
        return words
    rest = iter(words)
    return [word if word < TWO_WORDS else ((word - TWO_WORDS) << LOW_BITS) | next(rest, 0) for word in rest]
