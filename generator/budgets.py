"""Budgets of loops with model calls: calls, tokens, seconds and papers.

A call reserves one request and its most tokens before it is sent, so that concurrent calls together stay
within the budget. The reservation is corrected when the call ends; retries and repairs are counted then.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace

from base.notes import Note


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


class BudgetSpent(Exception):
    """A call would exceed the budget, or was cancelled when the time was over."""


@dataclass(slots=True)
class Cost:
    """The requests and tokens of one call; the reserved ones until they are known."""

    tokens: int
    calls: int = 1


class Allowance:
    """Account of one budget, used on one event loop; tokens that a server does not count are estimated."""

    def __init__(self, budget: Budget, spent: Spent | None = None) -> None:
        """Start with the amounts spent before, including seconds."""
        self.budget = budget
        self.ended: tuple[str, ...] = ()  # limits that stopped some work
        self._spent = spent or Spent()
        self._begun = time.monotonic() - self._spent.seconds

    @property
    def spent(self) -> Spent:
        """Amounts spent or reserved so far."""
        return replace(self._spent, seconds=time.monotonic() - self._begun)

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds, at least 0; None without a limit."""
        return None if self.budget.seconds is None else max(0.0, self.budget.seconds - self.spent.seconds)

    @property
    def papers_left(self) -> int | None:
        """Number of papers that may still be judged; None without a limit."""
        return None if self.budget.papers is None else max(0, self.budget.papers - self._spent.papers)

    @property
    def time_is_over(self) -> bool:
        """Whether the seconds are spent; if so, it is noted."""
        if self.seconds_left is None or self.seconds_left > 0:
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

    @property
    def calls_ended(self) -> bool:
        """Whether a limit stopped calls; that of papers does not."""
        return any(limit != "papers" for limit in self.ended)

    def settle(self, *, calls: int = 0, tokens: int = 0, papers: int = 0) -> None:
        """Add amounts, which correct a reservation if they are negative."""
        spent = self._spent
        self._spent = replace(
            spent, calls=spent.calls + calls, tokens=spent.tokens + tokens, papers=spent.papers + papers
        )

    @asynccontextmanager
    async def reserve(self, tokens: int) -> AsyncIterator[Cost]:
        """Reserve one request of at most `tokens`, and the remaining time for the block.

        Raises:
            BudgetSpent: the request would exceed the budget, or the time ended within the block.
        """
        if self.time_is_over:
            raise BudgetSpent
        for name, wanted in (("calls", self._spent.calls + 1), ("tokens", self._spent.tokens + tokens)):
            if (most := getattr(self.budget, name)) is not None and wanted > most:
                self.end(name)
                raise BudgetSpent
        cost = Cost(tokens)
        self.settle(calls=1, tokens=tokens)
        timer = asyncio.timeout(self.seconds_left)
        try:
            async with timer:
                yield cost
        except TimeoutError:
            if not timer.expired():
                raise
            self.end("seconds")
            raise BudgetSpent from None
        finally:
            self.settle(calls=cost.calls - 1, tokens=cost.tokens - tokens)

    def end(self, limit: str) -> None:
        """Note a limit that stopped some work."""
        if limit not in self.ended:
            self.ended = (*self.ended, limit)

    @property
    def ended_limits(self) -> list[str]:
        """The limits that stopped some work, formatted: ["40 calls"]."""
        return [f"{most:,} {name}" for name, most in asdict(self.budget).items() if name in self.ended]

    def note(self) -> str:
        """Return a note of the spent budgets and their sizes; "" if none is spent."""
        if len(self.ended_limits) > 1:
            return Note("ended_limits", limits=" and ".join(self.ended_limits))
        return next((Note(f"ended_{name}", most=getattr(self.budget, name)) for name in self.ended), "")
