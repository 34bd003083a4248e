"""The result of a search: hits, and the trace of the search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self, TypeAlias

from pydantic import ConfigDict, Field, PlainSerializer, computed_field, field_serializer, with_config
from typing_extensions import TypedDict

from base.amounts import counted
from base.notes import NoteCodes, note_codes
from base.records import IF_ANY, IF_KNOWN, INTERNAL, Recordable, rounded
from indexer.corpora.papers import Language
from indexer.files.schema import StoredPassage
from retriever.queries.keywords import ShownKeyword
from retriever.query_plan import progressive_number
from retriever.reference import web_address
from retriever.second_search import Bridge
from retriever.stages.highlights import MarkedText, Span
from retriever.strategy import Origin, Strategy

Probability: TypeAlias = Annotated[float, Field(ge=0, le=1)]

MOST_OTHERS = 20  # ids of other records that a hit lists
MOST_AUTHORS = 20  # of a paper in a list; its own record has all
NO_PAPER_CONTAINS = {"ko": "어느 논문에도 나오지 않는 단어: {}", "en": "no paper contains: {}"}


def listed_authors(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return `authors` for a list of papers, and `author_count` if there are more."""
    authors = record.get("authors")
    if not isinstance(authors, list) or len(authors) <= MOST_AUTHORS:
        return {"authors": authors}
    return {"authors": authors[:MOST_AUTHORS], "author_count": len(authors)}


class FoundIn(TypedDict):
    """A source that has a paper, and the paper's id there."""

    source: str
    id: str


Marks: TypeAlias = tuple[Annotated[Span, Field(description="[start, end) in code points")], ...]


class HitRecord(TypedDict):
    """A found paper, represented by its best passage."""

    rank: Annotated[int, Field(ge=1)]
    passage_id: str
    doc_id: str
    score: Annotated[float, Field(description="comparable only within one search")]
    title: str
    title_marks: Marks
    year: Annotated[int | None, IF_KNOWN]
    journal: Annotated[str, IF_ANY]
    authors: Annotated[list[str] | None, IF_KNOWN, Field(description="20 at most")]
    author_count: Annotated[int | None, IF_KNOWN, Field(description="if there are more")]
    doi: Annotated[str | None, IF_KNOWN]
    found_in: Annotated[list[FoundIn] | None, IF_KNOWN, Field(description="in a search of sources")]
    url: Annotated[str, IF_ANY, Field(description="address on the web, http(s), of a paper from a source")]
    lang: Annotated[Language, Field(description="of the passage")]
    snippet: str
    snippet_marks: Marks
    found_by: Annotated[list[int], Field(description="n of each SQn that found it")]
    found_by_names: tuple[str, ...]
    folded: Annotated[
        int, IF_ANY, Field(description="duplicates left out: records of the same paper, copies of its text")
    ]
    folded_ids: Annotated[tuple[str, ...], IF_ANY, Field(description="doc_ids of these, 20 at most")]
    same_doi: Annotated[
        tuple[str, ...],
        IF_ANY,
        Field(description="doc_ids of other hits: same DOI, different text; 20 at most"),
    ]
    title_only: Annotated[
        bool,
        IF_ANY,
        Field(description="the paper has no abstract and matches by its title; no evidence"),
    ]


@dataclass(frozen=True, slots=True)
class Hit(Recordable):
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

    def remarks(self) -> Iterator[str]:
        """Yield the contents of `others` in words."""
        if self.title_only:
            yield "title only: the record has no abstract"
        if self.folded:
            yield f"{counted(len(self.folded), 'duplicate')} left out: {_listed(self.folded)}"
        if self.same_doi:
            yield f"same DOI, different text: {_listed(self.same_doi)}"

    def record_fields(self) -> HitRecord:
        """Return the fields of the JSON."""
        paper, passage = self.paper, self.passage
        authors, found_in = listed_authors(paper), paper.get("found_in")
        return {
            "rank": self.rank,
            "passage_id": passage.passage_id,
            "doc_id": passage.doc_id,
            "score": self.score,
            "title": passage.title,
            "title_marks": self.title_marks,
            "year": passage.year,
            "journal": passage.journal,
            "authors": authors["authors"],
            "author_count": authors.get("author_count"),
            "doi": paper.get("doi"),
            "found_in": found_in or None,
            "url": web_address(paper) if found_in else "",
            "lang": passage.lang,
            "snippet": self.marked.text,
            "snippet_marks": self.marked.spans,
            "found_by": [n for n in map(progressive_number, self.found_by) if n is not None],
            "found_by_names": self.found_by,
            "folded": len(self.folded),
            "folded_ids": self.folded[:MOST_OTHERS],
            "same_doi": self.same_doi[:MOST_OTHERS],
            "title_only": self.title_only,
        }


