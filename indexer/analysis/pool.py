"""Analysis in several processes, with results in input order.

The caller can pass a further function of text and analyzer, which runs in the same process.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
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
CHECK_INTERVAL_S = 1.0  # interval of checking the processes while a result is awaited


class PassageText(Protocol):
    """The analysed texts of a passage."""

    @property
    def title(self) -> str: ...  # noqa: D102

    @property
    def text(self) -> str: ...  # noqa: D102

    @property
    def title2(self) -> str: ...  # noqa: D102


Item = TypeVar("Item")
Texts = TypeVar("Texts", bound=PassageText)
Beside = TypeVar("Beside")
RunBeside = Callable[[Texts, Analyzer], Beside]


def _analyse(
    texts: Texts, analyzer: Analyzer, beside: RunBeside[Texts, Beside]
) -> tuple[AnalysedPassage, Beside]:
    analysed = AnalysedPassage.of(texts.title, texts.text, texts.title2, analyzer)
    return analysed, beside(texts, analyzer)


def analyse_in_order(
    items: Iterable[Item],
    texts: Callable[[Item], Texts],
    beside: RunBeside[Texts, Beside],
    *,
    analyzer: str,
    decompound: Decompound,
    workers: int,
    dictionary: UserDictionary | None = None,
) -> Generator[tuple[Item, AnalysedPassage, Beside], None, None]:
    """Yield each item with the analysis of its `texts` and the result of `beside`, in order.

    With fewer than two workers, or no more items than a batch, the work is done in this process. Otherwise
    `beside` runs in the workers, and must be a module-level function. Workers end with this process, however
    it ends.

    Raises:
        WorkerEnded: a worker was terminated from outside.
        InvalidCall: the workers import a script that starts this work itself.
    """
    batches = _batches(items, texts)
    first = next(batches, [])
    second = next(batches, [])
    batches = chain([first, second] if second else [first], batches)
    if workers < 2 or not second:  # noqa: PLR2004
        made = make_analyzer(analyzer, decompound, dictionary)
        for item in chain.from_iterable(batches):
            yield item, *_analyse(texts(item), made, beside)
        return

    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    chosen = analyzer, decompound, dictionary, beside
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=chosen) as pool:
        waiting: deque[tuple[list[Item], Future[list[tuple[AnalysedPassage, Beside]]]]] = deque()
        processes: set[BaseProcess] = set()
        started = False
        try:
            while True:
                for batch in islice(batches, workers * AHEAD - len(waiting)):
                    with _interrupts_blocked():
                        future = pool.submit(_analyse_batch, [texts(item) for item in batch])
                    waiting.append((batch, future))
                if not waiting:
                    return
                done, future = waiting.popleft()
                results = _result(future, processes, before)
                started = True
                for item, result in zip(done, results, strict=True):
                    yield item, *result
        except BrokenProcessPool as error:
            # This process has the pipe open too; closing it ends the pool thread's wait for half a result.
            waiting.clear()  # the pool fails these itself, and cannot handle cancelled ones
            getattr(pool, "_result_queue")._writer.close()  # noqa: B009, SLF001 - no public API
            script = getattr(sys.modules["__main__"], "__file__", None) or ""
            if not started and script.endswith(".py"):
                raise InvalidCall(UNGUARDED.format(script)) from error
            raise WorkerEnded(f"one of {workers} analysis processes was terminated") from error
        finally:
            for _, future in waiting:
                future.cancel()


Result = TypeVar("Result")


def _result(future: Future[Result], pool: set[BaseProcess], before: set[BaseProcess]) -> Result:
    """Wait for a result or for the end of a process, which the pool itself may miss.

    A process that is killed while it sends a result leaves half of it in the pipe. The pool waits for the
    rest as long as any other process has the pipe open, so the other processes are terminated too.
    """
    while True:
        pool |= set(multiprocessing.active_children()) - before
        try:
            return future.result(timeout=CHECK_INTERVAL_S)
        except TimeoutError:
            if not future.done() and not all(process.is_alive() for process in pool):
                for process in pool:
                    process.kill()
                raise BrokenProcessPool("a process ended while it sent a result") from None


class WorkerEnded(Exception):
    """A process of the pool was terminated from outside: by a person, or by the system for lack of memory."""


def _batches(items: Iterable[Item], texts: Callable[[Item], Texts]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    characters = 0
    for item in items:
        batch.append(item)
        passage = texts(item)
        characters += len(passage.title) + len(passage.text)
        if len(batch) == BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C while a process may be started; it inherits this, and its parent ends it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_worker: tuple[Analyzer, RunBeside[Any, Any]]


def _start_worker(
    analyzer: str, decompound: Decompound, dictionary: UserDictionary | None, beside: RunBeside[Any, Any]
) -> None:
    global _worker  # noqa: PLW0603 - one analyzer per worker process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker = make_analyzer(analyzer, decompound, dictionary), beside
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _analyse_batch(passages: list[Any]) -> list[tuple[AnalysedPassage, Any]]:
    return [_analyse(texts, *_worker) for texts in passages]
