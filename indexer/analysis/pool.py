"""Analysis in several processes, with results in input order.

The caller can pass a further function of text and analyzer, which runs in the same process.
"""

import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import chain, islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from base.errors import InvalidCall
from indexer.analysis import Analyzer, Decompound, UserDictionary, make_analyzer
from indexer.analysis.analysed import AnalysedPassage

# Limits of a batch sent to a process: items, and characters of all items together.
BATCH = 64
BATCH_CHARACTERS = 500_000
# Batches submitted ahead of the awaited one, per process.
AHEAD = 3
UNGUARDED = "the analysis processes import {}; start the work in it below `if __name__ == '__main__':`"


class PassageText(Protocol):
    """The analysed texts of a passage."""

    @property
    def title(self) -> str: ...  # noqa: D102

    @property
    def text(self) -> str: ...  # noqa: D102

    @property
    def title2(self) -> str: ...  # noqa: D102


Key = TypeVar("Key")
Texts = TypeVar("Texts", bound=PassageText)
Beside = TypeVar("Beside")
RunBeside = Callable[[Texts, Analyzer], Beside]


class WorkerEnded(Exception):
    """A process of the pool was terminated from outside: by a person, or by the system for lack of memory."""


def analyse_in_order(
    items: Iterable[tuple[Key, Texts]],
    beside: RunBeside[Texts, Beside],
    *,
    analyzer: str,
    decompound: Decompound,
    workers: int,
    dictionary: UserDictionary | None = None,
) -> Generator[tuple[Key, Texts, AnalysedPassage, Beside], None, None]:
    """Yield each key and passage with its analysis and the result of `beside`, in order.

    With fewer than two workers, or no more passages than a batch, the work is done in this process. Otherwise
    `beside` runs in the workers, and must be a module-level function. Workers end with this process, however
    it ends.

    Raises:
        WorkerEnded: a worker was terminated from outside.
        InvalidCall: the workers import a script that starts this work itself.
    """
    batches = _batches(items)
    first = list(islice(batches, 2))
    if workers < 2 or len(first) < 2:  # noqa: PLR2004
        made = make_analyzer(analyzer, decompound, dictionary)
        for key, passage in chain.from_iterable(chain(first, batches)):
            yield key, passage, *_analyse(passage, made, beside)
        return

    batches = chain(first, batches)
    chosen = analyzer, decompound, dictionary, beside
    # Each thread waits for one process. An ended process ends the thread's wait, even for half a result.
    with ThreadPoolExecutor(workers) as threads, _processes(workers, chosen) as idle:
        submitted = ((batch, threads.submit(_send, batch, idle)) for batch in batches)
        waiting = deque(islice(submitted, workers * AHEAD))
        started = False
        while waiting:
            batch, future = waiting.popleft()
            try:
                results = future.result()
            except EOFError as error:
                script = getattr(sys.modules["__main__"], "__file__", None) or ""
                if not started and script.endswith(".py"):
                    raise InvalidCall(UNGUARDED.format(script)) from error
                raise WorkerEnded(f"one of {workers} analysis processes was terminated") from error
            started = True
            waiting.extend(islice(submitted, 1))
            for (key, passage), result in zip(batch, results, strict=True):
                yield key, passage, *result


def _batches(items: Iterable[tuple[Key, Texts]]) -> Iterator[list[tuple[Key, Texts]]]:
    batch: list[tuple[Key, Texts]] = []
    characters = 0
    for item in items:
        batch.append(item)
        characters += len(item[1].title) + len(item[1].text)
        if len(batch) == BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _analyse(
    passage: Texts, analyzer: Analyzer, beside: RunBeside[Texts, Beside]
) -> tuple[AnalysedPassage, Beside]:
    analysed = AnalysedPassage.of(passage.title, passage.text, passage.title2, analyzer)
    return analysed, beside(passage, analyzer)


@contextmanager
def _processes(count: int, chosen: tuple[Any, ...]) -> Iterator["SimpleQueue[Connection]"]:
    """Start processes; yield a queue of the connections to those that have nothing to do."""
    context, processes = multiprocessing.get_context("spawn"), list[SpawnProcess]()
    idle: SimpleQueue[Connection] = SimpleQueue()
    resource_tracker.ensure_running()  # its start unblocks Ctrl-C
    try:
        for _ in range(count):
            ours, theirs = context.Pipe()
            idle.put(ours)
            with theirs, _interrupts_blocked():  # only the process keeps `theirs`, so `ours` ends with it
                process = context.Process(target=_work, args=(theirs, *chosen), daemon=True)
                process.start()
                processes.append(process)
        yield idle
    finally:
        for process in processes:
            process.kill()
            process.join()


def _send(batch: list[tuple[Any, Any]], idle: "SimpleQueue[Connection]") -> list[Any]:
    """Analyse a batch in a process; EOFError if the process ends."""
    connection = idle.get()
    try:
        connection.send([passage for _, passage in batch])
        results: list[Any] | Exception = connection.recv()
    except OSError as error:
        raise EOFError(str(error)) from error
    finally:
        idle.put(connection)
    if isinstance(results, Exception):
        raise results
    return results


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C while a process is started; it inherits this, and its parent ends it.

    If another thread takes the signal meanwhile, it is raised at the end.
    """
    taken, handler = list[int](), signal.getsignal(signal.SIGINT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    with suppress(ValueError):  # only the main thread sets handlers, and is interrupted
        signal.signal(signal.SIGINT, lambda number, _: taken.append(number))
    try:
        yield
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if taken:
            signal.raise_signal(signal.SIGINT)


def _work(
    connection: Connection,
    analyzer: str,
    decompound: Decompound,
    dictionary: UserDictionary | None,
    beside: RunBeside[Any, Any],
) -> None:
    """Answer batches of passages by their analyses, or by an exception, until the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    made = make_analyzer(analyzer, decompound, dictionary)
    with suppress(EOFError, OSError):
        while True:
            passages = connection.recv()
            try:
                results: Any = [_analyse(passage, made, beside) for passage in passages]
            except Exception as error:  # noqa: BLE001 - raised again in the parent
                results = error
            connection.send(results)
