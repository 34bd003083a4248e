"""A model of a search, opened when the first question needs it."""

import time
from collections.abc import Callable
from copy import copy
from typing import Generic, Protocol, TypeVar

from base.errors import ResourceError
from retriever.opening.worker_threads import WorkerThreads

COOLDOWN_S = 20.0  # after a failure


class Closable(Protocol):
    """A resource that can be closed."""

    def close(self) -> None:
        """Close the resource."""
        ...


Model = TypeVar("Model", bound=Closable)
Result = TypeVar("Result")


class LazyModel(Generic[Model]):
    """One model for many callers, used in its own thread.

    For `COOLDOWN_S` after a failure, calls fail immediately, so that searches continue without the model.
    """

    def __init__(self, thread: str, open_model: Callable[[], Model | None]) -> None:
        """Set the thread's name; nothing is opened yet. `open_model` returns None if there is no model."""
        self._threads = WorkerThreads(thread, 1)
        self._open = open_model
        self._model: Model | None = None
        self._failure: ResourceError | None = None
        self._retry_at = 0.0

    async def run(self, use: Callable[[Model], Result]) -> Result | None:
        """Use the model in its thread; None without a model.

        Raises:
            LibraryMissing, EncoderUnusable: it cannot be opened or fails.
        """
        return await self._threads.run(self._run, use)

    def close(self) -> None:
        """Wait for running calls, and close the model."""
        self._threads.close()
        if self._model:
            self._model.close()

    def _run(self, use: Callable[[Model], Result]) -> Result | None:
        if self._failure and time.monotonic() < self._retry_at:
            raise copy(self._failure) from None  # the same error would keep the frames of all callers
        try:
            if self._model is None:
                self._model = self._open()
            return None if self._model is None else use(self._model)
        except ResourceError as error:
            self._failure, self._retry_at = copy(error), time.monotonic() + COOLDOWN_S
            raise
