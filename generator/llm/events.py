"""Server-sent events: what stands behind `data:` in a stream of bytes (WHATWG HTML, section 9.2).

Of an event only its data are read; a chat completion gives it no name, no id and no time to reconnect.
"""

from collections.abc import AsyncGenerator, AsyncIterable
from typing import Final

CONTENT_TYPE: Final = "text/event-stream"
LONGEST_EVENT = 4_000_000  # bytes; an answer's next words never come near it
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventTooLong(ValueError):
    """An event goes on without end."""


class EventReader:
    """Takes a stream apart as it comes, in pieces cut anywhere."""

    def __init__(self) -> None:
        self._rest = b""  # of a line whose end has not come
        self._data: list[bytes] = []
        self._at_beginning = True

    def feed(self, piece: bytes) -> list[str]:
        """Return the data of the events that end within this piece.

        Raises:
            EventTooLong: an event holds more than LONGEST_EVENT bytes.
        """
        text = self._rest + piece
        if self._at_beginning:
            if len(text) < len(BYTE_ORDER_MARK) and BYTE_ORDER_MARK.startswith(text):
                self._rest = text
                return []
            text = text.removeprefix(BYTE_ORDER_MARK)
            self._at_beginning = False
        # The "\r" at the end of a piece may be half of "\r\n".
        held = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, last = text.split(b"\n")
        self._rest = last + held
        events = [event for line in lines if (event := self._line(line)) is not None]
        if len(self._rest) + sum(map(len, self._data)) > LONGEST_EVENT:
            raise EventTooLong(f"an event of more than {LONGEST_EVENT:,} bytes")
        return events

    def _line(self, line: bytes) -> str | None:
        if not line:
            data, self._data = self._data, []
            return b"\n".join(data).decode("utf-8", "replace") if data else None
        field, _, value = line.partition(b":")
        if field == b"data":  # a comment has no name before its colon
            self._data.append(value.removeprefix(b" "))
        return None


async def read_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[str, None]:
    """Yield the data of each event; one that the stream's end cuts off is dropped, as the standard says."""
    reader = EventReader()
    async for piece in pieces:
        for event in reader.feed(piece):
            yield event
