"""The contents of an explanation: the parts of a passage's score, and their details."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field, PlainSerializer, computed_field
from typing_extensions import TypedDict

from base.records import INTERNAL, Recordable
from retriever.engines import Explanation, TermScore
from retriever.order.features import ConceptScore
from retriever.order.score_parts import Part
from retriever.question.concepts import CounterpartRecord, Word


class ExplainedWord(TypedDict):
    """A word of a concept: its spellings with their weights, and its weight times idf."""

    tokens: dict[str, float]
    importance: float


class WeightedCounterpart(CounterpartRecord):
    """A counterpart with the weight of its score."""

    weight: float


class ExplainedConcept(TypedDict):
    """A passage's score for a concept of the question, and its contribution to the total."""

    text: str
    importance: float
    words: list[ExplainedWord]
    counterparts: list[WeightedCounterpart]
    by: Annotated[
        dict[str, str],
        Field(description="words that scored, the concept's own or a counterpart, and their origin"),
    ]
    score: Annotated[float, Field(description="BM25")]
    contribution: float


@dataclass(frozen=True, slots=True)
class ConceptAccount(Recordable):
    """A passage's score for a concept of the question, and its contribution to the total."""

    scored: ConceptScore
    contribution: float

    @property
    def by(self) -> dict[str, str]:
        """The origin of the score: a counterpart with its origin, or "own" words; empty without any."""
        if counterpart := self.scored.by:
            return {"text": counterpart.text, "origin": counterpart.origin}
        return {"text": self.scored.concept.text, "origin": "own"} if self.scored.score else {}

    def record_fields(self) -> ExplainedConcept:
        """Return the fields of the JSON."""
        concept = self.scored.concept
        return {
            "text": concept.text,
            "importance": concept.importance,
            "words": [{"tokens": _spelled(word), "importance": word.importance} for word in concept.words],
            "counterparts": [
                {"text": other.text, "origin": other.origin, "weight": other.weight}
                for other in concept.counterparts
            ],
            "by": self.by,
            "score": self.scored.score,
            "contribution": self.contribution,
        }


def _spelled(word: Word) -> dict[str, float]:
    """Return the weights of a word's spellings; adjacent tokens are one spelling."""
    return {" ".join(token for _, token in pattern): weight for pattern, weight in word.spellings.items()}


@dataclass(frozen=True, slots=True)
class ConstraintAccount:
    """A constraint of the question, and the share, 0 to 1, that counts against the passage."""

    text: str
    share: float


@dataclass(frozen=True, slots=True)
class FeedbackTerm:
    """A term of the best passages, its share of all weights, and whether the passage contains it."""

    term: str
    share: float
    held: bool


@dataclass(frozen=True, slots=True)
class HeldBridge:
    """A name in the second search, the passage that contains it, and whether the explained one does."""

    text: str
    passage_id: str
    held: bool


class ScorePart(TypedDict):
    """A part of a score: value × weight."""

    value: float
    weight: float
    contribution: float


def _score_part(part: Part) -> ScorePart:
    value, weight = part
    return {"value": value, "weight": weight, "contribution": value * weight}


ShownPart = Annotated[Part, PlainSerializer(_score_part)]


@dataclass(frozen=True, slots=True)
class Account(Recordable):
    """The parts of a passage's rank; the contributions of `features` add up to `order_score`."""

    passage_id: str
    title: Annotated[str, INTERNAL]
    method: str
    rank: Annotated[int | None, Field(description="of its paper; null if the paper is not among the hits")]
    shown: Annotated[str, Field(description="the passage that represents the paper")]
    depth: Annotated[int, INTERNAL]  # papers searched for the rank
    explanation: Annotated[Explanation, INTERNAL]
    sent: Annotated[bool, INTERNAL] = True  # whether the explained query was sent; method dense sends none
    order_score: Annotated[float | None, Field(description="null if the passage was not found")] = None
    reranker: Annotated[str, Field(description="that reordered the first hits")] = ""
    features: Mapping[str, ShownPart] = field(default_factory=dict)
    cosine: Annotated[
        float | None, Field(description="of the passage's and the question's vectors, if used")
    ] = None
    concepts: tuple[ConceptAccount, ...] = ()
    spellings: Annotated[
        Mapping[str, tuple[str, ...]], Field(description="near spellings of words not in the index")
    ] = field(default_factory=dict)
    constraints: tuple[ConstraintAccount, ...] = ()
    feedback: tuple[FeedbackTerm, ...] = ()
    names: Annotated[
        tuple[str, ...], Field(description="in the question; only with names there is a second search")
    ] = ()
    bridges: tuple[HeldBridge, ...] = ()
    uncovered: Annotated[Mapping[str, float], Field(description="words of the second search")] = field(
        default_factory=dict
    )

    @computed_field
    @property
    def score(self) -> float:
        """BM25 of the first query: the sum of `terms`."""
        return self.explanation.score

    @computed_field
    @property
    def terms(self) -> tuple[TermScore, ...]:
        """Tokens of the first query."""
        return self.explanation.terms
