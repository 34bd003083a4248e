"""Results of a search for papers: ranked list, tree of how each paper was found, trace, partial results."""

import asyncio
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Required, cast

from pydantic import Field
from typing_extensions import TypedDict

from base.files.output_files import is_stream
from base.notes import NoteCode, NoteCodes, note_code, note_codes
from base.records import IF_ANY, Recordable, rounded
from generator.budgets import Spent
from generator.finding.agents.reranking import RankedPaper, order_by_rules
from generator.finding.calls import FindRequest
from generator.finding.state import (
    FindingState,
    FoundBy,
    KnownPaper,
    QueryKind,
    Score,
    SearchQuery,
    Understanding,
)
from generator.tracing import FINDING_VERSION, Step, StepEvent
from indexer.corpora.papers import Language, Paper
from retriever.reference import web_address
from retriever.relevance.authority import Cited
from retriever.stages.hits import FoundIn

NEAR = 5  # papers below the threshold, listed if fewer are relevant than requested
LEAST_NEAR = 0.05  # least relevance of these
SHOWN_FOUND = 300  # papers per query or paper in the tree
LONGEST_TEXT = 500  # characters of a title, reason or query in lists
LONGEST_ABSTRACT = 20_000
# Fields of a paper in the list.
OF_RANK = ("score", "why", "authority", "cited", "timeliness")
LISTED = ("title", "title2", "authors", "year", "journal", "doi", "lang", "cited_by_count")


class BriefPaper(TypedDict):
    """A paper in lists."""

    title: str
    reason: Annotated[str, Field(description="for its relevance; empty if not judged")]
    reason_code: Annotated[NoteCode | None, IF_ANY]
    year: Annotated[int | None, IF_ANY]
    lang: Annotated[Language, IF_ANY]
    url: Annotated[str, IF_ANY]


class NearPaper(BriefPaper):
    """A paper whose relevance is just below the threshold."""

    id: str
    relevance: Score


class QueryOfSearch(TypedDict):
    """A query and the number of papers that it found; null if it was not sent yet."""

    text: str
    kind: QueryKind
    round: int
    paper: Annotated[str | None, Field(description="the paper from which it was evolved")]
    found: int | None


class RankedPaperRecord(TypedDict):
    """A paper of the list, ordered by `score`."""

    rank: Annotated[int, Field(ge=1)]
    id: str
    score: float
    why: str
    relevance: Score
    relevant: bool
    authority: float
    cited: Annotated[Cited | None, Field(description="null if not counted")]
    timeliness: float
    reason: str
    reason_code: Annotated[NoteCode | None, IF_ANY]
    judged_by: Annotated[str, Field(description="a model's name, words or cosine")]
    parts: Mapping[str, float]
    found_by: tuple[FoundBy, ...]
    sources: list[FoundIn]
    title: Annotated[str, IF_ANY]
    title2: Annotated[str, IF_ANY]
    abstract: Annotated[str, IF_ANY]
    authors: Annotated[Sequence[str], IF_ANY]
    year: Annotated[int | None, IF_ANY]
    journal: Annotated[str, IF_ANY]
    doi: Annotated[str, IF_ANY]
    url: Annotated[str, IF_ANY]
    lang: Annotated[Language, IF_ANY]
    cited_by_count: Annotated[int | None, IF_ANY]


class SearchSoFar(TypedDict):
    """The state of a search for papers."""

    question: str
    understanding: Understanding | None
    papers: list[RankedPaperRecord]
    near: Annotated[
        list[NearPaper],
        Field(description="papers just below the threshold, if fewer are relevant than requested"),
    ]
    queries: list[QueryOfSearch]
    known: Annotated[int, Field(description="papers examined")]
    relevant: int
    spent: Spent
    complete: Annotated[bool, Field(description="false if a budget or the server ended it")]
    notes: tuple[str, ...]
    note_codes: NoteCodes
    milliseconds: Annotated[float, rounded(2)]


class TreePaper(TypedDict, total=False):
    """A paper below its first source; a repeated paper has only its id."""

    paper: Required[str]
    title: str
    score: Annotated[float | None, Field(description="null if not judged")]
    relevant: bool
    reason: str
    reason_code: NoteCode
    year: int
    lang: Language
    url: str
    references: list["TreePaper"]
    cited_by: list["TreePaper"]
    evolved: list["TreeQuery"]


