"""Text in columns: display width, wrapped lines, tables."""

import shutil
import sys
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest

from base.terminal.output import visible

WIDTH_OF_A_FILE = 160  # columns of a table that is not written to a terminal
NARROWEST = 10  # minimal display width of a table column
NO_WIDTH = frozenset({"Mn", "Me", "Cf"})
# Vowels and final consonants of decomposed Hangul are displayed as part of the preceding syllable.
JAMO_BEHIND_INITIAL = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))


def display_width(text: str) -> int:
    """Return the display width of a text in terminal columns (UAX #11)."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in NO_WIDTH:
        return 0
    if any(ord(character) in jamo for jamo in JAMO_BEHIND_INITIAL):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def line_width() -> int:
    """Return the width of the terminal on standard output, or `WIDTH_OF_A_FILE` for a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH_OF_A_FILE


def table(rows: Sequence[Sequence[str]], *, words: int | None = None) -> list[str]:
    """Format the lines of a table; the first row is the header.

    The first `words` columns are left-aligned, the others right-aligned; without it all are left-aligned.
    """
    cells = [[visible(cell) for cell in row] for row in rows]
    widths = _widths(cells)
    return [_aligned(row, widths, words).rstrip() for row in cells]


def wrapped_table(rows: Sequence[Sequence[str]], *, words: int | None = None) -> list[list[str]]:
    """Format the lines of each row of a table, header first; the widest columns are wrapped to fit.

    The first `words` columns are left-aligned, as in `table`.
    """
    cells = [[visible(cell) for cell in row] for row in rows]
    widths = _fitting(_widths(cells))
    return [
        [
            _aligned(line, widths, words).rstrip()
            for line in zip_longest(*map(_cut, row, widths), fillvalue="")
        ]
        for row in cells
    ]


def _cut(cell: str, width: int) -> list[str]:
    return wrap(cell, width) or [""]


def _fitting(widths: Sequence[int]) -> list[int]:
    """Return column widths that fit the line; the widest columns are narrowed."""
    room = line_width() - 2 * (len(widths) - 1)
    fitting = [min(width, room) for width in widths]
    while sum(fitting) > room and max(fitting) > NARROWEST:
        fitting[fitting.index(max(fitting))] -= 1
    return fitting


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(display_width, column)) for column in zip(*rows, strict=True)]


def _aligned(cells: Sequence[str], widths: Sequence[int], words: int | None = None) -> str:
    aligned = []
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        filling = " " * (width - display_width(cell))
        aligned.append(cell + filling if words is None or place < words else filling + cell)
    return "  ".join(aligned)


def wrap(text: str, width: int) -> list[str]:
    """Wrap a text between words into lines of at most `width` columns; longer words are not cut."""
    lines: list[str] = []
    room = 0
    for word in text.split():
        needed = display_width(word) + 1
        if needed > room or not lines:
            lines.append(word)
            room = width - needed + 1
        else:
            lines[-1] += f" {word}"
            room -= needed
    return lines
