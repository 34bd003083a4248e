"""What an explanation holds: the parts of a passage's score, and what each is made of."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from retriever.engines import Explanation
from retriever.order.contributions import ConceptScore
from retriever.order.scored import Part
from retriever.order.second_search import Bridge
from retriever.question.concepts import Word


@dataclass(frozen=True, slots=True)
class ConceptAccount:
    """What a passage scores for a concept of the question, and what that adds to its score."""

    scored: ConceptScore
    contribution: float

    @property
    def by(self) -> dict[str, str]:
        """What scored: text and origin of a counterpart, "own" words; empty where the passage holds none."""
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
    """Return the weights of a word's spellings, tokens that stand together in one."""
    return {" ".join(token for _, token in pattern): weight for pattern, weight in word.spellings.items()}


@dataclass(frozen=True, slots=True)
class ConstraintAccount:
    """A constraint of the question, and how much of it counts against the passage: all is 1."""

    text: str
    share: float


@dataclass(frozen=True, slots=True)
class FeedbackTerm:
    """A term of the best passages, its share of all their weights, and whether the passage holds it."""

    term: str
    share: float
    held: bool


@dataclass(frozen=True, slots=True)
class HeldBridge:
    """A name that the second search went by, and whether the passage holds it."""

    bridge: Bridge
    held: bool

    def as_record(self) -> dict[str, Any]:
        """Return the bridge as JSON, with the passage that names it."""
        return {"text": self.bridge.text, "passage_id": self.bridge.passage_id, "held": self.held}


@dataclass(frozen=True, slots=True)
class Account:
    """What a passage's rank depends on; `features` maps a part of the score to its value and weight.

    The rank is its paper's among those that a search shows, by the passage `shown`; None and "" where it
    shows nothing of the paper. `score` is what the passage is ordered by, None where it was not found; the
    explanation is of the first query.
    """

    passage_id: str
    title: str
    method: str
    rank: int | None
    shown: str
    depth: int  # papers looked through
    explanation: Explanation
    sent: bool = True  # whether the query of the explanation was; method dense sends none
    score: float | None = None
    reranker: str = ""  # that ordered the first hits anew
    features: Mapping[str, Part] = field(default_factory=dict)
    cosine: float | None = None  # of the passage's and the question's vectors, where they had a part
    concepts: tuple[ConceptAccount, ...] = ()
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of words not in the index
    constraints: tuple[ConstraintAccount, ...] = ()
    feedback: tuple[FeedbackTerm, ...] = ()
    names: tuple[str, ...] = ()  # in the question; they make a second search possible
    bridges: tuple[HeldBridge, ...] = ()
    uncovered: Mapping[str, float] = field(default_factory=dict)  # words that the second search was for

    def as_record(self) -> dict[str, Any]:
        """Return the account as JSON; `order_score` is what the search orders by, `score` that of `terms`."""
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
