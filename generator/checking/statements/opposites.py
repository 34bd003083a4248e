"""Sign: the opposite direction in the most similar clause.

Claim "sales rose in winter" for the passage "sales fell in winter".
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from generator.checking.statements.directions import Direction, agrees
from generator.checking.text.clauses import Clause, Text, terms_of
from generator.checking.text.lexicon import AXIS_TERMS, MOST_PAIRS, SLIGHTLY
from generator.checking.text.matching import LEAST_SHARED, NEARLY_AS_SIMILAR, TermMatcher

SLIGHT_RATIO, SLIGHT_SHARE = Decimal("0.8"), 10  # of the smaller number to the larger one; percent


class Place(NamedTuple):
    """A direction of a passage, with the terms around it other than words of direction."""

    direction: Direction
    near: set[str]
    in_clause: set[str]
    in_sentence: set[str]


class Similar(NamedTuple):
    """A place of the passages that is similar to a direction of the claim."""

    score: float
    in_clause: int  # words that both clauses share
    in_sentence: int  # words of the claim in the sentence of the place
    direction: Direction


def contradictions(
    claim: Text,
    in_claim: Sequence[Direction],
    passages: Sequence[tuple[Text, Sequence[Direction]]],
    matcher: TermMatcher,
    unrelated: Set[tuple[int, int]] = frozenset(),
) -> Iterator[tuple[str, str]]:
    """Yield words of direction of a claim with the words of the passages that contradict them.

    A direction is contradicted if the most similar place of the passages has the other polarity or is
    negated, and no place that is nearly as similar agrees. A comparison is read with its sides: "A higher
    than B" is "B lower than A". More than MOST_PAIRS pairs are not compared.

    Args:
        claim, in_claim: the claim and its directions.
        passages: each passage with its directions.
        matcher: of the claim.
        unrelated: pairs of directions, by their id, with different themes.
    """
    in_claim = [_plainly(direction) for direction in in_claim if direction.barely or not direction.hedged]
    slight = _slight_clauses(passages) if any(direction.barely for direction in in_claim) else set()
    places = [place for passage, directions in passages for place in _places(passage, directions)]
    if len(in_claim) * len(places) > MOST_PAIRS:
        return
    phrases = {place.direction.phrase for place in places if place.direction.phrase}
    shared_phrases = phrases & {direction.phrase for direction in in_claim}
    mixed = {id(direction) for direction in in_claim if _has_both_polarities(direction, in_claim)}
    for claimed in in_claim:
        comparable = [place for place in places if _comparable(claimed, place.direction, unrelated)]
        if id(claimed) in mixed:
            # 서쪽 가장자리 is a name if both texts have it; the other polarity is the statement about it.
            if claimed.phrase in phrases or _has_both_polarities(
                claimed, [direction for direction in in_claim if direction.phrase not in phrases]
            ):
                continue
            comparable = [place for place in comparable if place.direction.phrase not in shared_phrases]
        similar = _similar_places(claim, claimed, comparable, matcher)
        if not similar or any(_excuses(claimed, each.direction, slight, matcher) for each in similar):
            continue
        best = max(similar, key=lambda each: each.score)
        # In a clause with both polarities, one of them has another theme.
        same = [
            place.direction
            for place in places
            if place.direction.clause is best.direction.clause
            and place.direction.axis == claimed.axis
            and matcher.count(claimed.near, terms_of(place.direction.near))
        ]
        if any(agrees(claimed, direction, matcher) for direction in same):
            continue
        enough = best.in_sentence > LEAST_SHARED or min(best.in_clause, best.in_sentence) >= LEAST_SHARED
        if enough and _shares_words(claimed, best.direction, matcher):
            yield claimed.written, best.direction.written


def _similar_places(
    claim: Text, claimed: Direction, places: Sequence[Place], matcher: TermMatcher
) -> list[Similar]:
    """Return the places most similar to a direction of the claim, by the words near it and of its clause."""
    similar = []
    for place in places:
        near = matcher.count(claimed.near, place.in_clause if claimed.barely else place.near)
        if near:
            in_clause = matcher.count(claimed.clause.tokens, place.in_clause)
            around = matcher.count(claimed.clause.tokens, place.in_sentence)
            in_sentence = matcher.count(claim.tokens, place.in_sentence)
            score = near + 0.5 * in_clause + 0.25 * around
            similar.append(Similar(score, in_clause, in_sentence, place.direction))
    best = max((each.score for each in similar), default=0)
    return [each for each in similar if each.score >= NEARLY_AS_SIMILAR * best]


def _comparable(claimed: Direction, other: Direction, unrelated: Set[tuple[int, int]]) -> bool:
    """Return True for directions of one axis; an attribute in a passage is a condition, no finding."""
    if claimed.axis != other.axis or (id(claimed), id(other)) in unrelated:
        return False
    return claimed.attribute or not other.attribute


def _plainly(direction: Direction) -> Direction:
    """Read "hardly fell" as "did not fall"."""
    return replace(direction, negated=True, hedged=False) if direction.barely else direction


def _slight_clauses(passages: Sequence[tuple[Text, Sequence[Direction]]]) -> set[int]:
    """Return the ids of clauses that report a small change."""
    clauses = {
        id(each.clause): (passage, each.clause) for passage, directions in passages for each in directions
    }
    return {number for number, (passage, clause) in clauses.items() if _is_slight(passage, clause)}


def _is_slight(text: Text, clause: Clause) -> bool:
    """Return True if a clause reports a small change, in words or by its numbers."""
    if SLIGHTLY.search(text.words_of(clause)):
        return True
    quantities = text.quantities_in(clause.start, clause.end)
    shares = [each.value for each in quantities if each.unit and each.unit.dimension.startswith("share")]
    if len(shares) == 1:
        return shares[0] <= SLIGHT_SHARE
    return any(
        first.value
        and second.value
        and first.unit == second.unit
        and min(first.value, second.value) >= SLIGHT_RATIO * max(first.value, second.value)
        for first, second in pairwise(quantities)
    )


def _excuses(claimed: Direction, other: Direction, slight: Set[int], matcher: TermMatcher) -> bool:
    """Return True if a place of the passages agrees with the claim or may do so."""
    if claimed.barely:
        if id(other.clause) in slight:
            return True
        other = replace(other, hedged=False)
    return agrees(claimed, other, matcher) is not False


def _places(passage: Text, directions: Sequence[Direction]) -> Iterator[Place]:
    """Yield each direction of a passage with the terms around it."""
    clauses = {id(clause): terms_of(clause.tokens) - AXIS_TERMS for clause in passage.clauses}
    sentences: dict[int, set[str]] = defaultdict(set)
    for clause in passage.clauses:
        sentences[clause.sentence] |= clauses[id(clause)]
    for direction in directions:
        clause = direction.clause
        yield Place(direction, terms_of(direction.near), clauses[id(clause)], sentences[clause.sentence])


def _shares_words(claimed: Direction, other: Direction, matcher: TermMatcher) -> bool:
    """Return True if two words of direction share words near them, or a word next to them."""
    words = terms_of(other.clause.tokens if claimed.barely else other.near)
    if matcher.count(claimed.near, words) >= LEAST_SHARED:
        return True
    return claimed.axis != "extreme" and bool(matcher.count(claimed.beside, terms_of(other.beside)))


def _has_both_polarities(direction: Direction, directions: Sequence[Direction]) -> bool:
    """Return True if the clause also has a direction of the other polarity on the same axis."""
    return any(
        other.clause is direction.clause
        and other.axis == direction.axis
        and other is not direction
        and other.polarity != direction.polarity
        for other in directions
    )
