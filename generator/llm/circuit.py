"""A circuit breaker: a server that fails again and again is left alone for a while."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from generator.errors import CircuitOpen, ModelFailed, ModelTooSlow


class Circuit:
    """Closed: requests pass. Open: none does. After `open_s` one may try; it closes the circuit or not.

    `clock` gives seconds that never go back.
    """

    def __init__(
        self, failures: int, open_s: float, endpoint: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._allowed = failures
        self._open_s = open_s
        self._endpoint = endpoint
        self._clock = clock
        self._failures = 0  # in a row
        self._opened_at: float | None = None
        self._trying = False
        self._last = ""

    @property
    def is_open(self) -> bool:
        """Tell whether a request would be turned away now."""
        return self._opened_at is not None and (self._trying or self._left_s > 0)

    @property
    def _left_s(self) -> float:
        return 0.0 if self._opened_at is None else self._opened_at + self._open_s - self._clock()

    def check(self) -> None:
        """Raise CircuitOpen where a request would be turned away."""
        if self.is_open:
            left = self._left_s
            wait = "one request is trying it now" if left <= 0 else f"tried again in {left:.0f} s"
            raise CircuitOpen(
                f"{self._endpoint} failed {self._failures} times in a row and is left alone ({wait}; "
                f"SHRAG_LLM__CIRCUIT_OPEN_S). Last: {self._last}"
            )

    @contextmanager
    def passage(self) -> Iterator[None]:
        """Let one request through, and learn from how it ends.

        One that is cancelled, or had too little time left when it was sent, teaches nothing.

        Raises:
            CircuitOpen: none may pass now.
        """
        self.check()
        trying = self._opened_at is not None
        self._trying = self._trying or trying
        try:
            yield
        except ModelFailed as error:
            if error.of_server:
                self._failures += 1
                self._last = str(error)
                if trying or (self._opened_at is None and self._failures >= self._allowed):
                    self._opened_at = self._clock()
            elif not isinstance(error, ModelTooSlow):
                self._close()
            raise
        else:
            self._close()
        finally:
            if trying:
                self._trying = False

    def _close(self) -> None:
        self._failures, self._opened_at = 0, None
