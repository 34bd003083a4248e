"""How likely it is that the evidence answers a question: the score that abstention goes by.

A logistic regression over what the best passages have in common with the question, fitted on training
questions, each once with its relevant passage in the index and once without
(`python -m eval.experiments.answers --fit --step 2`).
"""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields
from statistics import fmean

from retriever.answer_kinds import Kind, asked_kind, tokens_of_kind
from retriever.logistic import likelihood
from retriever.order.candidates import Candidate
from retriever.order.closeness import best_window, window_around
from retriever.order.concepts import Concept
from retriever.order.scored import Scored
from retriever.question import AnalysedQuestion

EVIDENCE = 5  # passages that an answer rests on; the weights were fitted with as many
LEAST_BASE = 0.1  # added to the base before its logarithm is taken

# Below this the answer says that the passages hold none. Set on the training questions so that 1.5 % of
# those that can be answered are turned away.
THRESHOLD = 0.122

WEIGHTS: Mapping[str, float] = {
    "bias": -1.827,
    "base": 2.06,
    "lead": 1.281,
    "coverage_lead": 0.742,
    "best_window": -1.073,
    "answer_window": 1.113,
    "names": 0.768,
    "same_title": 1.54,
}


@dataclass(frozen=True, slots=True)
class AnswerabilityFeatures:
    """What speaks for an answer among the first five passages.

    Shares lie between 0 and 1. They and the base are of the whole question: a word that the index does not
    hold counts as the rarest there is.
    """

    base: float  # of the first: the logarithm of its BM25 by concepts, -2.3 to 0.8
    lead: float  # of the first over the mean of the other four, by base, as a share of its own
    coverage_lead: float  # share of the question that the first covers, less what the second does
    best_window: float  # share of the question that a window of a passage covers, the most of the five
    answer_window: float  # the same about a year or a number, where the question asks for one
    names: float  # share of the question's names that a passage holds, the most of the five; 1 without any
    same_title: float  # share of the five that bear the first's title

    def values(self) -> dict[str, float]:
        """Return the features by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


NOTHING = AnswerabilityFeatures(
    base=math.log(LEAST_BASE),
    lead=0.0,
    coverage_lead=0.0,
    best_window=0.0,
    answer_window=0.0,
    names=0.0,
    same_title=0.0,
)


def answerability_features(
    first: Sequence[Scored],
    question: AnalysedQuestion,
    concepts: Sequence[Concept],
    unseen: float,
) -> AnswerabilityFeatures:
    """Read the features off the first passages, best first; `unseen` is the idf of a word of no passage."""
    first = first[:EVIDENCE]
    if not first:
        return NOTHING
    top, candidates = first[0].features, [one.candidate for one in first]
    others = fmean(one.features.base for one in first[1:]) if len(first) > 1 else 0.0
    asked = {token[0] for token in question.tokens}
    share = _known_share(concepts, unseen)
    best = max(best_window(concepts, candidate) for candidate in candidates)
    kind = asked_kind(question.text)
    return AnswerabilityFeatures(
        base=math.log(top.base * share + LEAST_BASE),
        lead=(top.base - others) / top.base if top.base else 0.0,
        coverage_lead=top.coverage - (first[1].features.coverage if len(first) > 1 else 0.0),
        best_window=best * share,
        answer_window=share
        * (
            max(_window_of_kind(kind, concepts, candidate, asked) for candidate in candidates)
            if kind
            else best
        ),
        names=max(_names_held(question, candidate) for candidate in candidates),
        same_title=fmean(candidate.title == candidates[0].title for candidate in candidates),
    )


def _known_share(concepts: Sequence[Concept], unseen: float) -> float:
    """Return the share of the question's importance that the index holds anywhere."""
    known = sum(concept.importance for concept in concepts)
    unknown = unseen * sum(len(concept.words) for concept in concepts if not concept.importance)
    return known / (known + unknown) if known else 0.0


def _window_of_kind(kind: Kind, concepts: Sequence[Concept], candidate: Candidate, asked: Set[str]) -> float:
    """Return the share of the question about a token of a kind that the question does not hold itself."""
    return window_around(concepts, candidate, tokens_of_kind(kind, candidate.counts.keys() - asked))


def _names_held(question: AnalysedQuestion, candidate: Candidate) -> float:
    held = [all(token in candidate.counts for token in name) for name in question.names]
    return fmean(held) if held else 1.0


def evidence_score(found: AnswerabilityFeatures) -> float:
    """Return the likelihood, 0 to 1, that the evidence answers."""
    return likelihood(WEIGHTS, found.values())
