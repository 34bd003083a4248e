"""A search request, and the context that the stages of one search share."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from base.notes import Note
from retriever.conditions import Conditions
from retriever.errors import BadQuestion
from retriever.queries.filters import Filters
from retriever.strategy import Strategy

if TYPE_CHECKING:  # a call needs only the request
    from indexer.files.schema import StoredPassage
    from retriever.engines import EngineHit
    from retriever.index import SearchIndex
    from retriever.settings import RetrieverSettings

MAX_CHARACTERS = 20_000  # of a question

Sort = Literal["relevance", "year", "citations"]
RELEVANCE: Sort = "relevance"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question to an index.

    With `collapse` hits are papers, each by its best passage; otherwise passages. `strategy` replaces the one
    from statistics; `keywords` replace the keywords of either, and `exclude` adds to its exclusions. Without
    `conditions`, signs and phrases for exclusions, years, fields and quotations are ordinary words; without
    `phrases` quotations are. With `title_weight` None, the method and the settings decide. `skip` names
    queries that are not sent. `sort` is the order of the hits shown.
    """

    question: str
    method: str = "shrag"
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    collapse: bool = True
    strategy: Strategy | None = None
    keywords: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    conditions: bool = True
    phrases: bool = True
    title_weight: float | None = None
    skip: tuple[str, ...] = ()
    sort: Sort = RELEVANCE


@dataclass(slots=True)
class SearchRecorder:
    """The record of one search. Nothing that is computed depends on it."""

    milliseconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)  # of models; the search continued without them

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + spent

    def note(self, text: str) -> None:
        """Add a note for the reader, unless it is already there."""
        if text not in self.notes:
            self.notes.append(text)

    def failed(self, model: str, text: str) -> None:
        """Record the failure of a model; the search continues without it."""
        self.failures[model] = text
        self.note(text)


class PassageCache:
    """The stored passages of one search, each read once."""

    def __init__(self, index: "SearchIndex") -> None:
        self._engine = index.engine
        self._papers_along = index.manifest.unit == "paper"
        self._passages: dict[str, StoredPassage] = {}
        self._papers: dict[str, StoredPassage] = {}

    def of_hits(self, hits: "Sequence[EngineHit]") -> "dict[str, StoredPassage]":
        """Return the stored passages of hits, by passage_id in their order.

        For passages that are not the first of their paper, the paper is read in the same call.
        """
        others = [hit.doc_id for hit in hits if self._papers_along and hit.passage_id != hit.doc_id]
        return self.passages((hit.passage_id for hit in hits), others)

    def passages(self, passage_ids: Iterable[str], papers: Sequence[str] = ()) -> "dict[str, StoredPassage]":
        """Return stored passages by passage_id in the order given; unknown ids are left out.

        `papers` are read in the same call, to be asked for next.
        """
        wanted = list(dict.fromkeys(passage_ids))
        self._read(wanted, papers)
        return {name: self._passages[name] for name in wanted if name in self._passages}

    def papers(self, doc_ids: Iterable[str]) -> "dict[str, StoredPassage]":
        """Return the first passage of each paper, which carries its record."""
        wanted = list(dict.fromkeys(doc_ids))
        self._read((), wanted)
        return {doc_id: self._papers[doc_id] for doc_id in wanted if doc_id in self._papers}

    def _read(self, passage_ids: Sequence[str], doc_ids: Sequence[str]) -> None:
        passages = [passage_id for passage_id in passage_ids if passage_id not in self._passages]
        papers = [doc_id for doc_id in doc_ids if doc_id not in self._papers]
        if not passages and not papers:
            return
        found, first = self._engine.records(passages, papers)
        self._passages |= found
        self._papers |= first
        for passage in found.values():
            if passage.record and self._papers_along:
                self._papers.setdefault(passage.doc_id, passage)


@dataclass(frozen=True, slots=True)
class SearchContext:
    """Input of every stage of one search, in addition to the values of earlier stages.

    The request has the title weight that takes effect, None if the method has no title clause.
    """

    index: "SearchIndex"
    request: SearchRequest
    settings: "RetrieverSettings"
    conditions: Conditions  # of the question; none if the request or its method has none
    recorder: SearchRecorder
    passages: PassageCache = field(repr=False)
    shown: int  # hits to show; the request may ask for more, because some are left out
    sorted: int  # most relevant hits, of which the first in the chosen order are shown

    def with_filters(self, filters: Filters) -> "SearchContext":
        """Return the context of the same search with other filters."""
        return replace(self, request=replace(self.request, filters=filters))


def check_question(question: str) -> None:
    """Raise BadQuestion for a question that is empty, too long, or not valid Unicode."""
    if len(question) > MAX_CHARACTERS:
        raise BadQuestion(Note("question_too_long", characters=len(question), most=MAX_CHARACTERS))
    if not question.strip():
        raise BadQuestion(Note("question_empty"))
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadQuestion(Note("question_unreadable", at=error.start)) from None
