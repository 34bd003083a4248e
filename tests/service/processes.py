"""Servers of the tests: built once, outside the checkout; started as a group of processes, and killed."""

import atexit
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from filelock import FileLock

SHOWN = 3_000  # characters of the end of an output
STOP_SECONDS = 30
REQUIRED = os.environ.get("SHRAG_REQUIRE_SERVICES") == "1"  # read before the user's settings are hidden

# Below the ports that the kernel lends to outgoing connections: what is free now is so when the server is up.
PORTS = range(20_000, 32_000)


class ServerUnavailable(Exception):
    """This machine lacks what a server needs; the message names it."""


class ServerFailed(Exception):
    """The server could not be built, ended, or did not answer; the message has the end of the output."""


def built_once(name: str, kind: str, build: Callable[[Path], Path]) -> Path:
    """Return the folder of that name, which `build` makes in a scratch folder where it is not there yet.

    It is in $XDG_CACHE_HOME/shrag-tests (~/.cache/shrag-tests); one process at a time builds.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shrag-tests"
    built = cache / name
    if built.is_dir():
        return built
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = f"building-{kind}-"
    with FileLock(cache / f"build-{kind}.lock"):
        if not built.is_dir():
            for left in cache.glob(f"{unfinished}*"):  # by builds that were killed
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix=unfinished) as scratch:
                build(Path(scratch)).rename(built)
    return built


def run_tool(command: Sequence[str], *, typed: str = "", **environment: str) -> None:
    """Run a command to its end; raise ServerFailed if it fails."""
    done = subprocess.run(
        command,
        env=os.environ | environment,
        input=typed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ServerFailed(f"{Path(command[0]).name} ended with {done.returncode}:\n{done.stdout[-SHOWN:]}")


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


@contextmanager
def until_interrupt() -> Iterator[None]:
    """Run a block, and wait for Ctrl-C or SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        yield
        signal.pause()


@contextmanager
def until_the_end(kind: str) -> Iterator[tuple[Path, ExitStack]]:
    """Yield a folder, and a stack of what is done at the end of the block or of the process."""
    with ExitStack() as stack:
        atexit.register(stack.close)  # for a generator that nobody closes
        stack.callback(atexit.unregister, stack.close)
        folder = Path(tempfile.mkdtemp(prefix=f"shrag-{kind}-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder, stack


def launch(
    stack: ExitStack, folder: Path, command: Sequence[str], environment: Mapping[str, str]
) -> Callable[[], str]:
    """Run a server until the stack is closed, then kill all its processes at once.

    Returns a function that raises ServerFailed if it has ended, and else returns the end of its output.
    """
    # Linux kills the process when the thread that started it ends, however that comes.
    last = ["setpriv", "--pdeathsig=KILL"] if shutil.which("setpriv") and command[0] != "setpriv" else []
    log = folder / "output.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*last, *command],
            env={"PATH": os.environ["PATH"], **environment},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,  # to kill all of them
        )

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(STOP_SECONDS)

    def output_of() -> str:
        said = log.read_text(encoding="utf-8", errors="replace")[-SHOWN:]
        if process.poll() is not None:
            raise ServerFailed(f"it ended while it started\n{said}")
        return said

    stack.callback(kill)
    return output_of


@contextmanager
def available() -> Iterator[None]:
    """Skip tests if the machine lacks what a server needs; fail them if SHRAG_REQUIRE_SERVICES=1."""
    try:
        yield
    except ServerUnavailable as missing:
        if REQUIRED:
            pytest.fail(f"{missing} (SHRAG_REQUIRE_SERVICES=1)")
        pytest.skip(str(missing))
