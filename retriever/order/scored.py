"""Candidates with their scores, and what each score is made of."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from retriever.order.candidates import Candidate
from retriever.order.concepts import Concept
from retriever.order.features import Features

LOWEST_OF_OTHER = 4  # place of the best paper in the other language, where nothing tells its words
SAME_TITLE = 0.15  # of the mean of the passages under one title, in the place of a passage's own score

Part = tuple[float, float]  # a value and its weight


@dataclass(frozen=True)  # without slots, so that the score is summed once
class Scored:
    """A candidate, its features, and the parts of its score by name."""

    candidate: Candidate
    features: Features
    parts: Mapping[str, Part]

    @cached_property
    def score(self) -> float:
        """The sum of the parts, each times its weight."""
        return sum(value * weight for value, weight in self.parts.values())

    def with_part(self, name: str, value: float, weight: float) -> Self:
        """Return the candidate with one part more."""
        return replace(self, parts={**self.parts, name: (value, weight)})


def best_first(scored: Sequence[Scored]) -> list[Scored]:
    """Order by score, then passage_id."""
    return sorted(scored, key=lambda each: (-each.score, each.candidate.passage_id))


def with_mean_of_title(scored: Sequence[Scored]) -> list[Scored]:
    """Let passages under one title share a part of their scores: they speak of one thing."""
    titled: dict[str, list[float]] = defaultdict(list)
    for each in scored:
        if title := each.candidate.title:
            titled[title].append(each.score)
    means = {title: sum(scores) / len(scores) for title, scores in titled.items() if len(scores) > 1}
    return [
        each.with_part("same title", means[title] - each.score, SAME_TITLE)
        if (title := each.candidate.title) in means
        else each
        for each in scored
    ]


def with_other_language(ranked: Sequence[Scored], language: str, concepts: Sequence[Concept]) -> list[Scored]:
    """Lift the best candidate in the other language to the fourth place.

    A question of which no word has a counterpart reaches the other language by what both write alike (names,
    abbreviations), of which BM25 sees little: only a candidate that holds such a word is lifted, and past
    none that equals the third.
    """
    if len(ranked) < LOWEST_OF_OTHER:
        return list(ranked)
    alike = {token for concept in concepts for token in concept.tokens if any(map(str.isalpha, token))}
    others = [
        place
        for place, each in enumerate(ranked)
        if {each.candidate.lang, language} == {"ko", "en"} and not alike.isdisjoint(each.candidate.counts)
    ]
    if not others or others[0] < LOWEST_OF_OTHER:
        return list(ranked)
    above, best = ranked[LOWEST_OF_OTHER - 2].score, ranked[others[0]]
    below = next(each for each in ranked[LOWEST_OF_OTHER - 1 :] if each is best or each.score < above)
    if below is best:
        return list(ranked)
    lifted = best.with_part("other language", (above + below.score) / 2 - best.score, 1.0)
    return best_first([*(each for each in ranked if each is not best), lifted])
