"""Servers that answer wrongly, at the socket: a table of faults, each of which may go on for ever."""

import gzip
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, count, repeat
from socket import socket

BLOCK = b"x" * 65_536
ZEROS = gzip.compress(bytes(100_000_000))
DEEP = b"[" * 200_000
PAUSE_S = 0.02
JSON, EVENTS, HTML = "application/json", "text/event-stream", "text/html"

Fault = Callable[[socket], None]


def head(status: str = "200 OK", kind: str = JSON, **headers: object) -> bytes:
    """Return the beginning of an answer, up to its body."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def sends(*parts: bytes | Iterable[bytes], pause_s: float = 0.0) -> Fault:
    """Send these parts, then close."""

    def behave(connection: socket) -> None:
        pieces = chain.from_iterable([part] if isinstance(part, bytes) else part for part in parts)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(pause_s)

    return behave


def waits(*parts: bytes) -> Fault:
    """Send these parts, then nothing, until the client goes."""

    def behave(connection: socket) -> None:
        connection.sendall(b"".join(parts))
        connection.settimeout(60)
        with suppress(TimeoutError):
            connection.recv(1)

    return behave


def bodies(content: bytes, kind: str = JSON, status: str = "200 OK", **headers: object) -> Fault:
    """Send a whole answer."""
    return sends(head(status, kind, Content_Length=len(content), **headers) + content)


def letters(text: bytes) -> list[bytes]:
    """Cut bytes into single ones."""
    return [bytes([byte]) for byte in text]


def chunk(content: bytes) -> bytes:
    """Return a piece of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(content), content)


CHUNKED = head(Transfer_Encoding="chunked")
CHUNKED_EVENTS = head(kind=EVENTS, Transfer_Encoding="chunked")
DRIP = repeat(chunk(b" "))

