"""An event loop for tests of limits and pauses: nobody sleeps, and what computes takes no time.

For coroutines that wait for each other and for the clock: an answer of a real server would come too late.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

Result = TypeVar("Result")


class _Selector(selectors.SelectSelector):
    """Lets the time that it is to wait pass at once."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(timeout and 0)
        self.now += 0 if ready else timeout or 0
        return ready


class _Loop(asyncio.SelectorEventLoop):
    """Runs what is meant for threads in its own."""

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[..., Result], *args: object
    ) -> asyncio.Future[Result]:
        del executor
        done: asyncio.Future[Result] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - whatever it is, who waits for it is told
            done.set_exception(error)
        return done


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine as `asyncio.run` does; where all tasks sleep, it is at once later."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)
