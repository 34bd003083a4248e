"""Parsing of the JSON of an unfinished answer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import takewhile
from typing import Any

from pydantic_core import from_json

from generator.answers.answer import SECTIONS, Section
from generator.llm import Growth, OnText
from generator.llm.reading import without_thoughts

LONGEST_READ = 200_000  # characters of an unfinished answer that are parsed; long answers have a tenth
PARTS = {"text", "citations"}  # of a complete sentence


def partial_json(text: str, *, strings: bool = False) -> dict[str, Any]:
    """Return the object that an unfinished text starts, without its unfinished values; {} if there is none.

    With `strings` an unfinished string is kept as far as it goes.
    """
    if "{" not in text:  # reasoning may have some hundred thousand characters
        return {}
    text = text if text.lstrip().startswith("{") else without_thoughts(text)
    begin = text.find("{")
    try:
        allow: Any = "trailing-strings" if strings else True
        read = from_json(text[begin : begin + LONGEST_READ], allow_partial=allow) if begin >= 0 else {}
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def readable(text: str) -> str:
    """Return title and sentences of an unfinished answer, one per line; "" before the first."""
    read = partial_json(text, strings=True)
    sections = [read.get(section) for section in SECTIONS]
    listed = [sentence for section in sections if isinstance(section, list) for sentence in section]
    texts = [read.get("title"), *(each.get("text") for each in listed if isinstance(each, dict))]
    return "\n".join(line for line in texts if isinstance(line, str) and line)


def sections_so_far(text: str, sections: Sequence[Section]) -> dict[str, Any]:
    """Return the certain parts of an unfinished answer: `answered`, and the complete sentences in order.

    A section that is missing before a later one is empty. Nothing is certain after the first incomplete
    sentence, or after a section that is no list: its order would change.
    """
    read = partial_json(text[: text.rfind("}") + 1])  # up to the end of a sentence
    certain = {"answered": read["answered"]} if "answered" in read else {}
    there = [section for section in sections if section in read]
    for section in sections[: sections.index(there[-1]) + 1] if there else ():
        listed = read.get(section, [])
        complete = isinstance(listed, list) and list(takewhile(_is_sentence, listed))
        certain[section] = complete or []
        if complete != listed or section == next(reversed(read)):  # it may be incomplete
            break
    return certain


def _is_sentence(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= PARTS


@asynccontextmanager
async def each_sentence(
    on_text: OnText | None, closed: Callable[[str], Awaitable[None]]
) -> AsyncIterator[OnText]:
    """Yield a listener that passes the text of an answer to `closed` after each closing brace.

    The answer continues while `closed` is awaited; then `closed` gets only the newest text. Leaving the block
    cancels `closed` and waits for it.
    """
    ended, newest = asyncio.Event(), ""

    def listen(growth: Growth) -> None:
        nonlocal newest
        if on_text:
            on_text(growth)
        before, newest = len(newest), growth.text
        if "}" in growth.text[before if before <= len(growth.text) else 0 :]:
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
