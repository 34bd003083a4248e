"""A server of the tests: a group of processes that is started and killed."""

import atexit
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.service.building import ServerUnavailable

LOG_LINES = 40
STOP_SECONDS = 30
REQUIRED = os.environ.get("SHRAG_REQUIRE_SERVICES") == "1"  # read before the user's settings are hidden

# Below the ports that the kernel lends to outgoing connections: what is free now is so when the server is up.
PORTS = range(20_000, 32_000)


class ServerFailed(Exception):
    """The server ended or stayed silent; the message holds the end of its log."""


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 that nothing listens on; random, as several test runs may choose at once."""
    found: list[int] = []
    while len(found) < count:
        port = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found += [port] if port not in found else []
    return found


def wait_until(look: Callable[[], str], seconds: float) -> None:
    """Wait until there is nothing to complain of; raise ServerFailed with the complaint when time is up."""
    deadline = time.monotonic() + seconds
    while complaint := look():
        if time.monotonic() > deadline:
            raise ServerFailed(f"after {seconds:g} s: {complaint}")
        time.sleep(0.1)


class Server(ABC):
    """What a command starts, in a folder that holds its log."""

    def __init__(
        self, folder: Path, command: list[str], environment: Mapping[str, str], become: Sequence[str] = ()
    ) -> None:
        """Start nothing yet; `become` are options of setpriv for another user."""
        self._folder, self._log = folder, folder / "output.log"
        # Linux kills the process when the thread that started it ends, however that comes.
        setpriv = shutil.which("setpriv")
        self._command = [setpriv, "--pdeathsig=KILL", *become, *command] if setpriv else command
        self._environment = {"PATH": os.environ["PATH"], **environment}
        self._first: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def complaint(self) -> str:
        """Return why the server does not answer now, "" if it does."""

    def launch(self) -> None:
        """Run the command and do not wait until it answers."""
        with self._log.open("ab") as log:
            self._first = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,  # to kill all of them
            )

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until it answers; raise ServerFailed if it ends before, or the time is up."""

        def look() -> str:
            complaint = self.complaint()
            if complaint and (self._first is None or self._first.poll() is not None):
                raise ServerFailed(f"it ended while it started\n{self._log_tail()}")
            return complaint and f"{complaint}\n{self._log_tail()}"

        wait_until(look, seconds)

    def kill(self) -> None:
        """End all as a power cut would, at once."""
        if self._first is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._first.pid, signal.SIGKILL)
            self._first.wait(STOP_SECONDS)

    def _log_tail(self) -> str:
        said = self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""
        return "\n".join(said.splitlines()[-LOG_LINES:])


@contextmanager
def until_the_end(kind: str) -> Iterator[tuple[Path, ExitStack]]:
    """Yield a folder, and a stack of what is done at the end of the block or of the process."""
    with ExitStack() as stack:
        atexit.register(stack.close)  # for a generator that nobody closes
        stack.callback(atexit.unregister, stack.close)
        folder = Path(tempfile.mkdtemp(prefix=f"shrag-{kind}-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder, stack


@contextmanager
def available() -> Iterator[None]:
    """Skip tests if the machine lacks what a server needs; fail them if SHRAG_REQUIRE_SERVICES=1."""
    try:
        yield
    except ServerUnavailable as missing:
        if REQUIRED:
            pytest.fail(f"{missing} (SHRAG_REQUIRE_SERVICES=1)")
        pytest.skip(str(missing))
