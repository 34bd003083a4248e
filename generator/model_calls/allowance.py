"""What is left of a budget where many calls are under way at once.

What a call may take is set aside before it is sent, so that all of them together stay within the budget, and
put right when it is done.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, replace

from generator.model_calls.budgets import Budget, Spent


class BudgetSpent(Exception):
    """A call would pass a bound of the budget, or was given up when the time was over."""


class Allowance:
    """What is left of a budget; one loop's, used on one event loop.

    Tokens are the server's count, or an estimate where it counts none.
    """

    def __init__(
        self, budget: Budget, spent: Spent | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with what was spent before, its seconds included."""
        self.budget = budget
        self.ended: tuple[str, ...] = ()  # bounds that something was given up for
        self._before, self._clock, self._begun = spent or Spent(), clock, clock()
        self._spent = self._before

    @property
    def spent(self) -> Spent:
        """What was taken until now."""
        return replace(self._spent, seconds=self._before.seconds + self._clock() - self._begun)

    @property
    def seconds_left(self) -> float:
        """Seconds until the time is over; infinite without that bound."""
        return math.inf if self.budget.seconds is None else self.budget.seconds - self.spent.seconds

    @property
    def papers_left(self) -> int | None:
        """How many papers may still be judged, None without that bound."""
        return None if self.budget.papers is None else max(0, self.budget.papers - self._spent.papers)

    @property
    def time_is_over(self) -> bool:
        """Whether the seconds are used up; noted where they are."""
        if self.seconds_left > 0:
            return False
        self.end("seconds")
        return True

    def take(self, *, calls: int = 0, tokens: int = 0) -> bool:
        """Set something aside; False, and noted which bound ended, where that would pass one."""
        spent = self.spent
        wanted = asdict(replace(spent, calls=spent.calls + calls, tokens=spent.tokens + tokens))
        for name, most in asdict(self.budget).items():
            if most is not None and wanted[name] > most:
                self.end(name)
                return False
        self.settle(calls=calls, tokens=tokens)
        return True

    def settle(self, *, calls: int = 0, tokens: int = 0, papers: int = 0) -> None:
        """Put right what was set aside, by how much more (or less) it was."""
        self._spent = replace(
            self._spent,
            calls=max(0, self._spent.calls + calls),
            tokens=max(0, self._spent.tokens + tokens),
            papers=max(0, self._spent.papers + papers),
        )

    def end(self, bound: str) -> None:
        """Note that something was given up for a bound."""
        if bound not in self.ended:
            self.ended = (*self.ended, bound)

    def note(self) -> str:
        """Say which budgets ended, with their sizes; "" where none did."""
        named = [f"{most:,} {name}" for name, most in asdict(self.budget).items() if name in self.ended]
        return (
            f"the budget of {' and '.join(named)} is spent; what was found before is given" if named else ""
        )
