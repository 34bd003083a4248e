"""Records in JSON: lines, arrays, and responses of an API that contain an array, read in pieces.

Crossref's responses contain the array in `message.items`, its dumps in `items`, OpenAlex's in `results`.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from indexer.corpora.readers.files import LINES_ENDINGS
from indexer.corpora.readers.items import TOO_DEEP, Found, is_deeper
from indexer.corpora.readers.streams import EXAMINED_BYTES, LINE_BYTES, Stream

ARRAYS = frozenset({"items", "results"})
AROUND = "message"  # the object that contains Crossref's array
KEY = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)"\s*:\s*')
FIRST_RECORD = re.compile(r"\[\s*{")
INDENTED = re.compile(r"\s*\{[ \t\r]*\n")
MARK = "\xef\xbb\xbf"  # the byte order mark in Latin-1
BETWEEN, BETWEEN_OR_MARK = re.compile(r"[\s,]*"), re.compile(rf"[\s,{MARK}]*")
LONGEST_TOKEN = 12  # an escaped character outside of the Basic Multilingual Plane
# Finds the ends of values. Bytes are decoded as Latin-1, so that places in the text are places in the file.
SCANNER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
LONGEST_NUMBER = 4_000  # digits, slightly below Python's limit
KIND_OF_VALUE = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a truth value"}


class NoRecord(ValueError):
    """The text is not a record; the message is the reason."""


def read_records(
    stream: Stream, renamed: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda record: record
) -> Iterator[Found]:
    """Read each record of `record_lines`; `renamed` converts its keys to Paper's."""
    for number, line, problem in record_lines(stream):
        try:
            yield number, line, problem or renamed(parse_record(line))
        except NoRecord as error:
            yield number, line, str(error)


def parse_record(line: bytes) -> dict[str, Any]:
    """Parse one JSON object (RFC 8259: UTF-8, no NaN, no Infinity). Raises `NoRecord`."""
    try:
        value = DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise NoRecord(f"invalid UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise NoRecord(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise NoRecord(TOO_DEEP) from None
    except ValueError as error:
        raise NoRecord(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise NoRecord(f"not a JSON object but {KIND_OF_VALUE.get(type(value), 'null')}")
    if is_deeper(value):
        raise NoRecord(TOO_DEEP)
    return value


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number[:20]} is not a JSON value, or out of range")
    return value


def _bounded(number: str) -> int:
    if len(number) > LONGEST_NUMBER:
        raise ValueError(f"Exceeds the limit of {LONGEST_NUMBER:,} digits: a number of {len(number):,}")
    return int(number)


DECODER = json.JSONDecoder(parse_float=_finite, parse_int=_bounded, parse_constant=_finite)


def record_lines(stream: Stream) -> Iterator[tuple[int, bytes, str]]:
    """Yield the records as (line from 1, bytes, problem or ''): non-blank lines, or elements of an array.

    A file that starts with `[`, or a response of an API with an array of records, has its elements as
    records, a `.json` file whose first line is a single `{` has objects, unless its ending means lines.
    """
    if stream.ending not in LINES_ENDINGS:
        head = stream.peek(EXAMINED_BYTES).decode("latin-1")
        start = array_in(head)
        if start is None and stream.ending == ".json" and INDENTED.match(head.removeprefix(MARK)):
            start = 0
        if start is not None:
            yield from _elements(stream, start)
            return
    for number, line, problem in stream.lines():
        yield number, line.rstrip(), problem


def array_in(text: str) -> int | None:
    """Return the place of the array of records in the start of a file in Latin-1, None without one."""
    place = _after(BETWEEN, text, len(MARK) if text.startswith(MARK) else 0)
    if not text.startswith("{", place):
        return place if text.startswith("[", place) else None
    place += 1
    while key := KEY.match(text, place):
        place = key.end()
        if key[1] in ARRAYS and FIRST_RECORD.match(text, place):
            return place
        if key[1] == AROUND and text.startswith("{", place):
            place += 1
            continue
        try:
            _, place = SCANNER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return None
    return None


def _after(skipped: re.Pattern[str], text: str, place: int) -> int:
    found = skipped.match(text, place)
    return found.end() if found else place


def _elements(stream: Stream, start: int) -> Iterator[tuple[int, bytes, str]]:
    """Yield (line from 1, element, problem or '') for each element of the arrays or objects at `start`.

    After a problem the rest of the file is not read. Around an array inside an object nothing is read.
    """
    text, place, is_open = stream.read().decode("latin-1"), start, False
    line = 1 + text.count("\n", 0, start)
    is_inside = text[:start].strip(MARK + " \t\r\n") != ""
    between = BETWEEN if is_inside else BETWEEN_OR_MARK
    while True:
        begin = _after(between, text, place)
        line += text.count("\n", place, begin)
        place = begin
        if text.startswith("]" if is_open else "[", place):
            if is_open and is_inside:
                return
            is_open, place = not is_open, place + 1
            continue
        end, problem, is_cut = _end_of_value(text, place)
        if not is_open and place < len(text) and text[place] != "{":
            problem, is_cut = "text after the end of the array", False
        if is_cut and stream.peek(len(text) - place + 1):  # twice as much
            text, place = text[place:] + stream.read().decode("latin-1"), 0
            if len(text) <= LINE_BYTES:
                continue
            problem = f"an element of more than {LINE_BYTES} bytes"
        elif is_cut and place == len(text) and not is_open and not stream.problem:
            return
        problem = is_cut * stream.problem or problem
        size = EXAMINED_BYTES if problem else end - place
        yield line, text[place : place + size].encode("latin-1"), problem
        if problem:
            return
        line += text.count("\n", place, end)
        place = end


def _end_of_value(text: str, place: int) -> tuple[int, str, bool]:
    """Return the end of a JSON value, the problem or '', and whether the value may go on behind the text."""
    try:
        _, end = SCANNER.raw_decode(text, place)
    except RecursionError:
        return 0, "nested too deeply", False
    except json.JSONDecodeError as error:
        is_cut = error.pos > len(text) - LONGEST_TOKEN or error.msg.startswith("Unterminated")
        if error.pos >= len(text) or error.msg.startswith("Unterminated"):
            return 0, "the file ends within a record: it may be truncated", is_cut
        where = f"character {error.pos - place + 1} of the element"
        return 0, f"not JSON: {error.msg} at {where}; reading stops here", is_cut
    return end, "", end == len(text) and text[end - 1] not in '}]"'
