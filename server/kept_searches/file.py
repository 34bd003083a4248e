"""A kept search for papers as its file holds it: what was asked, what it has come to, how its papers stood.

Each is a line of JSON. The last one is there once the search has ended: a state holds neither what a model
ordered its papers by nor how often an index counts them cited.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from generator.finding.state import FindingState, Finite
from retriever.relevance.authority import Cited
from server.kept_searches.head import SearchHead, head_of


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a paper stands in the list, and why; the keys are those of the result."""

    id: str
    score: Finite
    authority: Finite
    timeliness: Finite
    why: str
    cited: Cited | None


@dataclass(frozen=True, slots=True)
class SearchFile:
    """What is kept; `order` is empty while the search is under way, and where it broke off."""

    head: SearchHead
    state: FindingState
    order: tuple[Standing, ...] = ()

    def as_json(self) -> bytes:
        """Return the lines of the file."""
        order = [_order().dump_json(self.order)] if self.order else []
        return b"".join(line + b"\n" for line in (self.head.as_json(), self.state.as_json(), *order))


def search_file_of(content: bytes, path: Path) -> SearchFile:
    """Read the lines; ValueError where they hold something else, OSError where of another search."""
    head, _, rest = content.partition(b"\n")
    state, _, order = rest.partition(b"\n")
    ordered = _order().validate_json(order) if order else ()
    return SearchFile(head_of(head, path), FindingState.of_json(state), ordered)


def order_of(papers: Sequence[Mapping[str, Any]]) -> tuple[Standing, ...]:
    """Return how the papers of a result stand, best first."""
    return _order().validate_python(papers)


def in_order(papers: Sequence[Mapping[str, Any]], order: Sequence[Standing]) -> list[dict[str, Any]]:
    """Return the papers of a result as they stood; as they are where the order is of others."""
    known = {paper["id"]: paper for paper in papers}
    if sorted(known) != sorted(standing.id for standing in order):
        return [dict(paper) for paper in papers]
    return [
        {**known[standing.id], **asdict(standing), "rank": rank} for rank, standing in enumerate(order, 1)
    ]


@cache
def _order() -> TypeAdapter[tuple[Standing, ...]]:
    return TypeAdapter(tuple[Standing, ...])
