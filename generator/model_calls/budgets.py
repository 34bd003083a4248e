"""Budgets of loops with model calls: calls, tokens, seconds and papers.

A call reserves its maximum cost before it is sent, so that concurrent calls together stay within the budget.
The reservation is corrected when the call ends.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace

from base.errors import InvalidCall


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of a search: model calls with retries and their tokens, seconds, judged papers."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    papers: int = 0

    def as_record(self) -> dict[str, float]:
        """Return the amounts as JSON."""
        return asdict(self) | {"seconds": round(self.seconds, 2)}


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a loop; None is unlimited."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    papers: int | None = None

    def __post_init__(self) -> None:
        """Check the limits; raises InvalidCall."""
        for part, limit in asdict(self).items():
            if limit is not None and not 0 <= limit < math.inf:
                raise InvalidCall(f"a budget of {limit} {part} is invalid; give a number of at least 0")


class BudgetSpent(Exception):
    """A call would exceed the budget, or was cancelled when the time was over."""


class Allowance:
    """Account of one budget, used on one event loop.

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
        """Remaining seconds, at least 0; infinite without a limit."""
        return math.inf if self.budget.seconds is None else max(0.0, self.budget.seconds - self.spent.seconds)

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

    @property
    def is_spent(self) -> bool:
        """Whether any limit is reached; the reached limits are noted."""
        spent = asdict(self.spent)
        for name, most in asdict(self.budget).items():
            if most is not None and spent[name] >= most:
                self.end(name)
        return bool(self.ended)

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

    @asynccontextmanager
    async def reserve(self, tokens: int) -> AsyncIterator["Reservation"]:
        """Reserve one request of at most `tokens` and the remaining time for the block.

        Raises:
            BudgetSpent: the request would exceed the budget, or the time ended within the block.
        """
        if self.time_is_over or not self.take(calls=1, tokens=tokens):
            raise BudgetSpent
        reservation, left = Reservation(self, tokens), self.seconds_left
        timer = asyncio.timeout(None if math.isinf(left) else left)
        try:
            async with timer:
                yield reservation
        except TimeoutError:
            if not timer.expired():
                raise
            self.end("seconds")
            raise BudgetSpent from None
        finally:
            reservation.settle()

    def end(self, limit: str) -> None:
        """Note a limit that stopped some work."""
        if limit not in self.ended:
            self.ended = (*self.ended, limit)

    @property
    def ended_limits(self) -> list[str]:
        """The limits that stopped some work, formatted: ["40 calls"]."""
        return [f"{most:,} {name}" for name, most in asdict(self.budget).items() if name in self.ended]

    def note(self) -> str:
        """Format the spent budgets and their sizes; "" if none is spent."""
        named = " and ".join(self.ended_limits)
        return f"the budget of {named} is spent; what was found before is given" if named else ""


class Reservation:
    """Reserved cost of one call: its requests with retries and repair, each of the same number of tokens."""

    def __init__(self, allowance: Allowance, tokens: int) -> None:
        self.refused = False  # whether the budget refused a further request
        self._allowance, self._each = allowance, tokens
        self._reserved = 1
        self._calls = self._tokens = 0
        self._earlier = 0  # requests of prompts that the server refused as too long

    def start(self) -> None:
        """Count the reserved request as sent."""
        self._calls, self._tokens = self._reserved, self._reserved * self._each

    def take_again(self) -> bool:
        """Reserve a further request; return False if it would exceed the budget."""
        if not self._allowance.take(calls=1, tokens=self._each):
            self.refused = True
            return False
        self._reserved += 1
        self.start()
        return True

    def add_refused(self, calls: int) -> None:
        """Count requests that the server refused, before the call is repeated with a shorter prompt."""
        self._earlier += calls

    def spend(self, *, calls: int, tokens: int | None) -> None:
        """Set the actual cost; tokens are the reserved ones if unknown (None)."""
        self._calls = self._earlier + calls
        self._tokens = self._reserved * self._each if tokens is None else tokens

    def settle(self) -> None:
        """Correct the budget by the difference between the actual cost and the reserved one."""
        self._allowance.settle(
            calls=self._calls - self._reserved, tokens=self._tokens - self._reserved * self._each
        )
