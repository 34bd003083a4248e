"""Progress of running work: one state value that the events of its steps update."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from generator.tracing.steps import Listener, StepEvent

K = TypeVar("K")
T = TypeVar("T")


class Progress(Generic[K]):
    """State of running work, updated from any thread; created on the event loop that waits for it.

    A waiting reader gets only the newest state, so a slow reader uses no memory.
    """

    def __init__(self, known: K, after: Callable[[K, StepEvent], K]) -> None:
        """Set the first state; `after` returns the next state, or the same object if nothing changed."""
        self.known = known
        self._after = after
        self._event = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()

    def listener(self, further: Listener | None = None) -> Listener:
        """Return the listener that updates the state and forwards events to `further`."""

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
        """Wake the reader without a change."""
        self._event.set()

    async def changed(self) -> K:
        """Wait for a change and return the new state."""
        await self._event.wait()
        self._event.clear()
        return self.known


@asynccontextmanager
async def followed(work: Coroutine[Any, Any, T], progress: Progress[K]) -> AsyncIterator["asyncio.Task[T]"]:
    """Run work as a task; leaving the block cancels it and waits until it has ended."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda _: progress.wake())
    try:
        yield task
    finally:
        task.cancel()
        await ended(task)
        if not task.cancelled():
            task.exception()  # mark it as retrieved: the block raised it, or nobody needs it


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
