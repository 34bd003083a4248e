"""`shrag serve` as a measured process, and a client process that calls it at a rate.

    python -m benchmarks.served PORT RATE SECONDS CONNECTIONS PAUSE KEY < BODIES

The client posts the lines of its standard input to /api/v1/search, repeatedly, and writes [scheduled time,
seconds, status] of each call as JSON. With a rate, calls are sent at scheduled times regardless of earlier
responses, and latency counts from the scheduled time. Without one (0), each of CONNECTIONS sends the next
call after a response, or PAUSE seconds after a refusal.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
UNLIMITED = {"server__searches_per_minute": 0, "server__asks_per_minute": 0, "server__reads_per_minute": 0}
STARTED_WITHIN_S, STOPPED_WITHIN_S, PATIENCE_S = 300, 60, 60
OK, REFUSED = 200, 429

Measured = list[tuple[float, float, int]]  # scheduled time of a call, seconds until its response, status


@dataclass(frozen=True, slots=True)
class Served:
    """A server process on a port of this machine, and a client with one connection."""

    process: "subprocess.Popen[str]"
    port: int
    client: httpx.Client

    def cpu_s(self) -> float:
        """Return the processor time of all live threads."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text("ascii").split()[0]) for thread in tasks) / 1e9

    def private_bytes(self) -> int:
        """Return the private memory, without mapped files, which the system may evict."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        return 1024 * int(status.partition("RssAnon:")[2].split()[0])

    def stop(self) -> float:
        """Stop the server; return the seconds until it has ended."""
        started = time.perf_counter()
        self.process.terminate()
        self.process.wait(STOPPED_WITHIN_S)
        return time.perf_counter() - started

    def start_client(
        self,
        rate: float,
        seconds: float,
        questions: Sequence[str],
        key: str = "",
        at_once: int = 8,
        pause: float = 0.25,
    ) -> "subprocess.Popen[str]":
        """Start a client process."""
        words = map(str, (self.port, rate, seconds, at_once, pause, key))
        client = subprocess.Popen(  # noqa: S603 - own module
            [sys.executable, "-m", "benchmarks.served", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert client.stdin is not None  # noqa: S101 - piped above
        client.stdin.write("\n".join(json.dumps({"question": question}) for question in questions))
        client.stdin.close()
        return client


def calls_of(client: "subprocess.Popen[str]") -> Measured:
    """Wait for a client process, and return its calls."""
    assert client.stdout is not None  # noqa: S101 - piped
    with client.stdout:
        calls = [(due, took, status) for due, took, status in json.loads(client.stdout.read())]
    if client.wait():
        raise RuntimeError("the client failed")
    return calls


@contextmanager
def serving(home: Path, name: str, **settings: object) -> Iterator[Served]:
    """Serve an index of a home on a free port; settings have the names of variables without SHRAG_."""
    defaults = {
        "home": home,
        "name": name,
        "config": "",
        "server__workers": 1,
        "server__local_operator": True,
    }
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SHRAG_")}
    environment |= {f"SHRAG_{key.upper()}": str(value) for key, value in (defaults | settings).items()}
    process = subprocess.Popen(  # noqa: S603 - own command
        [sys.executable, str(ROOT / "shrag.py"), "serve", "--port", "0"],
        env=environment | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None  # noqa: S101 - piped above
        found = ADDRESS.search(process.stderr.readline())
        if not found:
            raise RuntimeError(f"the server did not start: {process.stderr.read()}")
        with httpx.Client(base_url=found[0], timeout=PATIENCE_S, trust_env=False) as client:
            ends = time.monotonic() + STARTED_WITHIN_S
            while client.get("/readyz").status_code != OK:
                if time.monotonic() > ends:
                    raise RuntimeError("the server did not become ready")
                time.sleep(0.05)
            yield Served(process, int(found[1]), client)
    finally:
        process.terminate()
        process.wait(STOPPED_WITHIN_S)
        if process.stderr is not None:
            process.stderr.close()


class _Client:
    """Free connections to a port, and the measured calls; it does little more than move bytes."""

    def __init__(self, port: int, key: str, bodies: Sequence[str]) -> None:
        self._port = port
        head = f"POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        head += f"X-API-Key: {key}\r\n" if key else ""
        sent = [f"{head}Content-Length: {len(body.encode())}\r\n\r\n{body}".encode() for body in bodies]
        self._calls = cycle(sent)
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.measured: Measured = []

    async def call(self, due: float, began: float) -> int:
        """Make and record the next call; return the status of its response, 0 for none."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                status = await self._exchange(next(self._calls))
        except (OSError, EOFError, TimeoutError):
            status = 0
        self.measured.append((due - began, time.perf_counter() - due, status))
        return status

    async def _exchange(self, call: bytes) -> int:
        reader, writer = (
            self._free.pop() if self._free else await asyncio.open_connection("127.0.0.1", self._port)
        )
        writer.write(call)
        head = await reader.readuntil(b"\r\n\r\n")
        length = LENGTH.search(head)
        await reader.readexactly(int(length[1]) if length else 0)
        if b"connection: close" in head.lower():
            writer.close()
        else:
            self._free.append((reader, writer))
        return int(head[9:12])

    async def at_rate(self, rate: float, seconds: float) -> None:
        """Send a call every 1/rate seconds."""
        began = time.perf_counter()
        async with asyncio.TaskGroup() as calls:
            for number in range(int(rate * seconds)):
                due = began + number / rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                calls.create_task(self.call(due, began))

    async def in_turn(self, seconds: float, connections: int, pause_s: float) -> None:
        """Keep calls pending on all connections."""
        began = time.perf_counter()

        async def one_after_another() -> None:
            while (now := time.perf_counter()) < began + seconds:
                if await self.call(now, began) == REFUSED:
                    await asyncio.sleep(pause_s)

        await asyncio.gather(*(one_after_another() for _ in range(connections)))


def _main(port: str, rate: str, seconds: str, connections: str, pause: str, key: str) -> None:
    client = _Client(int(port), key, sys.stdin.read().splitlines())
    if float(rate):
        asyncio.run(client.at_rate(float(rate), float(seconds)))
    else:
        asyncio.run(client.in_turn(float(seconds), int(connections), float(pause)))
    sys.stdout.write(json.dumps(client.measured))


if __name__ == "__main__":
    _main(*sys.argv[1:])
