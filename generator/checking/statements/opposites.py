"""Sign: the opposite direction in the most similar clause.

Claim "sales rose in winter" for the passage "sales fell in winter".
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from generator.checking.statements.directions import Direction, agrees
from generator.checking.text.clauses import Clause, Text, terms_of
from generator.checking.text.lexicon import AXIS_TERMS, MOST_PAIRS, SLIGHTLY
from generator.checking.text.matching import LEAST_SHARED, NEARLY_AS_SIMILAR, TermMatcher

SLIGHT_RATIO, SLIGHT_SHARE = Decimal("0.8"), 10  # of the smaller number to the larger one; percent
# A direction and the terms near it, of its clause and of its sentence, without words of direction.
_Place = tuple[Direction, set[str], set[str], set[str]]


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
    places = [place for passage, directions in passages for place in _with_words(passage, directions)]
    if len(in_claim) * len(places) > MOST_PAIRS:
        return
    phrases = {other.phrase for other, *_ in places if other.phrase}
    named = phrases & {direction.phrase for direction in in_claim}
    mixed = {id(direction) for direction in in_claim if _both_ends(direction, in_claim)}
    for direction in in_claim:
        if id(direction) in mixed:
            # 서쪽 가장자리 is a name if both texts have it; the other polarity is the statement about it.
            rest = [
                other
                for other in in_claim
                if other.clause is direction.clause and other.phrase not in phrases
            ]
            if direction.phrase in phrases or _both_ends(direction, rest):
                continue
        ranked = []
        for other, near_words, clause_words, sentence_words in places:
            if not _comparable(direction, other, unrelated) or (
                id(direction) in mixed and other.phrase in named
            ):
                continue
            if not (near := matcher.count(direction.near, clause_words if direction.barely else near_words)):
                continue
            clause = matcher.count(direction.clause.tokens, clause_words)
            beside = matcher.count(direction.clause.tokens, sentence_words)
            whole = matcher.count(claim.tokens, sentence_words)
            ranked.append((near + 0.5 * clause + 0.25 * beside, clause, whole, other))
        if not ranked:
            continue
        best = max(score for score, *_ in ranked)
        good = [entry for entry in ranked if entry[0] >= NEARLY_AS_SIMILAR * best]
        if any(_excuses(direction, other, slight, matcher) for *_, other in good):
            continue
        _, clause_shared, shared, other = max(good, key=lambda entry: entry[0])
        # In a clause with both polarities, one of them has another theme.
        same = [
            each
            for each, *_ in places
            if each.clause is other.clause
            and each.axis == direction.axis
            and matcher.count(direction.near, terms_of(each.near))
        ]
        if any(agrees(direction, each, matcher) for each in same):
            continue
        sure = clause_shared >= LEAST_SHARED or shared > LEAST_SHARED
        if sure and _of_it(direction, other, matcher) and shared >= LEAST_SHARED:
            yield direction.written, other.written


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


def _with_words(passage: Text, directions: Sequence[Direction]) -> Iterator[_Place]:
    """Yield each direction with the terms near it, of its clause and of its sentence."""
    clauses = {id(clause): terms_of(clause.tokens) - AXIS_TERMS for clause in passage.clauses}
    sentences: dict[int, set[str]] = defaultdict(set)
    for clause in passage.clauses:
        sentences[clause.sentence] |= clauses[id(clause)]
    for direction in directions:
        clause = direction.clause
        yield direction, terms_of(direction.near), clauses[id(clause)], sentences[clause.sentence]


def _of_it(claimed: Direction, other: Direction, matcher: TermMatcher) -> bool:
    """Return True if two words of direction share words near them, or a word next to them."""
    words = terms_of(other.clause.tokens if claimed.barely else other.near)
    if matcher.count(claimed.near, words) >= LEAST_SHARED:
        return True
    return claimed.axis != "extreme" and bool(matcher.count(claimed.beside, terms_of(other.beside)))


def _both_ends(direction: Direction, directions: Sequence[Direction]) -> bool:
    """Return True if the clause also has a direction of the other polarity on the same axis."""
    return any(
        other.clause is direction.clause
        and other.axis == direction.axis
        and other is not direction
        and other.polarity != direction.polarity
        for other in directions
    )
