"""What a call to the model brings: its answer with what it took, and the answer while it grows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A valid answer, and what it took to get it."""

    value: T
    model: str  # as the server reports it
    text: str  # as it came
    finish_reason: str
    prompt_tokens: int | None  # of all calls, where the server counts them
    completion_tokens: int | None
    attempts: int  # requests sent, retries and repair included
    repaired: bool
    milliseconds: float
    queued_ms: float = 0.0  # waited for a place among the calls under way
    first_token_ms: float | None = None  # of the first call, from sending; None where nothing was streamed
    from_cache: bool = False  # none of it was asked

    def as_record(self) -> dict[str, Any]:
        """Return all but the value as JSON, for a trace."""
        times = (
            {"from_cache": self.milliseconds}
            if self.from_cache
            else {"queued": self.queued_ms, "first_token": self.first_token_ms, "total": self.milliseconds}
        )
        return {
            "model": self.model,
            "text": self.text,
            "finish_reason": self.finish_reason,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "attempts": self.attempts,
            "repaired": self.repaired,
            "milliseconds": {name: round(one, 2) for name, one in times.items() if one is not None},
        }


@dataclass(frozen=True, slots=True)
class Growth:
    """An answer on its way: what has come of it, as it came. A retry or a repair begins with no text."""

    stage: str  # the call's name: keywords, answer
    text: str
    pieces: int  # that came: about its tokens, those of a thought included


OnText: TypeAlias = Callable[[Growth], None]
