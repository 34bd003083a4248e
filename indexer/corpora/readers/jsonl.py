"""JSON lines or arrays of records, with the keys of Paper or of a known corpus."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias

from indexer.corpora.readers.folders import LINES_ENDINGS
from indexer.corpora.readers.items import TOO_DEEP, Item, dead_letter, is_deeper, make_item
from indexer.corpora.readers.json_arrays import HEAD_BYTES, array_in, elements
from indexer.corpora.readers.lines import BLANK_LINES, numbered_lines
from indexer.corpora.readers.streams import Damaged, Stream

# Renames the keys of a corpus to Paper's.
Renaming: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]

INDENTED = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{[ \t\r]*\n")
LONGEST_NUMBER = 4_000  # digits, slightly below Python's limit
KIND_OF_VALUE = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a truth value"}


class NoRecord(ValueError):
    """The line is not a record; the message is the reason."""


def read_jsonl(stream: Stream) -> Iterator[Item]:
    """Read records with Paper's keys and their aliases."""
    return read_records(stream, lambda record: record)


def read_records(stream: Stream, renamed: Renaming) -> Iterator[Item]:
    """Read each record of `record_lines` with its keys `renamed`; invalid ones are dead letters."""
    for number, line, problem in record_lines(stream):
        if problem:
            yield dead_letter(stream.name, number, problem, line)
            continue
        try:
            record = parse_record(line)
        except NoRecord as error:
            yield dead_letter(stream.name, number, str(error), line)
        else:
            yield make_item(renamed(record), stream.name, number, line)


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


def record_lines(stream: Stream) -> Iterator[tuple[int, bytes, str]]:
    """Yield the records as (line from 1, bytes, problem or ''): non-blank lines, or elements of an array.

    A file that starts with `[`, or a response of an API with an array of records, has its elements as
    records, a `.json` file whose first line is a single `{` has objects, unless its ending means lines.
    """
    if stream.ending not in LINES_ENDINGS:
        try:
            head = stream.peek(HEAD_BYTES)
        except Damaged as error:
            yield 1, b"", str(error)
            return
        start = array_in(head)
        if start is None and stream.ending == ".json" and INDENTED.match(head):
            start = 0
        if start is not None:
            yield from elements(stream, start)
            return
    for number, raw, problem in numbered_lines(stream, BLANK_LINES):
        if (line := raw.rstrip()) or problem:
            yield number, line, problem


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