class TreeQuery(TypedDict):
    """A query and the papers that it found first, at most 300."""

    query: str
    kind: str
    papers: list[TreePaper]


class WithTree(TypedDict):
    """Found papers, best first, with their origin."""

    tree: list[TreeQuery]


@dataclass(frozen=True, slots=True)
class FoundPapers(Recordable):
    """Ranked papers with the state and the steps of their search."""

    request: FindRequest
    state: FindingState
    papers: tuple[RankedPaper, ...]
    notes: tuple[str, ...]
    complete: bool  # False if a budget ended the search, so that it can be resumed
    step: Step
    milliseconds: float

    @property
    def near(self) -> list[tuple[str, KnownPaper]]:
        """The best papers below the threshold, if fewer are relevant than requested."""
        below = self.state.relevant(LEAST_NEAR)[len(self.state.relevant(self.request.threshold)) :]
        return below[: max(0, min(NEAR, self.request.papers - len(self.papers)))]

    def record_fields(self) -> SearchSoFar:
        """Return the fields of the JSON."""
        return {
            "question": self.request.question,
            "understanding": self.state.understanding,
            "papers": [_listed(rank, ranked) for rank, ranked in enumerate(self.papers, 1)],
            "near": [
                {"id": paper_id, "relevance": known.score, **brief_record(known)}
                for paper_id, known in self.near
            ],
            "queries": [query_record(query) for query in self.state.queries],
            "known": len(self.state.papers),
            "relevant": len(self.state.relevant(self.request.threshold)),
            "spent": self.state.spent,
            "complete": self.complete,
            "notes": self.notes,
            "note_codes": note_codes(self.notes),
            "milliseconds": self.milliseconds,
        }

    def references(self) -> list[dict[str, Any]]:
        """Return the papers' records with score and reason, in the format of `retriever.exports`."""
        return [
            {
                **ranked.known.paper.record(),
                "doc_id": ranked.paper_id,
                "score": ranked.score,
                "why": ranked.why,
            }
            for ranked in self.papers
        ]

    def as_tree_record(self) -> dict[str, Any]:
        """Return the record with the tree of how each paper was found."""
        return {**self.as_record(), "tree": tree(self.state, self.request.threshold)}

    def trace_record(self) -> dict[str, Any]:
        """Return the JSON of `--trace`: request, steps, result and tree."""
        return {
            "finding": FINDING_VERSION,
            "request": self.request.as_record(),
            "steps": [child.as_record() for child in self.step.children],
            **self.as_tree_record(),
        }


def partial_result(
    state: FindingState, request: FindRequest, notes: Sequence[str] = (), step: Step | None = None
) -> FoundPapers:
    """Return the partial result of an interrupted search, ordered without a model."""
    ranked, step = tuple(order_by_rules(state, request)), step or Step("find-papers", request.as_record())
    spent = step.milliseconds or 0.0
    return FoundPapers(request, state, ranked, tuple(notes), complete=False, step=step, milliseconds=spent)


def query_record(query: SearchQuery) -> QueryOfSearch:
    """Return a query of the result as JSON."""
    return {
        "text": query.text,
        "kind": query.kind,
        "round": query.round,
        "paper": query.paper or None,
        "found": len(query.found) if query.found is not None else None,
    }


def _listed(rank: int, ranked: RankedPaper) -> RankedPaperRecord:
    known, paper, judgement = ranked.known, ranked.known.paper, ranked.known.judgement
    assert judgement  # noqa: S101 - of a relevant paper
    of_paper: Any = {name: getattr(paper, name) for name in LISTED}
    of_rank: Any = {name: getattr(ranked, name) for name in OF_RANK}
    listed = {
        **of_paper,
        **of_rank,
        "rank": rank,
        "id": ranked.paper_id,
        "relevance": known.score,
        "relevant": True,
        "reason": judgement.reason,
        "reason_code": note_code(judgement.reason),
        "judged_by": judgement.by,
        "parts": judgement.parts,
        "found_by": known.found_by,
        "sources": [{"source": source, "id": own} for source, own in known.merged.ids],
        "abstract": paper.abstract[:LONGEST_ABSTRACT],
        "url": _address_of(paper),
    }
    return cast("RankedPaperRecord", listed)


