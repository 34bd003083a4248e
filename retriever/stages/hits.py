"""The result of a search: hits, and the trace of the search."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from base.amounts import counted
from indexer.files.schema import StoredPassage
from retriever.constraints.parsing import Constraints
from retriever.order.bridges import Bridge
from retriever.queries.keywords import Keyword
from retriever.query_plan import progressive_number
from retriever.question.concepts import Concept
from retriever.reference import web_address
from retriever.stages.highlights import MarkedText, Span

MOST_OTHERS = 20  # ids of other records that a hit lists
MOST_AUTHORS = 20  # of a paper in a list; its own record has all


def listed_authors(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return `authors` for a list of papers, and `author_count` if there are more."""
    authors = record.get("authors")
    if not isinstance(authors, list) or len(authors) <= MOST_AUTHORS:
        return {"authors": authors}
    return {"authors": authors[:MOST_AUTHORS], "author_count": len(authors)}


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found, with the names of the queries that found it."""

    rank: int
    passage: StoredPassage
    score: float
    found_by: tuple[str, ...] = ()
    marked: MarkedText = field(default_factory=MarkedText)  # a snippet of the passage's text
    title_marks: tuple[Span, ...] = ()  # searched tokens in the title
    paper: dict[str, Any] = field(default_factory=dict)
    folded: tuple[str, ...] = ()  # doc_ids of its hidden duplicates
    same_doi: tuple[str, ...] = ()  # doc_ids of other hits with its DOI and different texts
    other_figures: tuple[str, ...] = ()  # doc_ids of records with its text and other figures
    title_only: bool = False  # the paper has no abstract and matches by its title

    @property
    def passage_id(self) -> str:
        """The id of the passage, the unit that is indexed and judged."""
        return self.passage.passage_id

    @property
    def doc_id(self) -> str:
        """The paper."""
        return self.passage.doc_id

    @property
    def snippet(self) -> str:
        """The piece of the passage's text with the most searched tokens."""
        return self.marked.text

    def _elsewhere(self) -> dict[str, Any]:
        """Return the sources that have the paper, and its address on the web; empty for an index."""
        found_in = self.paper.get("found_in")
        return {"found_in": found_in, "url": web_address(self.paper) or None} if found_in else {}

    def others(self) -> dict[str, Any]:
        """Return its duplicates, other hits with its DOI or text, and whether it is title-only, as JSON."""
        record = {
            "folded": len(self.folded),
            "folded_ids": list(self.folded[:MOST_OTHERS]),
            "same_doi": list(self.same_doi[:MOST_OTHERS]),
            "other_figures": len(self.other_figures),
            "other_figures_ids": list(self.other_figures[:MOST_OTHERS]),
            "title_only": self.title_only,
        }
        return {key: value for key, value in record.items() if value}

    def remarks(self) -> Iterator[str]:
        """Yield the contents of `others` in words."""
        if self.title_only:
            yield "title only: the record has no abstract"
        if self.folded:
            yield f"{counted(len(self.folded), 'duplicate')} left out: {_listed(self.folded)}"
        if self.same_doi:
            yield f"same DOI, different text: {_listed(self.same_doi)}"
        if self.other_figures:
            yield f"same text, other figures: {_listed(self.other_figures)}"

    def as_record(self) -> dict[str, Any]:
        """Return the hit as the contract's JSON; marks are [start, end) in code points."""
        record = {
            "rank": self.rank,
            "passage_id": self.passage_id,
            "doc_id": self.doc_id,
            "score": self.score,
            "title": self.passage.title,
            "title_marks": [list(span) for span in self.title_marks],
            "year": self.passage.year,
            "journal": self.passage.journal or None,
            **listed_authors(self.paper),
            "doi": self.paper.get("doi"),
            **self._elsewhere(),
            "lang": self.passage.lang,
            "snippet": self.snippet,
            "snippet_marks": [list(span) for span in self.marked.spans],
            "found_by": [n for n in map(progressive_number, self.found_by) if n is not None],
            "found_by_names": list(self.found_by),
            **self.others(),
        }
        return {key: value for key, value in record.items() if value is not None}


def _listed(doc_ids: Sequence[str]) -> str:
    return ", ".join((*doc_ids[:MOST_OTHERS], *(["…"] if len(doc_ids) > MOST_OTHERS else [])))


