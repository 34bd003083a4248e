"""Replies of the model with their cost, and the growing text of a streamed reply."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A valid answer and its cost."""

    value: T
    model: str  # as the server reports it
    text: str  # unparsed
    finish_reason: str
    prompt_tokens: int | None  # of all calls; None if the server does not count them
    completion_tokens: int | None
    attempts: int  # requests sent, retries and repair included
    repaired: bool
    milliseconds: float
    queued_ms: float = 0.0  # waited for a free slot
    first_token_ms: float | None = None  # of the first call, after sending; None if not streamed
    from_cache: bool = False  # no request was sent

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
    """The text of an answer received so far; a retry or repair starts with an empty text."""

    stage: str  # the call's name: keywords, answer
    text: str
    pieces: int  # about the number of tokens, including reasoning


OnText: TypeAlias = Callable[[Growth], None]