def tree(state: FindingState, threshold: float) -> list[dict[str, Any]]:
    """Return the tree of queries, the papers first found by each, their linked papers, and so on.

    A paper occurs once, under the query or paper that found it first, so the tree has no cycles.
    """
    children: dict[tuple[str, str], list[str]] = {}
    papers: dict[str, dict[str, Any]] = {}
    for paper_id, known in state.papers.items():
        first = known.found_by[0]
        children.setdefault((first.kind, first.of), []).append(paper_id)
        score = known.judgement.score if known.judgement else None
        relevant = state.is_relevant(known, threshold)
        papers[paper_id] = {"paper": paper_id, "score": score, "relevant": relevant, **brief_record(known)}

    def found(kind: str, of: str) -> list[dict[str, Any]]:
        return [papers[paper_id] for paper_id in children.get((kind, of), [])[:SHOWN_FOUND]]

    for paper_id, record in papers.items():
        links = {"references": found("reference", paper_id), "cited_by": found("citing", paper_id)}
        record |= {name: linked for name, linked in links.items() if linked}
    roots = []
    for query in state.queries:
        record = {"query": query.text, "kind": query.kind, "papers": found("query", query.text)}
        if query.paper in papers:
            papers[query.paper].setdefault("evolved", []).append(record)
        else:
            roots.append(record)
    return roots


def brief_record(known: KnownPaper) -> BriefPaper:
    """Return a paper in lists: title, reason, and if known year, language, web address."""
    paper, code = known.paper, note_code(known.reason)
    fields = {"reason_code": code, "year": paper.year, "lang": paper.lang, "url": _address_of(paper)}
    brief: Any = {"title": shorten(known.title), "reason": shorten(known.reason)}
    return cast("BriefPaper", brief | {name: value for name, value in fields.items() if value})


def _address_of(paper: Paper) -> str:
    """Return the web address of a paper; "" without a valid address."""
    return web_address({"url": paper.url, "doi": paper.doi})


def shorten(text: str) -> str:
    """Cut the middle of a long text; long texts usually differ at the start or end."""
    if len(text) <= LONGEST_TEXT:
        return text
    tail = LONGEST_TEXT // 4
    return f"{text[: LONGEST_TEXT - tail - 1]}…{text[-tail:]}"


# Partial results of a running search


class SoFar:
    """Listener that keeps the newest state of a search; None before the first."""

    def __init__(self, state: FindingState | None = None) -> None:
        """Start with the state of a resumed search, if any."""
        self.state = state
        self.step: Step | None = None
        self._file: tuple[ThreadPoolExecutor, Path] | None = None
        self._written: FindingState | None = None

    def listen(self, event: StepEvent) -> None:
        """Handle an event of the search; a new state is written to the file in another thread."""
        if not event.step.path:
            self.step = event.step
        if isinstance(event.made, FindingState):
            self.state = event.made
            if self._file:
                self._file[0].submit(self._write, self._file[1])

    @contextmanager
    def saved_in(self, path: Path | None) -> Iterator[None]:
        """Write each state to a file atomically, ignoring errors; a pipe gets no intermediate states."""
        if path is None or is_stream(path):
            yield
            return
        with ThreadPoolExecutor(1) as writer:
            self._file = writer, path
            try:
                yield
            finally:
                self._file = None

    def found(self, request: FindRequest, note: str) -> FoundPapers:
        """Return the papers judged relevant so far, ordered without a model, with a note."""
        state = self.state or FindingState(request.question)
        notes = dict.fromkeys(self.step.all_notes()) if self.step else {}
        return partial_result(state, request, (*notes, note), self.step)

    def _write(self, path: Path) -> None:
        """Write the newest state; intermediate states are skipped."""
        state = self.state
        if state is not None and state is not self._written:
            state.save(path)
            self._written = state


@contextmanager
def cancelled_by_sigterm() -> Iterator[None]:
    """Let SIGTERM cancel this task like Ctrl-C; the task must run in the main thread."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task  # noqa: S101 - a coroutine runs in a task
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
