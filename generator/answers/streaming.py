"""Parsing of the JSON of an unfinished answer."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic_core import from_json

from generator.answers.answer import SECTIONS, Section
from generator.llm import Growth, OnText
from generator.llm.model import objects_in, without_thoughts

LONGEST_READ = 200_000  # characters of an unfinished answer that are parsed; long answers have a tenth
MOST_CLOSED = 32  # sentences of one object; an answer has half as many
MARKS = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
IN_A_SECTION = ["{", "["]  # open brackets after the end of a sentence


def readable(text: str) -> str:
    """Return title and sentences of an unfinished answer, one per line; "" before the first."""
    begin = text.find("{")
    try:
        read: Any = from_json(text[begin:], allow_partial="trailing-strings") if begin >= 0 else {}
    except ValueError:
        read = {}
    if not isinstance(read, dict):
        return ""
    sections = [read.get(section) for section in SECTIONS]
    listed = [sentence for section in sections if isinstance(section, list) for sentence in section]
    texts = [read.get("title"), *(each.get("text") for each in listed if isinstance(each, dict))]
    return "\n".join(line for line in texts if isinstance(line, str) and line)


class ClosedSentences:
    """Finds the ends of sentences in a growing answer; each character is scanned once."""

    def __init__(self) -> None:
        """Start with an empty text."""
        self._length = 0  # of the previous text
        self._restart()

    def _restart(self) -> None:
        self._seen, self._at = "", 0
        self._begin, self._closed = 0, 0
        self._in_string = False
        self._open: list[str] = []

    def grown(self, text: str) -> str | None:
        """Return the JSON up to the last complete sentence, closed, if it is new; else None.

        A text that does not continue the previous one, such as a repair, is scanned from its start.
        """
        # Reasoning may have some hundred thousand characters and ends no sentence.
        known, self._length = self._length if self._length <= len(text) else 0, len(text)
        if "}" not in text[known:]:
            return None
        text = (text if text.lstrip().startswith("{") else without_thoughts(text))[:LONGEST_READ]
        if not text.startswith(self._seen):
            self._restart()
        end = None
        for mark in MARKS.finditer(text, self._at):
            self._at = mark.end()
            if self._closes_a_sentence(mark[0], mark.start()):
                end = mark.end()
        self._at = max(self._at, len(text) - text.endswith("\\"))  # a backslash may be half of an escape
        self._seen = text
        return None if end is None else f"{text[self._begin : end]}]}}"

    def _closes_a_sentence(self, mark: str, place: int) -> bool:
        if mark == '"':
            self._in_string = not self._in_string and bool(self._open)
        elif self._in_string or len(mark) > 1:
            pass
        elif mark in "{[":
            if not self._open and mark == "{":
                self._begin, self._closed = place, 0
            if self._open or mark == "{":
                self._open.append(mark)
        elif self._open:
            self._open.pop()
            if mark == "}" and self._open == IN_A_SECTION:
                self._closed += 1
                return self._closed <= MOST_CLOSED
        return False


def sections_so_far(text: str, sections: Sequence[Section] = SECTIONS) -> dict[str, Any]:
    """Return the certain parts of JSON closed by `ClosedSentences`: `answered`, and the sections in order.

    Sections after one that is still missing are left out.
    """
    found, _ = objects_in(text)
    read: dict[str, Any] = found[0] if found else {}
    certain = {"answered": read["answered"]} if "answered" in read else {}
    for section in sections:
        if section not in read:
            break
        certain[section] = read[section]
        if section == next(reversed(read)):  # it may be incomplete
            break
    return certain


@asynccontextmanager
async def each_sentence(
    on_text: OnText | None, closed: Callable[[str], Awaitable[None]]
) -> AsyncIterator[OnText]:
    """Yield a listener that passes the JSON of an answer to `closed` after each complete sentence.

    The answer continues while `closed` is awaited; then `closed` gets only the newest JSON. Leaving the block
    cancels `closed` and waits for it.
    """
    reading, ended, newest = ClosedSentences(), asyncio.Event(), ""

    def listen(growth: Growth) -> None:
        nonlocal newest
        if on_text:
            on_text(growth)
        if (grown := reading.grown(growth.text)) is not None:
            newest = grown
            ended.set()

    async def follow() -> None:
        while True:
            await ended.wait()
            ended.clear()
            await closed(newest)

    following = asyncio.create_task(follow())
    try:
        yield listen
    finally:
        following.cancel()
        await asyncio.wait({following})
    if not following.cancelled():
        following.result()
