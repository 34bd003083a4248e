"""`shrag serve` as a measured process, and a client process that calls it at a rate.

    python -m benchmarks.served PORT RATE SECONDS CONNECTIONS PAUSE KEY < BODIES

The client posts the lines of its standard input to /api/v1/search, repeatedly, and writes [scheduled time,
seconds, status] of each call as JSON. With a rate, calls are sent at scheduled times regardless of earlier
responses, and latency counts from the scheduled time. Without one (0), each of CONNECTIONS sends the next
call after a response, or PAUSE seconds after a refusal.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import count, cycle
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
UNLIMITED = {"server__searches_per_minute": 0, "server__asks_per_minute": 0, "server__reads_per_minute": 0}
STARTED_WITHIN_S, STOPPED_WITHIN_S, PATIENCE_S = 300, 60, 60
OK, REFUSED = 200, 429
MOST_PENDING = 128  # calls of a client with a rate

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
        words = map(str, (self.port, rate, seconds, MOST_PENDING if rate else at_once, pause, key))
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


def load(
    port: int, rate: float, seconds: float, connections: int, pause_s: float, key: str, bodies: Sequence[str]
) -> Measured:
    """Send calls on several connections, a thread each, and measure them; status 0 means no response."""
    headers = {"Content-Type": "application/json", **({"X-API-Key": key} if key else {})}
    calls, numbers, measured, began = cycle(bodies), count(), Measured(), time.perf_counter()

    def call(connection: HTTPConnection) -> int:
        try:
            connection.request("POST", "/api/v1/search", next(calls).encode(), headers)
            with connection.getresponse() as response:
                response.read()
        except (OSError, HTTPException):
            connection.close()  # the next call opens it again
            return 0
        return response.status

    def send_calls() -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        while (due := began + next(numbers) / rate if rate else time.perf_counter()) < began + seconds:
            time.sleep(max(0.0, due - time.perf_counter()))
            status = call(connection)
            measured.append((due - began, time.perf_counter() - due, status))
            if status == REFUSED and not rate:
                time.sleep(pause_s)
        connection.close()

    with ThreadPoolExecutor(connections) as pool:
        for sending in [pool.submit(send_calls) for _ in range(connections)]:
            sending.result()
    return measured


def _main(port: str, rate: str, seconds: str, connections: str, pause: str, key: str) -> None:
    numbers = int(port), float(rate), float(seconds), int(connections), float(pause)
    sys.stdout.write(json.dumps(load(*numbers, key, sys.stdin.read().splitlines())))


if __name__ == "__main__":
    _main(*sys.argv[1:])