def _listed(doc_ids: Sequence[str]) -> str:
    return ", ".join((*doc_ids[:MOST_OTHERS], *(["…"] if len(doc_ids) > MOST_OTHERS else [])))


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query and its name, in the syntax of the command line."""

    name: Annotated[str, Field(description="question, SQ10 … SQ1, nearest", examples=["SQ7"])]
    query: Annotated[str, Field(examples=["cell OR spread OR runaway"])]


@dataclass(frozen=True, slots=True)
class SentQuery(PlannedQuery):
    """A sent query; `added` counts hits that no earlier query had found."""

    hits: int
    added: int


@dataclass(frozen=True, slots=True)
class AppliedSearch(Recordable):
    """The configuration that took effect; null for an option that the method does not use."""

    method: str
    order: Annotated[str, Field(description="order of the hits, in words")]
    title_weight: float | None
    strategist: Annotated[Origin | None, Field(description="origin of the strategy")]
    keyword_count: Annotated[int | None, Field(description="maximum")]
    hits_per_query: int | None
    without: Annotated[tuple[str, ...] | None, Field(description="parts of the score that were left out")]
    vectors: Annotated[str, Field(description="encoder whose vectors affected the order; empty if none did")]
    vectors_unused: Annotated[str, Field(description="why vectors did not affect the order")]
    reranker: str
    rerank_depth: int | None
    drop_incomplete: bool
    skip: Annotated[tuple[str, ...], Field(description="queries that were left out of the plan")] = ()
    failures: Annotated[tuple[str, ...], Field(description="failures of models that the search skipped")] = ()

    def deviations(self) -> dict[str, Any]:
        """Return the configuration that may differ between questions of a run: failures, unused vectors."""
        record = {"failures": list(self.failures), "vectors_unused": self.vectors_unused}
        return {name: value for name, value in record.items() if value}


@with_config(ConfigDict(extra="allow"))
class Filtered(TypedDict, total=False):
    """Numbers of removed hits."""

    incomplete: Annotated[int, Field(description="papers without an abstract")]
    duplicates: int
    low_scores: Annotated[int, Field(description="of an answer: papers that score less than .3 of the best")]


@dataclass(frozen=True, slots=True)
class SearchResult(Recordable):
    """A question and its search result.

    `title_only` are papers without an abstract, listed after the hits if there are fewer hits than requested.
    They are no evidence.
    """

    question: str
    method: str
    keywords: tuple[ShownKeyword, ...]
    queries: tuple[SentQuery, ...]
    hits: tuple[Hit, ...]
    filtered: Annotated[dict[str, int], PlainSerializer(dict, return_type=Filtered)]
    milliseconds: Annotated[dict[str, Annotated[float, rounded(2)]], Field(description="by stage")]
    token_weights: Annotated[Mapping[str, float], INTERNAL] = field(default_factory=dict)
    applied: AppliedSearch | None = None
    likelihood: Annotated[
        Annotated[float, rounded(4, Probability)] | None,
        Field(description="that the hits answer; null if the method has none"),
    ] = None
    notes: Annotated[
        tuple[str, ...],
        Field(description="for a reader: deviations from the request, and their reasons"),
    ] = ()
    version: Annotated[int | None, Field(description="of the index")] = None
    strategy: Annotated[Strategy | None, Field(description="null if the method has none")] = None
    bridges: tuple[Bridge, ...] = ()
    unknown_words: Annotated[
        tuple[str, ...], Field(description="words of the question that no paper of the index contains")
    ] = ()
    title_only: Annotated[tuple[Hit, ...], INTERNAL] = ()

    @field_serializer("hits")
    def _listed(self, _: tuple[Hit, ...]) -> tuple[Hit, ...]:
        return self.listed

    @computed_field
    @property
    def note_codes(self) -> NoteCodes:
        """Code and values of the notes."""
        return note_codes(self.notes)

    @computed_field
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

    def with_notes(self, notes: Iterable[str]) -> Self:
        """Return the result with notes before its own, such as those of its strategist."""
        return replace(self, notes=(*notes, *self.notes))


def unknown_words_note(language: Language, words: Sequence[str]) -> str:
    """Return a line about words that no paper contains, Korean or English; "" without any."""
    return NO_PAPER_CONTAINS["ko" if language == "ko" else "en"].format(", ".join(words)) if words else ""


def summed_milliseconds(results: Sequence[SearchResult]) -> dict[str, float]:
    """Return the total time of each stage over several searches."""
    stages = dict.fromkeys(stage for result in results for stage in result.milliseconds)
    return {stage: sum(result.milliseconds.get(stage, 0.0) for result in results) for stage in stages}
