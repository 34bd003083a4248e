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
    context = multiprocessing.get_context("spawn")
    chosen = analyzer, decompound, dictionary, beside
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=chosen)

    def submitted(most: int) -> Iterator[tuple[list[tuple[Key, Texts]], Future[list[Any]]]]:
        for batch in islice(batches, most):
            with _interrupts_blocked():
                future = pool.submit(_analyse_batch, [passage for _, passage in batch])
            yield batch, future

    started = False
    try:
        waiting = deque(submitted(workers * AHEAD))
        while waiting:
            batch, future = waiting.popleft()
            results = future.result()
            started = True
            waiting.extend(submitted(1))
            for (key, passage), result in zip(batch, results, strict=True):
                yield key, passage, *result
    except BrokenProcessPool as error:
        script = getattr(sys.modules["__main__"], "__file__", None) or ""
        if not started and script.endswith(".py"):
            raise InvalidCall(UNGUARDED.format(script)) from error
        raise WorkerEnded(f"one of {workers} analysis processes was terminated") from error
    finally:
        pool.shutdown(cancel_futures=True)


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
    return [_analyse(passage, *_worker) for passage in passages]