@dataclass(frozen=True, slots=True)
class QueryTrace:
    """A query, its name, and its number of hits.

    `query` is written as a person would type it. `added` counts the papers that no earlier query found.
    """

    name: str
    query: str
    hits: int
    added: int


@dataclass(frozen=True, slots=True)
class AppliedSearch:
    """The configuration that took effect for one search; None for an option without a use in its method."""

    method: str
    order: str  # the order of the hits, in words
    title_weight: float | None
    keyword_source: str | None  # statistics or given
    keyword_count: int | None  # maximum
    keyword_ranking: str | None
    hits_per_query: int | None
    count_repeats: bool | None
    candidates: str | None
    without: tuple[str, ...] | None  # parts of the order that were left out
    vectors: str  # the encoder whose vectors took part in the order; "" if none did
    vectors_unused: str  # why the vectors of the index took no part in the order
    reranker: str
    rerank_depth: int | None
    drop_incomplete: bool
    constraints: str | None = None  # question or given; None if the search has none
    this_year: int | None = None  # from which "the last five years" count back
    skip: tuple[str, ...] = ()  # queries that were left out of the plan
    failures: tuple[str, ...] = ()  # of models; the search continued without them

    def as_record(self) -> dict[str, Any]:
        """Return the configuration as JSON."""
        values = asdict(self).items()
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values}

    def deviations(self) -> dict[str, Any]:
        """Return the configuration that may differ between questions of a run: failures, unused vectors."""
        record = {"failures": list(self.failures), "vectors_unused": self.vectors_unused}
        return {name: value for name, value in record.items() if value}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one question and the trace of the search.

    `title_only` are papers without an abstract, listed after the hits if there are fewer hits than requested.
    They are no evidence.
    """

    question: str
    method: str
    keywords: tuple[Keyword, ...]
    queries: tuple[QueryTrace, ...]
    hits: tuple[Hit, ...]
    filtered: dict[str, int]
    milliseconds: dict[str, float]
    token_weights: Mapping[str, float] = field(default_factory=dict)  # of the searched tokens
    applied: AppliedSearch | None = None
    likelihood: float | None = None  # that the hits answer (method shrag; see answerability.py)
    notes: tuple[str, ...] = ()
    version: int | None = None  # of the index
    constraints: Constraints = field(default_factory=Constraints)
    concepts: tuple[Concept, ...] = ()  # of the question, if the method orders by them
    bridges: tuple[Bridge, ...] = ()  # of a second search
    unknown_words: tuple[str, ...] = ()  # of the question, as typed: no paper of the index contains them
    title_only: tuple[Hit, ...] = ()

    @property
    def order(self) -> str:
        """The order of the hits, in words."""
        return self.applied.order if self.applied else ""

    @property
    def listed(self) -> tuple[Hit, ...]:
        """The papers of a list: hits, and papers that match only by their titles."""
        return (*self.hits, *self.title_only)

    @property
    def evidence(self) -> tuple[Hit, ...]:
        """The papers of an answer: the hits, or the nearest papers if the answer abstains."""
        return self.hits or self.title_only

    def as_record(self) -> dict[str, Any]:
        """Return the result as the contract's JSON."""
        return {
            "question": self.question,
            "method": self.method,
            "version": self.version,
            "keywords": [keyword.as_record() for keyword in self.keywords],
            "concepts": [concept.as_record() for concept in self.concepts],
            "bridges": [{"text": bridge.text, "passage_id": bridge.passage_id} for bridge in self.bridges],
            "queries": [asdict(query) for query in self.queries],
            "hits": [hit.as_record() for hit in self.listed],
            "filtered": self.filtered,
            "order": self.order,
            "applied": self.applied.as_record() if self.applied else None,
            "likelihood": None if self.likelihood is None else round(self.likelihood, 4),
            "unknown_words": list(self.unknown_words),
            "constraints": self.constraints.as_record(),
            "notes": list(self.notes),
            "milliseconds": {stage: round(spent, 2) for stage, spent in self.milliseconds.items()},
        }


def summed_milliseconds(results: Sequence[SearchResult]) -> dict[str, float]:
    """Return the total time of each stage over several searches."""
    stages = dict.fromkeys(stage for result in results for stage in result.milliseconds)
    return {stage: sum(result.milliseconds.get(stage, 0.0) for result in results) for stage in stages}