FAULTS: dict[str, Fault] = {
    # No answer, or none of HTTP
    "closes at once": sends(),
    "is silent": waits(),
    "is silent behind half a status": waits(b"HTTP/1."),
    "is silent behind its header": waits(head()),
    "is silent behind an event": waits(head(kind=EVENTS), b": hello\n\n"),
    "speaks another protocol": sends(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "sends zeros": sends(repeat(bytes(65_536))),
    # Headers
    "a status without end": sends(b"HTTP/1.1 200 ", repeat(BLOCK)),
    "a header without end": sends(b"HTTP/1.1 200 OK\r\nX: ", repeat(BLOCK)),
    "headers without number": sends(b"HTTP/1.1 200 OK\r\n", (b"X-%d: y\r\n" % number for number in count())),
    "a header in single bytes": sends(letters(b"HTTP/1.1 200 OK\r\nX: "), repeat(b"y"), pause_s=PAUSE_S),
    "interim answers without number": sends(repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000)),
    "another protocol is switched to": waits(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
    "a length below zero": sends(head(Content_Length=-1), BLOCK),
    "two lengths": sends(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    "an endless cookie": bodies(b"{}", Set_Cookie="a=" + "y" * 90_000),
    "a redirect to itself": lambda connection: connection.sendall(
        head("307 Temporary Redirect", Location="/v1/chat/completions", Content_Length=0)
    ),
    "a pause of an age": bodies(b"", status="429 Too Many Requests", Retry_After="9" * 30),
    "a pause that is none": bodies(b"", status="503 Service Unavailable", Retry_After="\xff soon"),
    # Bodies
    "a body without end": sends(head(), repeat(BLOCK)),
    "a body of a terabyte": sends(head(Content_Length=10**12), repeat(BLOCK)),
    "a body shorter than it says": sends(head(Content_Length=1_000), b'{"data": ['),
    "chunks without end": sends(CHUNKED, repeat(chunk(BLOCK))),
    "chunks of a byte": sends(CHUNKED, repeat(chunk(b" ") * 1_000)),
    "a byte now and then": sends(CHUNKED, DRIP, pause_s=PAUSE_S),
    "a chunk of a terabyte": sends(CHUNKED, b"ffffffffff\r\n", repeat(BLOCK)),
    "a chunk of no size": sends(CHUNKED, b"many\r\n", BLOCK),
    "a chunk with an extension without end": sends(CHUNKED, b"1;", repeat(BLOCK)),
    "a trailer without end": sends(CHUNKED, b"0\r\nX: ", repeat(BLOCK)),
    "an error without end": sends(head("500 Internal Server Error"), repeat(BLOCK)),
    "a refusal without end": sends(head("400 Bad Request", kind=HTML), repeat(BLOCK)),
    "an error now and then": sends(
        head("503 Service Unavailable", Transfer_Encoding="chunked"), DRIP, pause_s=PAUSE_S
    ),
    # Packed
    "a bomb": bodies(ZEROS, Content_Encoding="gzip"),
    "a bomb in a bomb": bodies(gzip.compress(ZEROS), Content_Encoding="gzip, gzip"),
    "packed, and is not": bodies(b"{}", Content_Encoding="gzip"),
    "packed in another way": bodies(b"{}", Content_Encoding="br"),
    # Events
    "an event without end": sends(head(kind=EVENTS), b"data: ", repeat(BLOCK)),
    "an event of lines without end": sends(head(kind=EVENTS), repeat(b"data: x\n" * 1_000)),
    "events without end": sends(head(kind=EVENTS), repeat(b'data: {"choices": []}\n\n' * 1_000)),
    "comments without end": sends(head(kind=EVENTS), repeat(b": x\n\n" * 1_000)),
    "a comment now and then": sends(CHUNKED_EVENTS, repeat(chunk(b": x\n\n")), pause_s=PAUSE_S),
    "a deep event": bodies(b"data: " + DEEP + b"\n\n", EVENTS),
    "an event of zeros": bodies(b"data: " + bytes(1_000) + b"\n\n", EVENTS),
    # JSON
    "deep JSON": bodies(DEEP),
    "deep JSON in an error": bodies(b'{"error": ' + DEEP, status="400 Bad Request"),
    "lists without number": bodies(b"[" + b"[]," * 1_300_000 + b"[]]"),
    "objects without number in an error": bodies(
        b'{"error": [' + b"{}," * 1_300_000 + b"{}]}", status="500 Internal Server Error"
    ),
    "NaN": bodies(
        b'{"data": [{"id": "m", "index": 0, "embedding": [NaN], "max_model_len": NaN}], "count": NaN}'
    ),
    "a number without end": bodies(b'{"count": ' + b"9" * 1_000_000 + b"}"),
    "numbers that are too large": bodies(
        b'{"count": 9%b, "data": [{"id": "m", "max_model_len": 9%b}]}' % (b"9" * 4_000, b"9" * 4_000)
    ),
    "a vector of a number that is too large": bodies(
        b'{"data": [{"index": 0, "embedding": [%b]}]}' % (b"9" * 400)
    ),
    "null": bodies(b"null"),
    "a list": bodies(b"[1, 2]"),
    "no UTF-8": bodies(b'{"error": "\xff\xfe"}', status="400 Bad Request"),
    "a page": bodies(b"<!doctype html><h1>Welcome</h1>", HTML),
    "an image": bodies(bytes(range(256)) * 1_000, "image/png"),
    "nothing": bodies(b"", status="204 No Content"),
}


class _Faulty(socketserver.BaseRequestHandler):
    """Reads one request, and does what the number at the beginning of its path says."""

    def handle(self) -> None:
        with suppress(OSError), self.request.makefile("rb") as asked:
            path, length = asked.readline().split()[1].decode(), 0
            while line := asked.readline().strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            asked.read(length)
            number = path.split("/")[1]
            if path.endswith("/models") and number.startswith("p"):  # well, so that more is asked
                bodies(b'{"data": [{"id": "m", "max_model_len": 16384}]}', Connection="close")(self.request)
            else:
                list(FAULTS.values())[int(number[1:])](self.request)


@contextmanager
def faulty_server() -> Iterator[str]:
    """Run a server with every fault: the n-th, counted from 0, at the address that is given and /n."""

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            """Say nothing."""

    with Server(("127.0.0.1", 0), _Faulty) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
