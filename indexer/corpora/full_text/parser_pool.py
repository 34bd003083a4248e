"""Concurrent parsing of PDFs in processes with time and memory limits."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

from indexer.corpora.full_text.parser_process import Limits, read_message, write_message

Item = TypeVar("Item")
# The PDF, its record, and an event that is set when the result is no longer needed.
Complete: TypeAlias = Callable[[bytes, Mapping[str, Any], threading.Event], dict[str, Any]]

# Wall time per second of computing time, for busy machines; limits processes that wait without computing.
WALL_SECONDS = 20
# Documents submitted ahead of the awaited one, and their total bytes.
AHEAD = 3
AHEAD_BYTES = 256 << 20
DEFAULT_LIMITS = Limits()
# -P: do not import modules from the current folder, which may be that of the papers.
# Environment variables an interpreter may need; a document that compromises the parser finds no key there.
KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE")
COMMAND = [sys.executable, "-P", "-m", "indexer.corpora.full_text.parser_process"]


class ParserPool:
    """Processes that parse PDFs, started on demand and stopped when the pool is closed."""

    def __init__(
        self, workers: int, limits: Limits = DEFAULT_LIMITS, complete: Complete | None = None
    ) -> None:
        """Create a pool of at most `workers` processes; `complete` replaces a record, in a thread."""
        self._complete = complete
        self._workers = workers
        self._limits = limits
        self._threads = ThreadPoolExecutor(workers, "pdf")
        self._idle: queue.LifoQueue[_Parser] = queue.LifoQueue()
        self._running: set[_Parser] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        """Return the pool."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill all processes, including busy ones, and cancel the completion of records."""
        with self._lock:
            self._closed.set()
            for parser in self._running:
                parser.kill()
        self._threads.shutdown(cancel_futures=True)
        for parser in self._running:
            parser.close()

    def parse_in_order(
        self, documents: Iterable[tuple[Item, bytes | None]]
    ) -> Generator[tuple[Item, dict[str, Any] | None], None, None]:
        """Yield each item with its document's {"record"} or {"problem"}, None without a document."""
        waiting: deque[tuple[Item, Future[dict[str, Any]] | None, int]] = deque()
        for item, data in documents:
            future = self._threads.submit(self._parse, data) if data is not None else None
            waiting.append((item, future, len(data or b"")))
            while len(waiting) > self._workers * AHEAD or sum(size for *_, size in waiting) > AHEAD_BYTES:
                yield _done(*waiting.popleft())
        while waiting:
            yield _done(*waiting.popleft())

    def _parse(self, data: bytes) -> dict[str, Any]:
        try:
            parser = self._idle.get_nowait()
        except queue.Empty:
            parser = _Parser(self._limits)
        with self._lock:
            self._running.add(parser)
            if self._closed.is_set():
                parser.kill()
        answer = parser.parse(data)
        if "ended" in answer:
            with self._lock:
                self._running.discard(parser)
            parser.close()
        else:
            self._idle.put(parser)
        if self._complete and "record" in answer and not self._closed.is_set():
            answer["record"] = self._complete(data, answer["record"], self._closed)
        return answer


def _done(item: Item, future: Future[dict[str, Any]] | None, _: int) -> tuple[Item, dict[str, Any] | None]:
    return item, future.result() if future else None


class _Parser:
    """One process."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, a module of this package
            [*COMMAND, str(limits.cpu_seconds), str(limits.memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            process_group=0,  # Ctrl-C is handled by the parent process
        )

    def parse(self, data: bytes) -> dict[str, Any]:
        """Return the process's result for a document; "ended" if the document terminated it."""
        given, answers = self._process.stdin, self._process.stdout
        if given is None or answers is None:
            raise RuntimeError("the process has no pipes")
        timer = threading.Timer(WALL_SECONDS * self._limits.cpu_seconds, self._process.kill)
        timer.start()
        answer = None
        try:
            with suppress(OSError, ValueError):  # it ended, or was killed
                write_message(given, data)
                answer = read_message(answers)
        finally:
            timer.cancel()
        if answer is not None:
            return dict(json.loads(answer))
        self._process.kill()
        self._process.wait()
        return {"problem": _why_ended(self._process.returncode, self._limits), "ended": True}

    def kill(self) -> None:
        """Kill the process, which also ends the wait for its response."""
        self._process.kill()

    def close(self) -> None:
        """Kill the process, and close its pipes."""
        self._process.kill()
        with suppress(OSError):  # unread output
            self._process.communicate()


def _why_ended(code: int, limits: Limits) -> str:
    if code == -signal.SIGXCPU:
        return f"parsing takes more than {limits.cpu_seconds} seconds of CPU time"
    if code == -signal.SIGKILL:
        return "parsing takes too long, or more memory than available"
    memory = f"{limits.memory_bytes >> 20:,} MB"
    return f"parsing takes more than {memory} of memory, or the PDF library failed"
