"""Concurrent parsing of PDFs in processes with limits enforced by the operating system.

    python -m indexer.corpora.full_text.parsing CPU_SECONDS MEMORY_BYTES

A PDF may be malicious or endless. A process reads the length of a PDF in eight bytes and its content, and
writes a line of JSON, which is safe to parse.
"""

import json
import os
import resource
import signal
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypeVar

Item = TypeVar("Item")
Answer: TypeAlias = dict[str, Any]  # {"record": …} or {"problem": …}
Process: TypeAlias = "subprocess.Popen[bytes]"
# The PDF, its record, and an event that is set when the result is no longer needed.
Complete: TypeAlias = Callable[[bytes, Mapping[str, Any], threading.Event], dict[str, Any]]

WALL_SECONDS = 20  # per second of CPU time, for busy machines; limits processes that wait
AHEAD, AHEAD_BYTES = 3, 256 << 20  # documents per process submitted ahead of the awaited one, and their bytes
# Environment variables an interpreter may need; a document that compromises the parser finds no key there.
KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE")
# -P: do not import modules from the current folder, which may be that of the papers.
COMMAND = [sys.executable, "-P", "-m", "indexer.corpora.full_text.parsing"]
LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for a document: seconds of CPU time, and bytes of memory, including the process itself."""

    cpu_seconds: int = 60
    memory_bytes: int = 2 << 30


DEFAULT_LIMITS = Limits()


class ParserPool:
    """Processes that parse PDFs, started on demand and stopped when the pool is closed."""

    def __init__(
        self, workers: int, limits: Limits = DEFAULT_LIMITS, complete: Complete | None = None
    ) -> None:
        """Create a pool of at most `workers` processes; `complete` replaces a record, in a thread."""
        self._complete, self._workers, self._limits = complete, workers, limits
        self._threads = ThreadPoolExecutor(workers, "pdf")
        self._processes: dict[int, Process] = {}  # by thread
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        """Return the pool."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill all processes, including busy ones, and cancel the completion of records."""
        with self._lock:
            self._closed.set()
            for process in self._processes.values():
                process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes.values():
            _close(process)

    def parse_in_order(
        self, documents: Iterable[tuple[Item, bytes | str]]
    ) -> Generator[tuple[Item, Answer], None, None]:
        """Yield each item with its document's {"record"} or {"problem"}; a text is a document's problem."""
        waiting: deque[tuple[Item, Future[Answer], int]] = deque()
        for item, data in documents:
            waiting.append((item, self._threads.submit(self._parse, data), len(data)))
            while len(waiting) > self._workers * AHEAD or sum(size for *_, size in waiting) > AHEAD_BYTES:
                first, answer, _ = waiting.popleft()
                yield first, answer.result()
        for item, answer, _ in waiting:
            yield item, answer.result()

    def _parse(self, data: bytes | str) -> Answer:
        if isinstance(data, str):
            return {"problem": data}
        thread = threading.get_ident()
        with self._lock:
            if self._closed.is_set():
                return {}
            process = self._processes.get(thread)
            if process is None or process.poll() is not None:
                process = self._processes[thread] = _start(self._limits)
        answer = _ask(process, data, self._limits)
        if process.poll() is not None:
            _close(process)
        if self._complete and "record" in answer and not self._closed.is_set():
            answer["record"] = self._complete(data, answer["record"], self._closed)
        return answer


def _start(limits: Limits) -> Process:
    environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return subprocess.Popen(  # noqa: S603 - this interpreter, this module
        [*COMMAND, str(limits.cpu_seconds), str(limits.memory_bytes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        process_group=0,  # Ctrl-C is handled by the parent process
    )


def _ask(process: Process, data: bytes, limits: Limits) -> Answer:
    """Return the answer of a process, or the reason why it ended."""
    assert process.stdin and process.stdout  # noqa: S101, PT018 - pipes
    timer = threading.Timer(WALL_SECONDS * limits.cpu_seconds, process.kill)
    timer.start()
    try:
        with suppress(OSError, ValueError):  # it ended, or was killed
            process.stdin.write(LENGTH.pack(len(data)) + data)
            process.stdin.flush()
            return dict(json.loads(process.stdout.readline()))
    finally:
        timer.cancel()
    process.kill()
    memory = f"more than {limits.memory_bytes >> 20:,} MB of memory, or the PDF library failed"
    reasons = {
        -signal.SIGXCPU: f"more than {limits.cpu_seconds} seconds of CPU time",
        -signal.SIGKILL: "too long, or more memory than available",
    }
    return {"problem": f"parsing takes {reasons.get(process.wait(), memory)}"}


def _close(process: Process) -> None:
    process.kill()
    with suppress(OSError):  # unread output
        process.communicate()


def parse(data: bytes) -> Answer:
    """Return {"record": …} or {"problem": …}."""
    from indexer.corpora.full_text.article import article_of
    from indexer.corpora.full_text.pages import Unreadable, read_pdf

    try:
        return {"record": article_of(*read_pdf(data))}
    except Unreadable as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "parsing takes more memory than allowed"}
    except Exception as error:  # noqa: BLE001 - continue with the next document after any error
        return {"problem": f"it cannot be read: {type(error).__name__}: {error}"}


def main(cpu_seconds: int, memory_bytes: int) -> None:
    """Parse documents until the end of input, when the parent process has closed it or exited."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory_bytes)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output of libraries is not a result
    while head := sys.stdin.buffer.read(LENGTH.size):
        data = sys.stdin.buffer.read(*LENGTH.unpack(head))
        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + cpu_seconds)
        answers.write(json.dumps(parse(data), ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        answers.flush()


def _limit(which: int, limit: int) -> None:
    """Set a limit, within the inherited one."""
    _, hard = resource.getrlimit(which)
    resource.setrlimit(which, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
