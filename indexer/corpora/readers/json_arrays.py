"""Elements of a JSON array, read in pieces: an array, or a response of an API that contains one.

Crossref's responses contain the array in `message.items`, its dumps in `items`, OpenAlex's in `results`.
"""

import json
import re
from collections.abc import Iterator

from indexer.corpora.readers.lines import BYTE_ORDER_MARK, LINE_BYTES
from indexer.corpora.readers.streams import Damaged, Stream

HEAD_BYTES = 1 << 16  # examined for the start of the array
ARRAYS = frozenset({"items", "results"})
AROUND = "message"  # the object that contains Crossref's array
KEY = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)"\s*:\s*')
FIRST_RECORD = re.compile(r"\[\s*{")
ARRAY_OF_RECORDS = re.compile(rb"\[\s*[{\]]")
BETWEEN = re.compile(r"[\s,]*")
CLOSED = frozenset('}]"')  # last characters of values that cannot continue
# Finds the ends of values. Bytes are decoded as Latin-1, so that places in the text are places in the file.
SCANNER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def array_in(head: bytes) -> int | None:
    """Return the place of the array of records in the start of a file, None without one."""
    text = head.decode("latin-1")
    place = len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0
    place = _after_space(text, place)
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


def elements(stream: Stream, start: int) -> Iterator[tuple[int, bytes, str]]:
    """Yield (line from 1, element, problem or '') for each element of the arrays or objects at `start`.

    After a problem the rest of the file is not read. Around an array inside an object nothing is read.
    """
    text = _Text(stream)
    try:
        inside = text.skip(start).strip("\xef\xbb\xbf \t\r\n") != ""
        while (opening := text.character()) in {"[", "{"}:
            text.skip(1 if opening == "[" else 0)
            while text.character() not in ({"]"} if opening == "[" else {"", "["}):
                end = text.end_of_value()
                line = text.line
                yield line, text.skip(end).encode("latin-1"), ""
            text.skip(1 if opening == "[" else 0)
            if inside:
                return
        if text.character():
            yield text.line, text.head(), "text after the end of the array"
    except _Unreadable as error:
        yield text.line, text.head(), str(error)


class _Unreadable(Exception):
    """The rest of the array cannot be read; the message is the reason."""


class _Text:
    """The text of a stream from the current place on, which is in the line `line`."""

    def __init__(self, stream: Stream) -> None:
        self.line = 1
        self._stream = stream
        self._text = ""
        self._place = 0

    def head(self) -> bytes:
        return self._text[self._place : self._place + HEAD_BYTES].encode("latin-1")

    def skip(self, count: int) -> str:
        """Return the next characters, and continue after them."""
        while len(self._text) - self._place < count and self._read_more():
            pass
        skipped = self._text[self._place : self._place + count]
        self._place += count
        self.line += skipped.count("\n")
        return skipped

    def character(self) -> str:
        """Skip white space and commas; return the next character, '' at the end of the file."""
        while True:
            self.skip(_after_space(self._text, self._place) - self._place)
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._read_more():
                return ""

    def end_of_value(self) -> int:
        """Return the length of the value at the current place."""
        while True:
            try:
                _, end = SCANNER.raw_decode(self._text, self._place)
            except RecursionError:
                raise _Unreadable("nested too deeply") from None
            except json.JSONDecodeError as error:
                at_end, character = error.pos >= len(self._text), error.pos - self._place + 1
                if self._read_more():
                    continue
                if at_end or error.msg.startswith("Unterminated"):
                    raise _Unreadable("the file ends within a record: it may be truncated") from None
                where = f"character {character} of the element"
                raise _Unreadable(f"not JSON: {error.msg} at {where}; reading stops here") from None
            if end < len(self._text) or self._text[end - 1] in CLOSED or not self._read_more():
                return end - self._place

    def _read_more(self) -> bool:
        """Double the text, at least by a block; False at the end of the file."""
        self._text, self._place = self._text[self._place :], 0
        if len(self._text) > LINE_BYTES:
            raise _Unreadable(f"an element of more than {LINE_BYTES} bytes")
        blocks, length = [], 0
        try:
            while length <= len(self._text) and (block := self._stream.read()):
                blocks.append(block)
                length += len(block)
        except Damaged as error:
            if not blocks:
                raise _Unreadable(str(error)) from None
        self._text += b"".join(blocks).decode("latin-1")
        return bool(blocks)
