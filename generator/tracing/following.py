"""Work that is followed while it is done: what is known of it is one value, kept up to date by its steps."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from generator.tracing.steps import Listener, StepEvent

K = TypeVar("K")
T = TypeVar("T")


class Progress(Generic[K]):
    """What is known, as the steps tell it from any thread; made on the event loop that waits for it.

    Who waits gets the newest value, so a slow reader costs no memory.
    """

    def __init__(self, known: K, after: Callable[[K, StepEvent], K]) -> None:
        """Begin with a value; `after` returns the same one where an event adds nothing."""
        self.known = known
        self._after = after
        self._event = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()

    def listening(self, further: Listener | None = None) -> Listener:
        """Return what hears the steps, and passes them on to a further listener."""

        def listen(event: StepEvent) -> None:
            with self._lock:
                known = self._after(self.known, event)
                is_new, self.known = known is not self.known, known
            if is_new:
                self._loop.call_soon_threadsafe(self._event.set)
            if further:
                further(event)

        return listen

    def wake(self) -> None:
        """Let who waits go on, though nothing is new."""
        self._event.set()

    async def changed(self) -> K:
        """Wait until something is new; return what is known then."""
        await self._event.wait()
        self._event.clear()
        return self.known


@asynccontextmanager
async def followed(work: Coroutine[Any, Any, T], progress: Progress[K]) -> AsyncIterator["asyncio.Task[T]"]:
    """Begin work as a task, which has ended when the block is left, whatever ends the block."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda _: progress.wake())
    try:
        yield task
    finally:
        task.cancel()
        await ended(task)
        if not task.cancelled():
            task.exception()  # it was raised in the block, or nobody waits for it any more


async def ended(task: "asyncio.Future[T]") -> None:
    """Wait until a task has ended; what cancels the waiting meanwhile, as anyio does, is raised then."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
