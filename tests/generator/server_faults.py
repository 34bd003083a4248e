"""Servers that answer wrongly, at the socket: a table of faults, each of which may go on for ever."""

import socketserver
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from socket import socket

BLOCK = b"x" * 65_536
DEEP = b"[" * 200_000
JSON, EVENTS, HTML = "application/json", "text/event-stream", "text/html"

Fault = Callable[[socket], None]


def head(status: str = "200 OK", kind: str = JSON, **headers: object) -> bytes:
    """Return the beginning of an answer, up to its body."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def sends(*parts: bytes | Iterable[bytes]) -> Fault:
    """Send these parts, then close."""

    def behave(connection: socket) -> None:
        pieces = chain.from_iterable([part] if isinstance(part, bytes) else part for part in parts)
        for piece in pieces:
            connection.sendall(piece)

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


FAULTS: dict[str, Fault] = {
    # No answer, or a part of one
    "closes at once": sends(),
    "is silent": waits(),
    "is silent behind its header": waits(head()),
    "is silent behind an event": waits(head(kind=EVENTS), b": hello\n\n"),
    "speaks another protocol": sends(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "a body shorter than it says": sends(head(Content_Length=1_000), b'{"data": ['),
    "a stream that breaks off": bodies(b'data: {"choices": [{"delta": {"content": "{"}}]}\n\n', EVENTS),
    # Answers without end
    "a body without end": sends(head(), repeat(BLOCK)),
    "an error without end": sends(head("500 Internal Server Error"), repeat(BLOCK)),
    "comments without end": sends(head(kind=EVENTS), repeat(b": x\n\n" * 1_000)),
    # Refusals
    "a redirect to itself": lambda connection: connection.sendall(
        head("307 Temporary Redirect", Location="/v1/chat/completions", Content_Length=0)
    ),
    "a pause of an age": bodies(b"", status="429 Too Many Requests", Retry_After="9" * 30),
    "no UTF-8": bodies(b'{"error": "\xff\xfe"}', status="400 Bad Request"),
    "an error": bodies(b'{"error": {"message": "CUDA out of memory"}}', status="500 Internal Server Error"),
    # Content
    "packed, and is not": bodies(b"{}", Content_Encoding="gzip"),
    "deep JSON": bodies(DEEP),
    "NaN": bodies(b'{"data": [{"id": "m", "index": 0, "embedding": [NaN]}], "count": NaN}'),
    "null": bodies(b"null"),
    "a page": bodies(b"<!doctype html><h1>Welcome</h1>", HTML),
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
            list(FAULTS.values())[int(path.split("/")[1][1:])](self.request)


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
