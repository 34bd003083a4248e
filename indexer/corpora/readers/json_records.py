"""Records in JSON: lines, arrays, and responses of an API that contain an array.

Crossref's responses contain the array in `message.items`, its dumps in `items`, OpenAlex's in `results`.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from indexer.corpora.readers.files import LINES_ENDINGS
from indexer.corpora.readers.items import TOO_DEEP, Found, is_deeper
from indexer.corpora.readers.streams import EXAMINED_BYTES, Stream

ARRAY_BYTES = 256 << 20  # read of a file with an array; a file of lines may have any size
# The start of an array of records, at the top or behind other values in an object and its `message`.
TEXT = r'"(?:[^"\\]|\\.)*+"'
FLAT = rf"(?:[^{{}}\"]|{TEXT})"
OBJECT = rf"\{{(?:{FLAT}|\{{(?:{FLAT}|\{{{FLAT}*+\}})*+\}})*+\}}"  # of three levels
VALUES = rf"(?:\s*{TEXT}\s*:\s*(?:{TEXT}|[\w.+-]+|{OBJECT})\s*,)*"
ARRAY = re.compile(
    rf'\s*(?:(?=\[)|\{{(?:{VALUES}\s*"message"\s*:\s*\{{)?{VALUES}\s*"(?:items|results)"\s*:\s*(?=\[\s*\{{))'
)
OBJECTS = re.compile(r"\s*(?=\{[ \t\r]*\n)")
BETWEEN = re.compile(r"[\s,]*")
SCANNER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)  # finds the ends of values
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
        head = stream.peek(EXAMINED_BYTES).decode("utf-8-sig", "replace")
        if ARRAY.match(head) or (stream.ending == ".json" and OBJECTS.match(head)):
            yield from _elements(stream)
            return
    for number, line, problem in stream.lines():
        yield number, line.rstrip(), problem


def _elements(stream: Stream) -> Iterator[tuple[int, bytes, str]]:
    """Yield (line from 1, element, problem or '') for each element of the arrays, or each of the objects.

    After a problem the rest of the file is not read. Around an array inside an object nothing is read.
    """
    content = bytearray()
    while (block := stream.read()) and len(content) <= ARRAY_BYTES:
        content += block
    text = content.decode("utf-8-sig", "surrogateescape")
    found = ARRAY.match(text, 0, EXAMINED_BYTES)
    is_inside, is_open = bool(found and found[0].strip()), False
    place, line = found.end() if found else 0, 1
    line += text.count("\n", 0, place)
    while True:
        begin = BETWEEN.match(text, place).end()  # type: ignore[union-attr]
        line += text.count("\n", place, begin)
        place = begin
        if text.startswith("]" if is_open else "[", place):
            if is_open and is_inside:
                return
            is_open, place = not is_open, place + 1
            continue
        if place == len(text) and not is_open and not stream.problem and not block:
            return
        end, problem = _end_of_value(text, place)
        if problem and (block or stream.problem):
            problem = (
                stream.problem or f"an array of more than {ARRAY_BYTES} bytes: make lines of its records"
            )
        elif not is_open and text[place : place + 1] != "{":
            problem = "text after the end of the array"
        size = EXAMINED_BYTES if problem else end - place
        yield line, text[place : place + size].encode("utf-8", "surrogateescape"), problem
        if problem:
            return
        line += text.count("\n", place, end)
        place = end


def _end_of_value(text: str, place: int) -> tuple[int, str]:
    """Return the end of a JSON value and the problem, '' without one."""
    try:
        return SCANNER.raw_decode(text, place)[1], ""
    except RecursionError:
        return 0, "nested too deeply"
    except json.JSONDecodeError as error:
        if error.pos >= len(text) or error.msg.startswith("Unterminated"):
            return 0, "the file ends within a record: it may be truncated"
        where = f"character {error.pos - place + 1} of the element"
        return 0, f"not JSON: {error.msg} at {where}; reading stops here"
