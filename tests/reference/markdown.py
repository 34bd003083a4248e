"""Markdown of the reference pages: tables, code, and the line that tells where a page is from."""

from collections.abc import Iterable, Sequence

GENERATED = "`make reference` generates this page from the code."


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; a bar within a cell is escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]


def code(text: str) -> str:
    """Return inline code; an empty text stays empty."""
    return f"`{text}`" if text else ""


def in_one_line(text: str) -> str:
    """Return a text without line breaks."""
    return " ".join(text.split())
