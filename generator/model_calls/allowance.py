"""Remaining budget of concurrent calls.

A call reserves its maximum cost before it is sent, so that all calls together stay within the budget. The
reservation is corrected when the call ends.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, replace

from generator.model_calls.budgets import Budget, Spent


class BudgetSpent(Exception):
    """A call would exceed the budget, or was cancelled when the time was over."""


class Allowance:
    """Remaining budget of one search, used on one event loop.

    Tokens are the server's count, or an estimate if the server does not count.
    """

    def __init__(
        self, budget: Budget, spent: Spent | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Start with the amounts spent before, including seconds."""
        self.budget = budget
        self.ended: tuple[str, ...] = ()  # limits that stopped some work
        self._before, self._clock, self._begun = spent or Spent(), clock, clock()
        self._spent = self._before

    @property
    def spent(self) -> Spent:
        """Amounts spent or reserved so far."""
        return replace(self._spent, seconds=self._before.seconds + self._clock() - self._begun)

    @property
    def seconds_left(self) -> float:
        """Remaining seconds; infinite without a limit."""
        return math.inf if self.budget.seconds is None else self.budget.seconds - self.spent.seconds

    @property
    def papers_left(self) -> int | None:
        """Number of papers that may still be judged; None without a limit."""
        return None if self.budget.papers is None else max(0, self.budget.papers - self._spent.papers)

    @property
    def time_is_over(self) -> bool:
        """Whether the seconds are spent; if so, it is noted."""
        if self.seconds_left > 0:
            return False
        self.end("seconds")
        return True

    def take(self, *, calls: int = 0, tokens: int = 0) -> bool:
        """Reserve calls and tokens; if that exceeds a limit, note the limit and return False."""
        spent = self.spent
        wanted = asdict(replace(spent, calls=spent.calls + calls, tokens=spent.tokens + tokens))
        for name, most in asdict(self.budget).items():
            if most is not None and wanted[name] > most:
                self.end(name)
                return False
        self.settle(calls=calls, tokens=tokens)
        return True

    def settle(self, *, calls: int = 0, tokens: int = 0, papers: int = 0) -> None:
        """Correct a reservation by the difference to the actual cost."""
        self._spent = replace(
            self._spent,
            calls=max(0, self._spent.calls + calls),
            tokens=max(0, self._spent.tokens + tokens),
            papers=max(0, self._spent.papers + papers),
        )

    def end(self, bound: str) -> None:
        """Note a limit that stopped some work."""
        if bound not in self.ended:
            self.ended = (*self.ended, bound)

    def note(self) -> str:
        """Format the spent budgets and their sizes; "" if none is spent."""
        named = [f"{most:,} {name}" for name, most in asdict(self.budget).items() if name in self.ended]
        return (
            f"the budget of {' and '.join(named)} is spent; what was found before is given" if named else ""
        )
