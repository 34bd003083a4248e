"""The file of a kept search for papers: a summary with the request, the state, and the order of the papers.

Each is a line of JSON. The last line is written when the search has ended: a state contains neither a model's
order of the papers nor the citation counts of an index.
"""

import errno
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter

from base.notes import NoteCodes
from generator.budgets import Spent
from generator.finding.state import FindingState, Finite, SavedSpent
from indexer.corpora.readers.jsonl import parse_record
from retriever.relevance.authority import Cited


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
    note_codes: NoteCodes = field(default_factory=list)

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


@dataclass(frozen=True, slots=True)
class Standing:
    """The score of a paper in the list, and its reasons; the keys are those of the result."""

    id: str
    score: Finite
    authority: Finite
    timeliness: Finite
    why: str
    cited: Cited | None


@dataclass(frozen=True, slots=True)
class SearchFile:
    """The content of the file; `order` is empty while the search runs, and after an interruption."""

    head: SearchHead
    state: FindingState
    order: tuple[Standing, ...] = ()

    def as_json(self) -> bytes:
        """Return the lines of the file."""
        order = [_order().dump_json(self.order)] if self.order else []
        return b"".join(line + b"\n" for line in (self.head.as_json(), self.state.as_json(), *order))


def search_file_of(content: bytes, path: Path) -> SearchFile:
    """Parse the lines; raise ValueError if they are invalid, OSError if they belong to another search."""
    head, _, rest = content.partition(b"\n")
    state, _, order = rest.partition(b"\n")
    ordered = _order().validate_json(order) if order else ()
    return SearchFile(head_of(head, path), FindingState.of_json(state), ordered)


def order_of(papers: Sequence[Mapping[str, Any]]) -> tuple[Standing, ...]:
    """Return the order of a result's papers, best first."""
    return _order().validate_python(papers)


def in_order(papers: Sequence[Mapping[str, Any]], order: Sequence[Standing]) -> list[dict[str, Any]]:
    """Sort the papers of a result by a saved order; unchanged if the order has other papers."""
    known = {paper["id"]: paper for paper in papers}
    if sorted(known) != sorted(standing.id for standing in order):
        return [dict(paper) for paper in papers]
    return [
        {**known[standing.id], **asdict(standing), "rank": rank} for rank, standing in enumerate(order, 1)
    ]


@cache
def _order() -> TypeAdapter[tuple[Standing, ...]]:
    return TypeAdapter(tuple[Standing, ...])
