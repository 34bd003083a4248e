"""Lines of a stream, numbered, none of them longer than what memory should hold."""

from collections.abc import Iterator

from indexer.readers.items import HEAD_BYTES
from indexer.readers.streams import Damaged, Stream

LINE_BYTES = 64 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def numbered_lines(stream: Stream) -> Iterator[tuple[int, bytes, str]]:
    """Yield (number from 1, line without its line feed, what is wrong with it or '').

    Of a line over 64 MiB only the head is kept; where the stream breaks off, the line begun is the last
    one. A byte order mark at the start is dropped.
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
        first, *others = block.split(b"\n")
        begun.append(first)
        length += len(first)
        if length > LINE_BYTES:
            begun = [b"".join(begun)[:HEAD_BYTES]]
        if not others:
            continue
        number += 1
        yield number, _begins(number, b"".join(begun)), _too_long(length)
        for line in others[:-1]:
            number += 1
            yield number, line, ""
        begun, length = [others[-1]], len(others[-1])
    if length or problem:
        yield number + 1, _begins(number + 1, b"".join(begun)), problem or _too_long(length)


def _begins(number: int, line: bytes) -> bytes:
    return line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def _too_long(length: int) -> str:
    return f"a line of {length} bytes, the limit is {LINE_BYTES}" if length > LINE_BYTES else ""
