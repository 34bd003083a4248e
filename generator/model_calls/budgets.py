"""Budgets of loops with model calls: calls, tokens, seconds and papers."""

import math
from dataclasses import asdict, dataclass

from base.errors import InvalidCall
from generator.tracing.steps import Step


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
    """Limits of a loop; None is unlimited. Calls running when a limit is reached are not counted."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    papers: int | None = None

    def __post_init__(self) -> None:
        """Check the limits; raises InvalidCall."""
        for part, limit in asdict(self).items():
            if limit is not None and not 0 <= limit < math.inf:
                raise InvalidCall(f"a budget of {limit} {part} is invalid; give a number of at least 0")

    def ended(self, spent: Spent) -> str:
        """Return the spent limits, for a note; "" if none is spent."""
        limits, used = asdict(self), asdict(spent)
        return ", ".join(
            f"{limit:,.0f} {part}"
            for part, limit in limits.items()
            if limit is not None and used[part] >= limit
        )


def spent_within(step: Step, papers: int = 0) -> Spent:
    """Sum the model calls within a step so far; the caller counts the papers."""
    calls = [part.model_call for part in step.walk() if part.model_call is not None]
    return Spent(
        calls=sum(call.get("attempts", 1) for call in calls),
        tokens=sum(call.get(part) or 0 for call in calls for part in ("prompt_tokens", "completion_tokens")),
        seconds=step.seconds,
        papers=papers,
    )
