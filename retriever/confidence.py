"""How likely it is that the evidence answers a question: the score that abstention goes by.

A logistic regression over what the best passages have in common with the question, fitted on training
questions, each once with its relevant passage in the index and once without
(`python -m eval.experiments.answers --fit`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from retriever.features import Concept, Features

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

    base: float  # of the first: engine's score over the attainable
    coverage: float  # of the first
    window: float  # of the first: the best window of its text
    near: float  # of the first
    title: float  # of the first
    lead: float  # of the first over the second, by base
    rarest: float  # 1 where the first holds a token of the question's rarest word, or of its counterparts
    best_window: float  # of the first five

    def values(self) -> dict[str, float]:
        """Return the features by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def answerability_features(
    ordered: Sequence[tuple[Features, frozenset[str]]], concepts: Sequence[Concept], unseen: float
) -> AnswerabilityFeatures:
    """Read the features off the first passages, each with its features and its tokens.

    `unseen` is the idf of a word that stands nowhere. The rarest word is the concept of the highest weight a
    token: its counterparts in the other language count as tokens but add no weight, so that a word with
    counterparts passes for more common than it is. A word that stands nowhere, like its counterparts, weighs
    `unseen`. WEIGHTS were fitted with this definition.
    """
    if not ordered:
        return AnswerabilityFeatures(0, 0, 0, 0, 0, 0, 0, 0)
    first, tokens = ordered[0]
    second = ordered[1][0].base if len(ordered) > 1 else 0.0
    known = sum(concept.weight for concept in concepts)
    unknown = unseen * sum(not concept.weight for concept in concepts)
    share = known / (known + unknown) if known else 0.0
    rarest = max(
        concepts,
        key=lambda concept: concept.weight / len(concept.tokens) if concept.weight else unseen,
        default=None,
    )
    return AnswerabilityFeatures(
        base=first.base * share,
        coverage=first.coverage * share,
        window=first.window * share,
        near=first.near,
        title=first.title * share,
        lead=(first.base - second) / first.base if first.base else 0.0,
        rarest=float(rarest is not None and not tokens.isdisjoint(rarest.tokens)),
        best_window=max(features.window for features, _ in ordered[:5]) * share,
    )


def evidence_score(found: AnswerabilityFeatures) -> float:
    """Return the likelihood, 0 to 1, that the evidence answers."""
    total = WEIGHTS["bias"] + sum(WEIGHTS.get(name, 0.0) * value for name, value in found.values().items())
    return 1 / (1 + math.exp(-total))
