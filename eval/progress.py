"""Work on the questions of a run, each by itself, with progress on standard error."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from base.errors import RemediableError
from base.progress import Progress, no_progress
from base.terminal.progress_bar import progress_bar
from eval.errors import EvalError
from generator.errors import GeneratorError, ModelFailed
from generator.tracing import all_of
from indexer.errors import EncoderUnusable, EngineRefused, EngineUnreachable
from retriever.errors import SourceFailed

K = TypeVar("K")
T = TypeVar("T")

MOST_FAILURES = 10  # consecutive failures that end the work
# Errors that may affect one question and not the next; all other known errors affect the whole run.
OF_A_QUESTION = (SourceFailed, EngineUnreachable, EngineRefused, EncoderUnusable, ModelFailed)
OF_THE_RUN = (RemediableError, GeneratorError, EvalError, OSError, MemoryError)


def question_bar() -> AbstractContextManager[Progress]:
    """Show the progress of stages with a known number of questions on standard error, if it is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return progress_bar(*columns)


async def work_through(
    questions: Mapping[K, T],
    work: Callable[[K, T], Awaitable[None]],
    *,
    total: int = 0,
    at_once: int = 1,
    tolerated: tuple[type[Exception], ...] = OF_A_QUESTION,
    on_failure: Callable[[K, Exception], None] = lambda *_: None,
    progress: Progress = no_progress,
) -> dict[K, Exception]:
    """Do the work of each question; return the errors of the questions that failed.

    `total` counts also the questions that are done already. Each error is passed to `on_failure` immediately.

    Raises:
        Exception: the last error if `MOST_FAILURES` consecutive questions, or all, failed; an error that
            affects the whole run; or an error that is not `tolerated`.
    """
    failed: dict[K, Exception] = {}
    total = total or len(questions)
    done, in_a_row = total - len(questions), 0
    slots = asyncio.Semaphore(at_once)

    async def one(key: K, question: T) -> None:
        nonlocal done, in_a_row
        async with slots:
            progress("questions", done, total)
            await asyncio.sleep(0)  # lets Ctrl-C end the work
            try:
                await work(key, question)
                in_a_row = 0
            except tolerated as error:
                in_a_row += 1
                of_the_run = isinstance(error, OF_THE_RUN) and not isinstance(error, OF_A_QUESTION)
                if of_the_run or in_a_row in {MOST_FAILURES, total}:
                    raise
                failed[key] = error
                on_failure(key, error)
            done += 1

    await all_of([one(*each) for each in questions.items()])
    return failed
