"""What is known of a kept search for papers without reading its state: the first line of its file."""

import errno
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import TypeAdapter

from generator.finding.state import FindingState, SavedSpent
from generator.model_calls.budgets import Spent
from indexer.corpora.readers.jsonl import parse_record


@dataclass(frozen=True, slots=True)
class SearchHead:
    """What is known of a kept search without reading its state; times are ISO 8601, in UTC."""

    id: str
    request: dict[str, Any]  # what the call named
    created: str
    updated: str = ""
    format: Literal[1] = 1
    known: int = 0
    relevant: int = 0
    spent: SavedSpent = field(default_factory=Spent)
    complete: bool = False
    notes: tuple[str, ...] = ()

    def with_state(self, state: FindingState, threshold: float) -> Self:
        """Return what is known of the search with this state, now."""
        return replace(
            self,
            updated=now(),
            known=len(state.papers),
            relevant=len(state.relevant(threshold)),
            spent=state.spent,
        )

    def as_json(self) -> bytes:
        """Return it as JSON, in one line."""
        return _adapter().dump_json(self)


def now() -> str:
    """Return the time as it is kept."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")  # of two within a second one is newer


def head_of(line: bytes, path: Path) -> SearchHead:
    """Read the first line; ValueError where it is none, OSError where it is of another search."""
    parse_record(line)  # refuses NaN and numbers without end, which stand in no answer
    head = _adapter().validate_json(line)
    if head.id != path.stem:
        raise OSError(errno.EINVAL, "it is of another search")
    return head


@cache
def _adapter() -> TypeAdapter[SearchHead]:
    return TypeAdapter(SearchHead)
