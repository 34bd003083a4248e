"""Server-sent events: what stands behind `data:` in a stream of bytes (WHATWG HTML, section 9.2).

Of an event only its data are read; a chat completion gives it no name, no id and no time to reconnect.
"""

import codecs
import io
from collections.abc import AsyncGenerator, AsyncIterable

CONTENT_TYPE = "text/event-stream"
MOST_BYTES = 4_000_000  # of an event, or of a whole answer; an answer never comes near it


class TooLong(ValueError):
    """An event or an answer goes on without end."""


async def read_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[str, None]:
    """Yield the data of each event; one that the stream's end cuts off is dropped, as the standard says.

    Raises:
        TooLong: an event holds more than MOST_BYTES.
    """
    utf8 = codecs.getincrementaldecoder("utf-8-sig")("replace")
    decoder = io.IncrementalNewlineDecoder(utf8, translate=True)
    rest, data = "", list[str]()
    async for piece in pieces:
        *lines, rest = (rest + decoder.decode(piece)).split("\n")
        for line in lines:
            name, _, value = line.partition(":")
            if name == "data":  # a comment has no name before its colon
                data.append(value.removeprefix(" "))
            elif not line and data:
                yield "\n".join(data)
                data = []
        if len(rest) + sum(map(len, data)) > MOST_BYTES:
            raise TooLong(f"an event of more than {MOST_BYTES:,} bytes")


async def read_whole(pieces: AsyncIterable[bytes]) -> bytes:
    """Return all that comes; TooLong where that is more than MOST_BYTES."""
    content = bytearray()
    async for piece in pieces:
        content += piece
        if len(content) > MOST_BYTES:
            raise TooLong(f"more than {MOST_BYTES:,} bytes")
    return bytes(content)
