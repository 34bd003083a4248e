"""Text in columns: display width, wrapped lines, tables."""

import shutil
import sys
from collections.abc import Sequence
from itertools import zip_longest

from base.terminal.output import visible

WIDTH_OF_A_FILE = 160  # columns of a table that is not written to a terminal
NARROWEST = 10  # minimal display width of a table column


def display_width(text: str) -> int:
    """Return the display width of a text in terminal columns."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def line_width() -> int:
    """Return the width of the terminal on standard output, or `WIDTH_OF_A_FILE` for a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH_OF_A_FILE


def table(rows: Sequence[Sequence[str]], *, words: int | None = None) -> list[str]:
    """Format the lines of a table; the first row is the header.

    The first `words` columns are left-aligned, the others right-aligned; without it all are left-aligned.
    """
    return [line for (line,) in _formatted([[[visible(cell)] for cell in row] for row in rows], words)]


def wrapped_table(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Format the lines of each row of a table, header first; the widest columns are wrapped to fit."""
    cells = [[visible(cell) for cell in row] for row in rows]
    room = line_width() - 2 * (len(cells[0]) - 1)
    widths = [min(max(map(display_width, column)), room) for column in zip(*cells, strict=True)]
    while sum(widths) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    wrapped = [[wrap(*cell) or [""] for cell in zip(row, widths, strict=True)] for row in cells]
    return _formatted(wrapped, None)


def _formatted(rows: Sequence[Sequence[Sequence[str]]], words: int | None) -> list[list[str]]:
    """Align rows of cells, which have one line or several."""
    columns = zip(*rows, strict=True)
    widths = [max(display_width(line) for cell in column for line in cell) for column in columns]

    def aligned(line: Sequence[str]) -> str:
        cells = []
        for place, (cell, width) in enumerate(zip(line, widths, strict=True)):
            filling = " " * (width - display_width(cell))
            cells.append(cell + filling if words is None or place < words else filling + cell)
        return "  ".join(cells).rstrip()

    return [[aligned(line) for line in zip_longest(*row, fillvalue="")] for row in rows]


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
