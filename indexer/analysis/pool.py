"""Analysis in several processes, results in the order of what came in."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple, TypeVar

from indexer.analysis import Analyzer, Decompound, UserDictionary, make_analyzer
from indexer.glossary.brackets import PassageMentions, PassageTexts, passage_mentions
from indexer.packing import PassageTokens

Item = TypeVar("Item")

# What a process is handed at a time: so many items, or fewer that have so many characters together.
BATCH = 64
BATCH_CHARACTERS = 500_000
# Batches handed out ahead of the one whose result is waited for, per process.
AHEAD = 3
REMEMBERED_TEXTS = 8
LOOK_AFTER_S = 1.0  # seconds of waiting for a result between two looks at the processes


class AnalysedTexts(NamedTuple):
    """The tokens of a passage, and what its brackets say."""

    tokens: PassageTokens
    mentions: PassageMentions = PassageMentions()


class PassageAnalyzer:
    """Analyses passages as they are indexed, and finds what their brackets say."""

    def __init__(self, analyzer: Analyzer) -> None:
        """Take the analyzer; some texts are remembered, since passages of one paper share titles."""
        self._analyzer = analyzer
        self._analyze = lru_cache(REMEMBERED_TEXTS)(analyzer.analyze)

    def analyse(self, texts: PassageTexts) -> AnalysedTexts:
        """Return the tokens of a passage, and the mentions in it."""
        tokens = PassageTokens.of(texts.title, texts.text, texts.title2, self._analyze)
        return AnalysedTexts(tokens, passage_mentions(texts, self._analyzer))


def analyse_in_order(
    items: Iterable[Item],
    texts: Callable[[Item], PassageTexts],
    *,
    analyzer: str,
    decompound: Decompound,
    workers: int,
    dictionary: UserDictionary | None = None,
) -> Generator[tuple[Item, AnalysedTexts], None, None]:
    """Yield each item with what becomes of its `texts`, in order.

    With fewer than two workers, or no more items than a batch, all happens in this process. A worker ends
    when this process does, however that ends.

    Raises:
        WorkerEnded: a worker was ended from outside.
    """
    batches = _batches(items, texts)
    first = next(batches, [])
    second = next(batches, [])
    batches = chain([first, second] if second else [first], batches)
    if workers < 2 or not second:  # noqa: PLR2004
        local = PassageAnalyzer(make_analyzer(analyzer, decompound, dictionary))
        for batch in batches:
            for item in batch:
                yield item, local.analyse(texts(item))
        return

    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    with ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start_worker, initargs=(analyzer, decompound, dictionary)
    ) as pool:
        waiting: deque[tuple[list[Item], Future[list[AnalysedTexts]]]] = deque()
        pool_of: set[BaseProcess] = set()
        try:
            while True:
                for batch in islice(batches, workers * AHEAD - len(waiting)):
                    with _interrupts_held_back():
                        future = pool.submit(_analyse_batch, [texts(item) for item in batch])
                    waiting.append((batch, future))
                if not waiting:
                    return
                done, future = waiting.popleft()
                yield from zip(done, _result(future, pool_of, before), strict=True)
        except BrokenProcessPool as error:
            # This process holds the pipe open too: closed, the pool's thread ends its wait for half a result.
            waiting.clear()  # the pool itself tells these, and stumbles over cancelled ones
            getattr(pool, "_result_queue")._writer.close()  # noqa: B009, SLF001 - the pool offers no way
            raise WorkerEnded(f"one of {workers} processes that analyse the texts was ended") from error
        finally:
            for _, future in waiting:
                future.cancel()


def _result(
    future: Future[list[AnalysedTexts]], pool: set[BaseProcess], before: set[BaseProcess]
) -> list[AnalysedTexts]:
    """Wait for a result, and for the end of a process too, which the pool itself may miss.

    One that is killed while it hands over a result leaves half of it in the pipe, and the pool waits for the
    other half as long as any other process holds the pipe open; so the others are ended with it.
    """
    while True:
        pool |= set(multiprocessing.active_children()) - before
        try:
            return future.result(timeout=LOOK_AFTER_S)
        except TimeoutError:
            if not future.done() and not all(process.is_alive() for process in pool):
                for process in pool:
                    process.kill()
                raise BrokenProcessPool("a process ended while it handed over a result") from None


class WorkerEnded(Exception):
    """A process of the pool was ended from outside: by a person, or by the system for lack of memory."""


def _batches(items: Iterable[Item], texts: Callable[[Item], PassageTexts]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    characters = 0
    for item in items:
        batch.append(item)
        characters += sum(map(len, texts(item)[:2]))
        if len(batch) == BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold back Ctrl-C while a process may be started, which inherits that: its parent ends it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_worker: PassageAnalyzer


def _start_worker(analyzer: str, decompound: Decompound, dictionary: UserDictionary | None) -> None:
    global _worker  # noqa: PLW0603 - a worker process holds one analyzer for its life
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker = PassageAnalyzer(make_analyzer(analyzer, decompound, dictionary))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _analyse_batch(texts: list[PassageTexts]) -> list[AnalysedTexts]:
    return [_worker.analyse(one) for one in texts]
