"""An answer while it grows: what a person can read of the JSON that has come so far."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic_core import from_json
from rich.text import Text

from generator.answers import SECTIONS
from generator.llm import Growth, OnText
from indexer.console import console
from indexer.progress import SHOWN_EVERY


def readable(text: str) -> str:
    """Return title and sentences of an answer that is cut off anywhere, a line each; "" before any."""
    begin = text.find("{")
    try:
        read: Any = from_json(text[begin:], allow_partial="trailing-strings") if begin >= 0 else {}
    except ValueError:
        read = {}
    if not isinstance(read, dict):
        return ""
    listed = (read.get(section) for section in SECTIONS)
    sentences = [one for part in listed if isinstance(part, list) for one in part if isinstance(one, dict)]
    texts = [read.get("title"), *(one.get("text") for one in sentences)]
    return "\n".join(one for one in texts if isinstance(one, str) and one)


def printable(line: str) -> str:
    """Keep what a model writes from steering the terminal."""
    return "".join(one if one.isprintable() else " " for one in line)


@contextmanager
def shown_growth() -> Iterator[OnText | None]:
    """Show on standard error, if that is a terminal, which call is under way and how much has come."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield None
        return
    with screen.status("searching", refresh_per_second=1 / SHOWN_EVERY) as status:

        def show(growth: Growth) -> None:
            line = readable(growth.text).rpartition("\n")[2] if growth.stage == "answer" else ""
            room = max(20, screen.width - 40)
            shown = line if len(line) <= room else f"…{line[-room:]}"
            status.update(Text(f"{growth.stage}: {growth.pieces} tokens  {printable(shown)}"))

        yield show
