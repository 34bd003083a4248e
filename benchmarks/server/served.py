"""`shrag serve` as a measured process: processor time, memory, and shutdown."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
UNLIMITED = {"server__searches_per_minute": 0, "server__asks_per_minute": 0, "server__reads_per_minute": 0}
STARTED_WITHIN_S, STOPPED_WITHIN_S = 300, 60


@dataclass(frozen=True, slots=True)
class Served:
    """A server process on a port of this machine."""

    process: "subprocess.Popen[str]"
    port: int

    def cpu_s(self) -> float:
        """Return the processor time of all live threads."""
        spent_ns = 0
        for thread in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                spent_ns += int((thread / "schedstat").read_text("ascii").split()[0])
            except OSError:
                continue
        return spent_ns / 1e9

    def private_bytes(self) -> int:
        """Return the private memory, without mapped files, which the system may evict."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        found = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
        assert found is not None  # noqa: S101 - always present on Linux
        return int(found[1]) * 1024

    def stop(self) -> float:
        """Stop the server; return the seconds until it has ended."""
        started = time.perf_counter()
        self.process.terminate()
        self.process.wait(STOPPED_WITHIN_S)
        return time.perf_counter() - started


@contextmanager
def serving(home: Path, name: str, **settings: object) -> Iterator[Served]:
    """Serve an index of a home on a free port; settings have the names of variables without SHRAG_."""
    variables = {f"SHRAG_{key.upper()}": str(value) for key, value in settings.items()}
    environment: Mapping[str, str] = {
        **{key: value for key, value in os.environ.items() if not key.startswith("SHRAG_")},
        "SHRAG_HOME": str(home),
        "SHRAG_NAME": name,
        "SHRAG_CONFIG": "",
        "PYTHONPATH": str(ROOT),
        "SHRAG_SERVER__WORKERS": "1",
        "SHRAG_SERVER__LOCAL_OPERATOR": "true",  # without limits
        **variables,
    }
    command = [sys.executable, str(ROOT / "shrag.py"), "serve", "--port", "0"]
    process = subprocess.Popen(  # noqa: S603 - own command
        command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None  # noqa: S101 - piped above
        found = ADDRESS.search(process.stderr.readline())
        if not found:
            raise RuntimeError(f"the server did not start: {process.stderr.read()}")
        served = Served(process, int(found[1]))
        _wait_until_ready(served)
        yield served
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(STOPPED_WITHIN_S)
        if process.stderr is not None:
            process.stderr.close()


def _wait_until_ready(served: Served) -> None:
    ends = time.monotonic() + STARTED_WITHIN_S
    while time.monotonic() < ends:
        connection = HTTPConnection("127.0.0.1", served.port, timeout=10)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:  # noqa: PLR2004 - OK
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.05)
    raise RuntimeError("the server did not become ready")
