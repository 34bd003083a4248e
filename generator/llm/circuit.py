"""Circuit breaker: after repeated failures, requests to the server pause."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from generator.errors import CircuitOpen, ModelFailed, ModelTooSlow


class Circuit:
    """Closed: requests pass. Open: none pass. After `open_s` one request tries the server.

    `clock` returns monotonic seconds.
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
        """Whether a request would be refused now."""
        return self._opened_at is not None and (self._trying or self._left_s > 0)

    @property
    def _left_s(self) -> float:
        return 0.0 if self._opened_at is None else self._opened_at + self._open_s - self._clock()

    def check(self) -> None:
        """Raise CircuitOpen if a request would be refused now."""
        if self.is_open:
            left = self._left_s
            wait = "one request is trying it now" if left <= 0 else f"tried again in {left:.0f} s"
            raise CircuitOpen(
                f"{self._endpoint} failed {self._failures} times in a row; calls are paused ({wait}; "
                f"SHRAG_LLM__CIRCUIT_OPEN_S). Last error: {self._last}"
            )

    @contextmanager
    def passage(self) -> Iterator[None]:
        """Let one request through and update the circuit with its outcome.

        A request that is cancelled, or was sent with too little time left, does not change the circuit.

        Raises:
            CircuitOpen: requests are paused.
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
