"""The contents of an explanation: the parts of a passage's score, and their details."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from retriever.engines import Explanation
from retriever.order.bridges import Bridge
from retriever.order.features import ConceptScore
from retriever.order.score_parts import Part
from retriever.question.concepts import Word


@dataclass(frozen=True, slots=True)
class ConceptAccount:
    """A passage's score for a concept of the question, and its contribution to the total."""

    scored: ConceptScore
    contribution: float

    @property
    def by(self) -> dict[str, str]:
        """The origin of the score: a counterpart with its origin, or "own" words; empty without any."""
        if counterpart := self.scored.by:
            return {"text": counterpart.text, "origin": counterpart.origin}
        return {"text": self.scored.concept.text, "origin": "own"} if self.scored.score else {}

    def as_record(self) -> dict[str, Any]:
        """Return the account as JSON."""
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
    """A name in the second search, and whether the passage contains it."""

    bridge: Bridge
    held: bool

    def as_record(self) -> dict[str, Any]:
        """Return the bridge as JSON, with the passage that names it."""
        return {"text": self.bridge.text, "passage_id": self.bridge.passage_id, "held": self.held}


@dataclass(frozen=True, slots=True)
class Account:
    """The explanation of a passage's rank; `features` maps a part of the score to its value and weight.

    The rank is that of its paper in a search, which shows the paper by the passage `shown`; None and "" if
    the search does not show the paper. `score` is the score of the passage, None if it was not found. The
    terms explain the first query.
    """

    passage_id: str
    title: str
    method: str
    rank: int | None
    shown: str
    depth: int  # papers searched for the rank
    explanation: Explanation
    sent: bool = True  # whether the explained query was sent; method dense sends none
    score: float | None = None
    reranker: str = ""  # that reordered the first hits
    features: Mapping[str, Part] = field(default_factory=dict)
    cosine: float | None = None  # of the passage's and the question's vectors, if used
    concepts: tuple[ConceptAccount, ...] = ()
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of words not in the index
    constraints: tuple[ConstraintAccount, ...] = ()
    feedback: tuple[FeedbackTerm, ...] = ()
    names: tuple[str, ...] = ()  # in the question; only with names there is a second search
    bridges: tuple[HeldBridge, ...] = ()
    uncovered: Mapping[str, float] = field(default_factory=dict)  # words of the second search

    def as_record(self) -> dict[str, Any]:
        """Return the account as JSON; `order_score` is the score in the ranking, `score` that of `terms`."""
        return {
            "passage_id": self.passage_id,
            "method": self.method,
            "rank": self.rank,
            "shown": self.shown,
            "order_score": self.score,
            "reranker": self.reranker,
            "features": {
                name: {"value": value, "weight": weight, "contribution": value * weight}
                for name, (value, weight) in self.features.items()
            },
            "cosine": self.cosine,
            "concepts": [concept.as_record() for concept in self.concepts],
            "spellings": {token: list(nears) for token, nears in self.spellings.items()},
            "constraints": [asdict(constraint) for constraint in self.constraints],
            "feedback": [asdict(term) for term in self.feedback],
            "names": list(self.names),
            "bridges": [held.as_record() for held in self.bridges],
            "uncovered": dict(self.uncovered),
            "score": self.explanation.score,
            "terms": [asdict(term) for term in self.explanation.terms],
        }
