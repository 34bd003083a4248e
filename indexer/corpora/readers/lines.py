"""Numbered lines of a stream, with bounded length."""

import re
from collections.abc import Iterator

from indexer.corpora.readers.items import HEAD_BYTES
from indexer.corpora.readers.streams import Damaged, Stream

LINE_BYTES = 64 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
EMPTY_LINES = re.compile(rb"[\r\n]*\n")
BLANK_LINES = re.compile(rb"\s*\n")


def numbered_lines(
    stream: Stream, blank: re.Pattern[bytes] = EMPTY_LINES
) -> Iterator[tuple[int, bytes, str]]:
    """Yield (number from 1, line without its line feed, problem or '').

    Consecutive lines that match `blank` are yielded as one, with the line feeds between them and the number
    of the first, as a compressed file may contain hundreds of millions. Of a line over 64 MiB only the head
    is kept. If the stream ends early, the incomplete line is the last one. A byte order mark at the start is
    dropped.
    """
    number = 0
    begun: list[bytes] = []
    length = 0
    problem = ""
    while True:
        try:
            block = stream.read()
        except Damaged as error:
            problem = str(error)
            break
        if not block:
            break
        end = block.find(b"\n")
        first = block if end < 0 else block[:end]
        begun.append(first)
        length += len(first)
        if length > LINE_BYTES:
            begun = [b"".join(begun)[:HEAD_BYTES]]
        if end < 0:
            continue
        number += 1
        yield number, _begins(number, b"".join(begun)), _too_long(length)
        place = end + 1
        while (end := _end_of_line(block, place, blank)) >= 0:
            yield number + 1, block[place:end], ""
            number += block.count(b"\n", place, end + 1)
            place = end + 1
        begun, length = [block[place:]], len(block) - place
    if length or problem:
        yield number + 1, _begins(number + 1, b"".join(begun)), problem or _too_long(length)


def _end_of_line(block: bytes, place: int, blank: re.Pattern[bytes]) -> int:
    """Return the place of the line feed that ends a line or consecutive blank lines; -1 without one."""
    lines = blank.match(block, place)
    return lines.end() - 1 if lines else block.find(b"\n", place)


def _begins(number: int, line: bytes) -> bytes:
    return line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def _too_long(length: int) -> str:
    return f"a line of {length} bytes, the limit is {LINE_BYTES}" if length > LINE_BYTES else ""
