"""Running work as a stream of snapshots, and concurrent work that is cancelled together.

The steps of the work update one state value, and a reader gets the newest one. A slow reader therefore uses
no memory, and events are the difference between the state that it has received and the newest state.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from generator.tracing.steps import Listener, StepEvent

K = TypeVar("K")
T = TypeVar("T")


async def snapshots(
    start: Callable[[Listener], Coroutine[Any, Any, T]],
    known: K,
    after: Callable[[K, StepEvent], K],
    further: Listener | None = None,
) -> AsyncGenerator[tuple[K, T | None], None]:
    """Run work and yield its newest state after each change, and at the end the state with the result.

    Closing the generator cancels the work and waits until it has ended.

    Args:
        start: makes the work from the listener of its steps, which may be called in any thread.
        known: the first state.
        after: returns the next state, or the same object if nothing changed.
        further: also receives the events of the steps.
    """
    changed, lock, loop = asyncio.Event(), threading.Lock(), asyncio.get_running_loop()

    def listen(event: StepEvent) -> None:
        nonlocal known
        with lock:
            before, known = known, after(known, event)
            is_new = known is not before
        if is_new:
            loop.call_soon_threadsafe(changed.set)
        if further:
            further(event)

    task = asyncio.create_task(start(listen))
    task.add_done_callback(lambda _: changed.set())
    try:
        while not task.done():
            await changed.wait()
            changed.clear()
            yield known, None
        yield known, task.result()
    finally:
        task.cancel()
        await ended(task)
        if not task.cancelled():
            task.exception()  # mark it as retrieved: it was raised above, or nobody needs it


async def ended(task: "asyncio.Future[T]") -> None:
    """Wait until a task has ended; a cancellation during the wait (as by anyio) is raised afterwards."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled


async def all_of(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines concurrently and return their results in order; the first error cancels the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
