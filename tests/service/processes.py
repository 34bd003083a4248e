"""The processes of a server, a group of their own: started, killed, paused and looked at."""

import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

LOG_LINES = 40

# Below the ports that the kernel lends to outgoing connections: what is free now is so when the server is up.
PORTS = range(20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 that nothing listens on; random, as several test runs may choose at once."""
    found: list[int] = []
    while len(found) < count:
        port = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found += [port] if port not in found else []
    return found


def states_of_group(group: int) -> dict[int, str]:
    """Return the processes of a group that are not mere zombies, each with its state (T is stopped)."""
    states = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # proc_pid_stat(5): pid (name) state parent group; the name may hold anything
            state, _, its_group = entry.read_text("utf-8", "replace").rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                states[int(entry.parent.name)] = state
    return states


class Processes:
    """What a command starts, in a folder that holds its log."""

    def __init__(self, folder: Path, stop_seconds: float) -> None:
        self._folder = folder
        self._stop_seconds = stop_seconds
        self._first: subprocess.Popen[bytes] | None = None

    @property
    def group(self) -> int | None:
        """The number of the group, which is that of its first process."""
        return self._first.pid if self._first else None

    @property
    def ended(self) -> bool:
        """Tell whether the first process is gone, or was never started."""
        return self._first is None or self._first.poll() is not None

    @property
    def running(self) -> bool:
        """Tell whether any process lives, be it paused; some outlive the first for a moment."""
        return not self.ended or bool(self._states())

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Run the command and do not wait."""
        with self._log.open("ab") as log:
            self._first = subprocess.Popen(
                command,
                env=environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A group to send signals to, in the session of the tests: when these are killed while the
                # server is paused, Linux hangs up and wakes the group, as nobody is left who could.
                process_group=0,
            )

    def kill(self) -> None:
        """End all as a power cut would, at once."""
        self._signal(signal.SIGKILL)
        self._wait_until_gone()

    def stop(self) -> None:
        """Let all close their files and end; kill them when that takes too long."""
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGTERM)
        if not self._wait_until_gone():
            self.kill()

    def pause(self) -> None:
        """Let all hang, from now on: connections are accepted and nothing is answered."""
        self._signal(signal.SIGSTOP)
        while set(self._states().values()) - {"T"}:
            time.sleep(0.01)

    def resume(self) -> None:
        """Let all go on after a pause."""
        self._signal(signal.SIGCONT)

    def log_tail(self) -> str:
        """Return the end of what they wrote."""
        if not self._log.exists():
            return ""
        return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:])

    @property
    def _log(self) -> Path:
        return self._folder / "output.log"

    def _states(self) -> dict[int, str]:
        return states_of_group(self._first.pid) if self._first else {}

    def _signal(self, number: int) -> None:
        if self._first is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._first.pid, number)

    def _wait_until_gone(self) -> bool:
        deadline = time.monotonic() + self._stop_seconds
        while self.running:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True
