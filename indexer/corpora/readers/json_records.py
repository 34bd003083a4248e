"""Records in JSON: lines, arrays, and responses of an API that contain an array, read in pieces.

Crossref's responses contain the array in `message.items`, its dumps in `items`, OpenAlex's in `results`.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from indexer.corpora.readers.files import LINES_ENDINGS
from indexer.corpora.readers.items import TOO_DEEP, Found, is_deeper
from indexer.corpora.readers.streams import EXAMINED_BYTES, LINE_BYTES, Stream

ARRAYS = frozenset({"items", "results"})
AROUND = "message"  # the object that contains Crossref's array
KEY = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)"\s*:\s*')
FIRST_RECORD = re.compile(r"\[\s*{")
INDENTED = re.compile(r"\s*\{[ \t\r]*\n")
BETWEEN = re.compile(r"[\s,]*")
MARK = "\xef\xbb\xbf"  # the byte order mark in Latin-1
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
    if math.isinf(value):
        raise ValueError(f"a number out of range: {number[:20]}")
    return value


def _bounded(number: str) -> int:
    if len(number) > LONGEST_NUMBER:
        raise ValueError(f"Exceeds the limit of {LONGEST_NUMBER:,} digits: a number of {len(number):,}")
    return int(number)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


DECODER = json.JSONDecoder(parse_float=_finite, parse_int=_bounded, parse_constant=_refuse_constant)


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
    place = _after_space(text, len(MARK) if text.startswith(MARK) else 0)
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


def _after_space(text: str, place: int) -> int:
    found = BETWEEN.match(text, place)
    return found.end() if found else place


def _elements(stream: Stream, start: int) -> Iterator[tuple[int, bytes, str]]:
    """Yield (line from 1, element, problem or '') for each element of the arrays or objects at `start`.

    After a problem the rest of the file is not read. Around an array inside an object nothing is read.
    """
    text = _Text(stream)
    try:
        is_inside = text.take(start).strip(MARK + " \t\r\n") != ""
        while (opening := text.character()) in {"[", "{"}:
            if opening == "[":
                text.take(1)
            while text.character() not in ({"]"} if opening == "[" else {"", "["}):
                end, line = text.end_of_value(), text.line
                yield line, text.take(end).encode("latin-1"), ""
            if opening == "[":
                text.take(1)
            if is_inside:
                return
        if opening:
            raise NoRecord("text after the end of the array")  # noqa: TRY301
        if stream.problem:
            raise NoRecord(stream.problem)  # noqa: TRY301
    except NoRecord as error:
        yield text.line, text.take(EXAMINED_BYTES).encode("latin-1"), str(error)


class _Text:
    """The text of a stream from the current place on, which is in the line `line`."""

    def __init__(self, stream: Stream) -> None:
        self.line = 1
        self._stream = stream
        self._text = ""
        self._place = 0

    def take(self, count: int) -> str:
        """Return the next characters, and continue after them."""
        while len(self._text) - self._place < count and self._read_more():
            pass
        taken = self._text[self._place : self._place + count]
        self._place += count
        self.line += taken.count("\n")
        return taken

    def character(self) -> str:
        """Skip white space and commas; return the next character, '' at the end of the file."""
        while True:
            self.take(_after_space(self._text, self._place) - self._place)
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._read_more():
                return ""

    def end_of_value(self) -> int:
        """Return the length of the value at the current place. Raises `NoRecord` without one."""
        while True:
            try:
                _, end = SCANNER.raw_decode(self._text, self._place)
            except RecursionError:
                raise NoRecord("nested too deeply") from None
            except json.JSONDecodeError as error:
                at_end, character = error.pos >= len(self._text), error.pos - self._place + 1
                if self._read_more():
                    continue
                if self._stream.problem:
                    raise NoRecord(self._stream.problem) from None
                if at_end or error.msg.startswith("Unterminated"):
                    raise NoRecord("the file ends within a record: it may be truncated") from None
                where = f"character {character} of the element"
                raise NoRecord(f"not JSON: {error.msg} at {where}; reading stops here") from None
            if end < len(self._text) or self._text[end - 1] in '}]"' or not self._read_more():
                return end - self._place

    def _read_more(self) -> bool:
        """Double the text, at least by a block; False at the end of the file."""
        self._text, self._place = self._text[self._place :], 0
        if len(self._text) > LINE_BYTES:
            raise NoRecord(f"an element of more than {LINE_BYTES} bytes")
        blocks, length = [], 0
        while length <= len(self._text) and (block := self._stream.read()):
            blocks.append(block)
            length += len(block)
        self._text += b"".join(blocks).decode("latin-1")
        return bool(blocks)
