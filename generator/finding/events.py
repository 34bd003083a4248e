"""Streamed search for papers: events for understanding, queries, judged papers and cost.

The loop publishes its state after each step. Events are the difference between this state and what the reader
has received, so a slow reader uses no memory, and all events add up to the state.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, get_args

from pydantic import Field
from typing_extensions import TypedDict

from generator.budgets import Spent
from generator.finding.calls import FindRequest
from generator.finding.finding import OpenedSources, find_in_sources
from generator.finding.result import (
    BriefPaper,
    FoundPapers,
    QueryOfSearch,
    brief_record,
    query_record,
    shorten,
)
from generator.finding.state import FindingState, FoundBy, KnownPaper, Score
from generator.llm import LanguageModel
from generator.request import Settings
from generator.tracing import Listener, StepEvent, StreamEvent, snapshots

FindingStep: TypeAlias = Literal[
    "understanding", "retrieval", "judgement", "refchain", "evolver", "reranking"
]
STEPS = frozenset(get_args(FindingStep))
PAPERS_IN_AN_EVENT = 100


class FindingStepEvent(TypedDict):
    """The start of a step."""

    name: FindingStep
    round: int
    layer: NotRequired[Annotated[int, Field(description="of references", ge=1)]]


class SentQueriesEvent(TypedDict):
    """Queries that are new or have now been sent, identified by their text."""

    queries: list[QueryOfSearch]


class SeenPaper(BriefPaper):
    """A paper with its first source; the score is null if it was not judged."""

    id: str
    score: Score | None
    relevant: bool
    judged_by: str
    layer: Annotated[int, Field(description="0 if a query found it")]
    found_by: FoundBy


class PapersEvent(TypedDict):
    """Papers that are new or have now been judged, identified by their id."""

    papers: Annotated[list[SeenPaper], Field(max_length=PAPERS_IN_AN_EVENT)]


@dataclass(frozen=True, slots=True)
class SpentEvent(Spent):
    """The cost so far, and the numbers of relevant and known papers."""

    relevant: int = 0
    known: int = 0


async def stream_finding(
    opened: OpenedSources,
    request: FindRequest,
    settings: Settings,
    *,
    state: FindingState | None = None,
    model: LanguageModel | None = None,
    listener: Listener | None = None,
) -> AsyncGenerator[StreamEvent, None]:
    """Find papers like `find_in_sources` and yield its events; `done`, the record with its tree, is last.

    The others are step, understanding, queries, papers and spent. A repeated query or paper replaces the
    earlier one. Long texts are shortened in the middle, the text of a query in the same way in all events.

    A resumed `state` is sent completely. A reader that stops early closes the generator
    (`contextlib.aclosing`), which cancels the work, including model calls, and waits until it ends.

    Raises:
        SourceFailed, InvalidCall: as in `find_in_sources`.
    """

    def find(heard: Listener) -> Coroutine[Any, Any, FoundPapers]:
        return find_in_sources(opened, request, settings, state=state, model=model, listener=heard)

    sent = _State()
    async with aclosing(snapshots(find, _State(state=state), _next_state, listener)) as states:
        async for known, found in states:
            newest = known if found is None else replace(known, state=found.state)
            for event in _new_events(sent, newest, request):
                yield event
            sent = newest
            if found:
                yield StreamEvent("done", await asyncio.to_thread(found.as_tree_record))


@dataclass(frozen=True, slots=True)
class _State:
    """State at one moment."""

    step: Mapping[str, Any] | None = None
    round: int = 0
    layer: int = 0
    state: FindingState | None = None


def _next_state(known: _State, event: StepEvent) -> _State:
    step = event.step
    if isinstance(event.made, FindingState):
        return replace(known, state=event.made)
    if event.kind != "started":
        return known
    if step.name == "round":
        return replace(known, round=step.inputs["number"], layer=0)
    if step.name not in STEPS or len(step.path) > 2:  # noqa: PLR2004 - deeper steps are model calls
        return known
    layer = step.inputs.get("layer", known.layer if step.name == "judgement" else 0)
    begun = {"name": step.name, "round": known.round, **({"layer": layer} if layer else {})}
    return replace(known, step=begun, layer=layer)


def _new_events(sent: _State, known: _State, request: FindRequest) -> Iterator[StreamEvent]:
    """Yield the events that lead from `sent` to `known`."""
    if known.state is not None and known.state is not sent.state:
        yield from _of_state(sent.state or FindingState(request.question), known.state, request)
    if known.step is not None and known.step != sent.step:
        yield StreamEvent("step", known.step)


def _of_state(before: FindingState, state: FindingState, request: FindRequest) -> Iterator[StreamEvent]:
    if state.understanding is not None and state.understanding != before.understanding:
        yield StreamEvent("understanding", asdict(state.understanding))
    known = set(before.queries)
    if queries := [query_record(query) for query in state.queries if query not in known]:
        shortened = [query | {"text": shorten(query["text"])} for query in queries]
        yield StreamEvent("queries", {"queries": shortened})
    threshold = request.threshold
    changed = [
        (paper_id, paper)
        for paper_id, paper in state.papers.items()
        if (old := before.papers.get(paper_id)) is None
        or (old.judgement, old.layer, before.is_relevant(old, threshold))
        != (paper.judgement, paper.layer, state.is_relevant(paper, threshold))
    ]
    records = [
        _paper_record(paper_id, paper, relevant=state.is_relevant(paper, threshold))
        for paper_id, paper in changed
    ]
    for start in range(0, len(records), PAPERS_IN_AN_EVENT):
        yield StreamEvent("papers", {"papers": records[start : start + PAPERS_IN_AN_EVENT]})
    relevant = len(state.relevant(threshold))
    spent = state.spent.as_record() | {"relevant": relevant, "known": len(state.papers)}
    yield StreamEvent("spent", spent)


def _paper_record(paper_id: str, known: KnownPaper, *, relevant: bool) -> dict[str, Any]:
    judgement, first = known.judgement, known.found_by[0]
    of = shorten(first.of) if first.kind == "query" else first.of
    return {
        "id": paper_id,
        **brief_record(known),
        "score": judgement.score if judgement else None,
        "relevant": relevant,
        "judged_by": judgement.by if judgement else "",
        "layer": known.layer,
        "found_by": {"kind": first.kind, "of": of, "rank": first.rank},
    }
