"""An open-loop client: calls at scheduled times, regardless of earlier responses.

    python -m benchmarks.server.open_loop PORT RATE SECONDS [--key KEY] [--at-once N] [--pause S] < BODIES

Each call is a POST of the next line of standard input to /api/v1/search; the lines are repeated. Latency
counts from the scheduled time, not from a free connection. RATE 0 keeps N calls pending (8): the next one is
sent after a response, or S seconds (.25) after a refusal. The calls are written as JSON: [scheduled time,
seconds, status] each. The client does little more than move bytes, as it shares the machine with the server.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator
from itertools import cycle

AT_ONCE = 8  # concurrent calls with rate 0
LENGTH = b"content-length:"
CLOSED = b"\r\nconnection: close"
PATIENCE_S = 60
REFUSED, PAUSE_S = 429, 0.25


class Connection(asyncio.Protocol):
    """One connection, one call at a time."""

    def __init__(self) -> None:
        """Start without a call."""
        self.transport: asyncio.Transport | None = None
        self.answered: asyncio.Future[int] | None = None
        self._arrived = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a socket transport
        self.transport = transport

    def send(self, call: bytes) -> "asyncio.Future[int]":
        """Send a call; return a future of the response's status, 0 for a lost connection."""
        assert self.transport is not None  # noqa: S101 - connected
        self._arrived = b""
        self.answered = asyncio.get_running_loop().create_future()
        if self.transport.is_closing():
            self.answered.set_result(0)
        else:
            self.transport.write(call)
        return self.answered

    def data_received(self, data: bytes) -> None:
        """Read until the response is complete."""
        self._arrived += data
        head, found, body = self._arrived.partition(b"\r\n\r\n")
        if not found or self.answered is None or self.answered.done():
            return
        lower = head.lower()
        at = lower.find(LENGTH)
        length = int(lower[at + len(LENGTH) :].split(b"\r", 1)[0]) if at >= 0 else 0
        if len(body) >= length:
            if CLOSED in lower and self.transport is not None:
                self.transport.close()
            self.answered.set_result(int(head[9:12]))

    def connection_lost(self, _: Exception | None) -> None:
        """Resolve the pending call."""
        if self.answered is not None and not self.answered.done():
            self.answered.set_result(0)


class Client:
    """Free connections to a port, and the measured calls."""

    def __init__(self, port: int, bodies: list[str], key: str = "") -> None:
        """Create a client for a port, with repeated bodies and a key."""
        self._port = port
        self._calls: Iterator[bytes] = cycle([_call(port, body, key) for body in bodies])
        self._free: list[Connection] = []
        self.measured: list[tuple[float, float, int]] = []

    async def call(self, due: float, began: float) -> int:
        """Make and record the next call; return the status of its response, 0 for none."""
        connection = self._free.pop() if self._free else None
        try:
            if connection is None or connection.transport is None or connection.transport.is_closing():
                loop = asyncio.get_running_loop()
                _, connection = await loop.create_connection(Connection, "127.0.0.1", self._port)
            status = await asyncio.wait_for(connection.send(next(self._calls)), PATIENCE_S)
        except (OSError, TimeoutError):
            status = 0
        self.measured.append((due - began, time.perf_counter() - due, status))
        if connection is not None and status:
            self._free.append(connection)
        return status


def _call(port: int, body: str, key: str) -> bytes:
    content = body.encode()
    head = f"POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    head += f"X-API-Key: {key}\r\n" if key else ""
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


async def send_at(client: Client, rate: float, seconds: float) -> None:
    """Send a call every 1/rate seconds."""
    began = time.perf_counter()
    calls: set[asyncio.Task[int]] = set()
    for number in range(int(rate * seconds)):
        due = began + number / rate
        if (early := due - time.perf_counter()) > 0:
            await asyncio.sleep(early)
        task = asyncio.create_task(client.call(due, began))
        calls.add(task)
        task.add_done_callback(calls.discard)
    await asyncio.gather(*calls)


async def send_in_turn(client: Client, seconds: float, at_once: int, pause_s: float) -> None:
    """Keep `at_once` calls pending."""
    began = time.perf_counter()

    async def one_after_another() -> None:
        while (now := time.perf_counter()) < began + seconds:
            if await client.call(now, began) == REFUSED:
                await asyncio.sleep(pause_s)

    await asyncio.gather(*(one_after_another() for _ in range(at_once)))


def main() -> None:
    """Send the calls, and write the measurements."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("rate", type=float)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--key", default="")
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--pause", type=float, default=PAUSE_S)
    given = parser.parse_args()
    client = Client(given.port, sys.stdin.read().splitlines(), given.key)
    if given.rate:
        asyncio.run(send_at(client, given.rate, given.seconds))
    else:
        asyncio.run(send_in_turn(client, given.seconds, given.at_once, given.pause))
    sys.stdout.write(json.dumps(client.measured))


if __name__ == "__main__":
    main()
