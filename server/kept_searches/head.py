"""The summary of a kept search for papers: the first line of its file."""

import errno
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter

from generator.finding.state import FindingState, SavedSpent
from generator.model_calls.budgets import Spent
from indexer.corpora.readers.jsonl import parse_record


@dataclass(frozen=True, slots=True)
class SearchHead:
    """The summary of a kept search; times are ISO 8601, in UTC."""

    id: str
    request: Annotated[dict[str, Any], Field(description="the fields of the call")]
    created: str
    updated: str = ""
    format: Literal[1] = 1
    known: int = 0
    relevant: int = 0
    spent: SavedSpent = field(default_factory=Spent)
    complete: bool = False
    notes: tuple[str, ...] = ()

    def with_state(self, state: FindingState, threshold: float) -> Self:
        """Return the summary of the search with this state, now."""
        return replace(
            self,
            updated=now(),
            known=len(state.papers),
            relevant=len(state.relevant(threshold)),
            spent=state.spent,
        )

    def as_json(self) -> bytes:
        """Return the summary as one line of JSON."""
        return _adapter().dump_json(self)


def now() -> str:
    """Return the current time in the saved form."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")  # orders two searches within a second


def head_of(line: bytes, path: Path) -> SearchHead:
    """Parse the first line; raise ValueError if it is invalid, OSError if it belongs to another search."""
    parse_record(line)  # refuses NaN and infinity, which answers cannot contain
    head = _adapter().validate_json(line)
    if head.id != path.stem:
        raise OSError(errno.EINVAL, "it belongs to another search")
    return head


@cache
def _adapter() -> TypeAdapter[SearchHead]:
    return TypeAdapter(SearchHead)
