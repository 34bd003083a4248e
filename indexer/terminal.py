"""Text for a terminal: how wide it is drawn, tables of it, and rich's console where more is wanted."""

import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a search prints without it
    from rich.console import Console

WIDTH_OF_A_FILE = 160  # characters of a table's line where nobody's terminal bounds it
NO_WIDTH = frozenset({"Mn", "Me", "Cf"})
# Vowels and final consonants of decomposed Hangul are drawn into the syllable before them.
JAMO_BEHIND_INITIAL = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))


def console(*, stderr: bool = False) -> "Console":
    """Make a console for tables and colours; colours only where a person looks, wide lines elsewhere.

    What is printed is text, never markup: titles and questions hold square brackets.
    """
    from rich.console import Console

    screen = Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False)
    if not screen.is_terminal:
        screen.width = WIDTH_OF_A_FILE
    return screen


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes (UAX #11)."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in NO_WIDTH:
        return 0
    if any(ord(character) in jamo for jamo in JAMO_BEHIND_INITIAL):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def line_width() -> int:
    """Return the columns of the terminal that standard output is, those of a file's lines elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH_OF_A_FILE


def padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return cells in columns of these widths, two spaces between them."""
    return "  ".join(
        cell + " " * (width - display_width(cell)) for cell, width in zip(cells, widths, strict=True)
    )


def column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column of a table."""
    return [max(map(display_width, column)) for column in zip(*rows, strict=True)]


def wrap(text: str, width: int) -> list[str]:
    """Return a text in lines of at most `width` columns, cut between words; a longer word is not cut."""
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
