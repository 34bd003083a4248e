"""How likely it is that the evidence answers a question: the score that abstention goes by.

A logistic regression over what the best passages have in common with the question, fitted on training
questions, each once with its relevant passage in the index and once without
(`python -m eval.experiments.answers --fit`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from retriever.order.closeness import best_window, title_similarity
from retriever.order.concepts import Concept
from retriever.order.scored import Scored
from retriever.question import AnalysedQuestion

EVIDENCE = 5  # passages that an answer rests on

# Below this the answer says that the passages hold none. Set on the training questions so that 1 % of those
# that can be answered are turned away: these are short, and longer ones share less with what answers them.
THRESHOLD = 0.14

WEIGHTS: Mapping[str, float] = {
    "bias": -2.929,
    "base": 0.698,
    "coverage": 2.068,
    "window": 0.099,
    "near": 0.449,
    "title": 1.104,
    "lead": 0.846,
    "rarest": 0.234,
    "best_window": -0.282,
}


@dataclass(frozen=True, slots=True)
class AnswerabilityFeatures:
    """What speaks for an answer among the first passages; shares lie between 0 and 1, the base up to 2.2.

    Shares are of the whole question: a word that the index does not hold counts as the rarest there is.
    """

    base: float  # of the first: BM25 by concepts
    coverage: float  # of the first
    feedback: float  # of the first
    neighbours: float  # of the first
    window: float  # of the first: the best window of its text
    title: float  # of the first: its title's likeness
    lead: float  # of the first over the second, by base
    rarest: float  # 1 where the first holds the question's rarest word, or a counterpart
    names: float  # share of the question's names that the first holds, 1 without any
    best_window: float  # of the first five

    def values(self) -> dict[str, float]:
        """Return the features by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


NOTHING = AnswerabilityFeatures(**dict.fromkeys((field.name for field in fields(AnswerabilityFeatures)), 0.0))


def answerability_features(
    first: Sequence[Scored], question: AnalysedQuestion, concepts: Sequence[Concept], unseen: float
) -> AnswerabilityFeatures:
    """Read the features off the first passages, best first; `unseen` is the idf of a word of no passage."""
    if not first:
        return NOTHING
    top, candidate = first[0].features, first[0].candidate
    second = first[1].features.base if len(first) > 1 else 0.0
    known = sum(concept.importance for concept in concepts)
    unknown = unseen * sum(len(concept.words) for concept in concepts if not concept.importance)
    share = known / (known + unknown) if known else 0.0
    rarest = max(concepts, key=lambda concept: _rarity(concept, unseen), default=None)
    windows = [best_window(concepts, one.candidate) for one in first[:EVIDENCE]]
    held = [all(token in candidate.counts for token in name) for name in question.names]
    return AnswerabilityFeatures(
        base=top.base * share,
        coverage=top.coverage * share,
        feedback=top.feedback,
        neighbours=top.neighbours,
        window=windows[0] * share,
        title=title_similarity(concepts, candidate) * share,
        lead=(top.base - second) / top.base if top.base else 0.0,
        rarest=float(rarest is not None and not candidate.counts.keys().isdisjoint(rarest.tokens)),
        names=sum(held) / len(held) if held else 1.0,
        best_window=max(windows) * share,
    )


def _rarity(concept: Concept, unseen: float) -> float:
    """Return the weight of a concept's rarest word; one that stands nowhere weighs `unseen`."""
    if not concept.importance:
        return unseen
    return max((word.importance for word in concept.words), default=0.0) or concept.importance


def evidence_score(found: AnswerabilityFeatures) -> float:
    """Return the likelihood, 0 to 1, that the evidence answers."""
    total = WEIGHTS["bias"] + sum(WEIGHTS.get(name, 0.0) * value for name, value in found.values().items())
    return 1 / (1 + math.exp(-total))
