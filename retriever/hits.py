"""What a search gives back: hits, and all that led to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from indexer.schema import StoredPassage
from retriever.keywords import Keyword


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found, with the queries (n of SQn, 0 the whole question) that found it."""

    rank: int
    passage: StoredPassage
    score: float
    found_by: tuple[int, ...] = ()
    snippet: str = ""
    paper: dict[str, Any] = field(default_factory=dict)

    @property
    def passage_id(self) -> str:
        """The unit that is indexed and judged."""
        return self.passage.passage_id

    @property
    def doc_id(self) -> str:
        """The paper."""
        return self.passage.doc_id

    def as_record(self) -> dict[str, Any]:
        """Return the hit as the contract's JSON."""
        record = {
            "rank": self.rank,
            "passage_id": self.passage_id,
            "doc_id": self.doc_id,
            "score": self.score,
            "title": self.passage.title,
            "year": self.passage.year,
            "snippet": self.snippet,
            "found_by": list(self.found_by),
        }
        return {key: value for key, value in record.items() if value is not None}


@dataclass(frozen=True, slots=True)
class QueryTrace:
    """One query as a person would type it, and how many hits it brought."""

    query: str
    hits: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one question and the trace of how they came about."""

    question: str
    method: str
    keywords: tuple[Keyword, ...]
    queries: tuple[QueryTrace, ...]
    hits: tuple[Hit, ...]
    filtered: dict[str, int]
    milliseconds: dict[str, float]
    token_weights: Mapping[str, float] = field(default_factory=dict)  # of what was searched for, one by one
    order: str = ""  # how the hits were ordered, in words
    evidence_score: float | None = None  # likelihood that the hits answer (method shrag; see confidence.py)
    notes: tuple[str, ...] = ()

    def as_record(self) -> dict[str, Any]:
        """Return the result as the contract's JSON."""
        return {
            "question": self.question,
            "method": self.method,
            "keywords": [
                {"text": one.text, "language": one.language, "weight": round(one.weight, 4)}
                for one in self.keywords
            ],
            "queries": [{"query": one.query, "hits": one.hits} for one in self.queries],
            "hits": [hit.as_record() for hit in self.hits],
            "filtered": self.filtered,
            "order": self.order,
            "evidence_score": None if self.evidence_score is None else round(self.evidence_score, 4),
            "notes": list(self.notes),
            "milliseconds": {stage: round(spent, 2) for stage, spent in self.milliseconds.items()},
        }
