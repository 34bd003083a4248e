"""The content of a kept search for papers: a summary with the request, the state, the order of the papers.

The order is saved when the search has ended: a state contains neither a model's order of the papers nor the
citation counts of an index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import Field, TypeAdapter

from base.notes import NoteCodes
from base.records import adapter
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


@dataclass(frozen=True, slots=True)
class Standing:
    """The score of a paper in the list, and its reasons; the keys are those of the result."""

    id: str
    score: Finite
    authority: Finite
    timeliness: Finite
    why: str
    cited: Cited | None


ORDER = TypeAdapter(tuple[Standing, ...])


@dataclass(frozen=True, slots=True)
class SearchContent:
    """A kept search; `order` is empty while the search runs, and after an interruption."""

    head: SearchHead
    state: FindingState
    order: tuple[Standing, ...] = ()
    running: bool = False

    def as_json(self) -> tuple[bytes, bytes, bytes]:
        """Return the columns of the row: head, state and order."""
        return adapter(SearchHead).dump_json(self.head), self.state.as_json(), ORDER.dump_json(self.order)


def now() -> str:
    """Return the current time in the saved form."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")  # orders two searches within a second


def head_of(head: bytes) -> SearchHead:
    """Parse a summary; raise ValueError if it is invalid."""
    parse_record(head)  # refuses NaN and infinity, which answers cannot contain
    found: SearchHead = adapter(SearchHead).validate_json(head)
    return found


def content_of(head: bytes, state: bytes, order: bytes, *, running: bool) -> SearchContent:
    """Parse the columns of a row; raise ValueError if they are invalid."""
    return SearchContent(head_of(head), FindingState.of_json(state), ORDER.validate_json(order), running)


def order_of(papers: Sequence[Mapping[str, Any]]) -> tuple[Standing, ...]:
    """Return the order of a result's papers, best first."""
    return ORDER.validate_python(papers)


def in_order(papers: Sequence[Mapping[str, Any]], order: Sequence[Standing]) -> list[dict[str, Any]]:
    """Sort the papers of a result by a saved order; unchanged if the order has other papers."""
    known = {paper["id"]: paper for paper in papers}
    if sorted(known) != sorted(standing.id for standing in order):
        return [dict(paper) for paper in papers]
    return [
        {**known[standing.id], **asdict(standing), "rank": rank} for rank, standing in enumerate(order, 1)
    ]
