"""A second search from names that the best passages bring: the bridge to what they do not say themselves.

"Where was the founder of X born?": a passage on X names the founder and leaves the rest open; the passage on
the founder does not hold X. Only a question that names somebody or something goes on this way, and only from
passages that hold the name and leave a part of the question uncovered.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property

from retriever.names import LONGEST_TITLE
from retriever.order.candidates import Candidate, Scale
from retriever.order.concepts import Concept
from retriever.order.scored import Scored
from retriever.plan import NamedQuery
from retriever.queries import Term, or_query
from retriever.query_names import BRIDGES
from retriever.question import AnalysedQuestion
from retriever.term_statistics import TermStatistics

BEST = 5  # passages that are looked at
FROM = 2  # of these that may lead on
LEAST_UNCOVERED = 0.15  # of the question, by importance
MOST_BRIDGES = 10
FOUND = 30  # passages that the second search brings
NAME_WEIGHT = 0.5  # of a bridge's tokens beside a word that was left uncovered
# What a candidate gains: by a bridge's BM25, and by its title standing in a passage that leads on; the more,
# the more of the uncovered it holds.
BRIDGE_GAIN, LINK_GAIN = 0.1, 0.4
LEAST_SHARE, UNCOVERED_SHARE = 0.25, 2.0
WORDS_APART = 3  # positions from a word of a title to the next, where a passage names it
DISTINCTION = re.compile(r"\s*\([^)]*\)\s*$")


@dataclass(frozen=True, slots=True)
class Bridge:
    """A name that a passage brings, and the passage."""

    tokens: tuple[str, ...]
    text: str
    passage_id: str
    strength: float  # the passage's share of the best score


@dataclass(frozen=True)  # without slots, so that what candidates ask again is computed once
class Hop:
    """What the second search goes by: bridges, the passages they come from, what these leave uncovered."""

    bridges: tuple[Bridge, ...]
    sources: tuple[Scored, ...]
    uncovered: Mapping[str, float]  # tokens with their weight in the question
    names: tuple[tuple[frozenset[str], ...], ...]  # of each source
    best: float  # the best score

    def notes(self) -> list[str]:
        """Say what is also searched for, a line for each passage that names it."""
        named: dict[str, list[str]] = {}
        for bridge in self.bridges:
            named.setdefault(bridge.passage_id, []).append(bridge.text)
        return [
            f"also searched for {', '.join(texts)}, which {source} names" for source, texts in named.items()
        ]

    @cached_property
    def named(self) -> frozenset[str]:
        """All tokens of the names."""
        return frozenset().union(*(name for names in self.names for name in names))

    def query(self, title_weight: float) -> NamedQuery:
        """Make the one OR that is asked."""
        weights = dict.fromkeys((token for bridge in self.bridges for token in bridge.tokens), NAME_WEIGHT)
        weights |= self.uncovered
        terms = [Term(token, (token,), weight=round(weight, 4)) for token, weight in weights.items()]
        return NamedQuery(BRIDGES, or_query(terms, title_weight=title_weight), FOUND)


def leading_on(
    question: AnalysedQuestion, concepts: Sequence[Concept], ranked: Sequence[Scored]
) -> list[tuple[Scored, dict[str, float]]]:
    """Return the passages that lead on, with what each leaves uncovered: token to its weight."""
    if not question.names:
        return []
    total = sum(concept.importance for concept in concepts)
    found = []
    for scored in ranked[:BEST]:
        held = scored.candidate.counts
        if not any(all(token in held for token in name) for name in question.names):
            continue
        left = [concept for concept in concepts if not any(token in held for token in concept.tokens)]
        if sum(concept.importance for concept in left) < LEAST_UNCOVERED * total:
            continue
        words = [word for concept in left for word in concept.words]
        found.append((scored, {token: share for word in words for token, share in word.spellings.items()}))
    return found[:FROM]


def find_bridges(
    question: AnalysedQuestion,
    ranked: Sequence[Scored],
    leading: Sequence[tuple[Scored, Mapping[str, float]]],
    named: Sequence[Mapping[tuple[str, ...], str]],
    statistics: TermStatistics,
) -> Hop | None:
    """Choose the bridges: names that hold a word which the question does not, the rarest of the best.

    Args:
        question: its words are no bridges.
        ranked: best first.
        leading: the passages that lead on, with what they leave uncovered.
        named: the names in each of these, tokens to text.
        statistics: of their tokens.
    """
    asked = {token[0] for token in question.tokens}
    best = ranked[0].score
    if best <= 0:
        return None
    found: dict[tuple[str, ...], tuple[float, Bridge]] = {}
    for (scored, _), names in zip(leading, named, strict=True):
        strength = scored.score / best
        for tokens, text in names.items():
            if asked.issuperset(tokens):
                continue
            rarity = strength * sum(statistics.idf(token) for token in dict.fromkeys(tokens))
            if rarity > found.get(tokens, (0.0,))[0]:
                found[tokens] = rarity, Bridge(tokens, text, scored.candidate.passage_id, strength)
    if not found:
        return None
    strongest = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))[:MOST_BRIDGES]
    uncovered: dict[str, float] = {}
    for scored, left in leading:
        for token, weight in left.items():
            uncovered[token] = max(uncovered.get(token, 0.0), weight * scored.score / best)
    bridges = tuple(bridge for _, (_, bridge) in strongest)
    held = tuple(tuple(frozenset(name) for name in names) for names in named)
    return Hop(bridges, tuple(scored for scored, _ in leading), uncovered, held, best)


def with_gains(
    hop: Hop,
    question: AnalysedQuestion,
    scored: Sequence[Scored],
    scale: Scale,
    statistics: TermStatistics,
    weight: float = 1.0,
) -> list[Scored]:
    """Add what each candidate gains by bridges and by its title, times `weight`."""
    tokens = {token for bridge in hop.bridges for token in bridge.tokens} | hop.uncovered.keys()
    rarity = {token: statistics.idf(token) for token in sorted(tokens)}
    known = {token: idf for token, idf in rarity.items() if idf}
    asked = {token[0] for token in question.tokens}
    attainable = sum(part * rarity[token] for token, part in hop.uncovered.items())
    of_bridges = [(bridge, _known(bridge, known)) for bridge in hop.bridges]
    gained = []
    for each in scored:
        scores = scale.score_of(each.candidate, known)
        left = sum(part * scores.get(token, 0.0) for token, part in hop.uncovered.items())
        share = LEAST_SHARE + UNCOVERED_SHARE * (left / attainable if attainable else 0.0)
        bridges = [
            bridge.strength * sum(scores.get(token, 0.0) for token in tokens) / total
            for bridge, (tokens, total) in of_bridges
            if total and bridge.passage_id != each.candidate.passage_id
        ]
        parts = {
            "bridge": (max(bridges, default=0.0), weight * BRIDGE_GAIN),
            "title in passage": (_by_title(hop, each.candidate, asked), weight * LINK_GAIN),
        }
        gains = {name: (value * min(1.0, share), gain) for name, (value, gain) in parts.items() if value}
        gained.append(replace(each, parts={**each.parts, **gains}) if gains else each)
    return gained


def _known(bridge: Bridge, rarity: Mapping[str, float]) -> tuple[list[str], float]:
    """Return the tokens of a bridge that the index holds, and the sum of their idf."""
    tokens = [token for token in dict.fromkeys(bridge.tokens) if token in rarity]
    return tokens, sum(rarity[token] for token in tokens)


def _by_title(hop: Hop, candidate: Candidate, asked: AbstractSet[str]) -> float:
    if candidate.title_counts.keys().isdisjoint(hop.named):
        return 0.0
    title = _named_by(candidate)
    if not title or asked >= set(title):
        return 0.0
    strengths = [
        source.score / hop.best
        for source, names in zip(hop.sources, hop.names, strict=True)
        if source.candidate.passage_id != candidate.passage_id
        and any(name.issuperset(title) for name in names)
        and _holds(source.candidate, title)
    ]
    return max(strengths, default=0.0)


def _named_by(candidate: Candidate) -> list[str]:
    """Return the tokens of a title, without what tells it from others of the name: "Mercury (planet)"."""
    if len(candidate.title) > LONGEST_TITLE:
        return []
    bracket = DISTINCTION.search(candidate.title)
    end = bracket.start() if bracket else len(candidate.title)
    return [token[0] for token in candidate.tokens.title.tokens() if token[3] <= end]


def _holds(candidate: Candidate, tokens: Sequence[str]) -> bool:
    """Tell whether tokens stand in a passage in their order, up to two others between them."""
    if any(token not in candidate.counts for token in tokens):
        return False
    places = candidate.places(set(tokens))
    ends = set(places[tokens[0]])
    for token in tokens[1:]:
        ends = {
            place for place in places[token] if any(place - gap in ends for gap in range(1, WORDS_APART + 1))
        }
    return bool(ends)
