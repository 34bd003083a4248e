"""Opposites."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from generator.checking.statements.directions import Direction, agrees
from generator.checking.text.clauses import Clause, Text, terms_of
from generator.checking.text.lexicon import AXIS_TERMS, MOST_PAIRS, SLIGHTLY
from generator.checking.text.matching import TermMatcher

SLIGHT_RATIO, SLIGHT_SHARE = Decimal("0.8"), 10  # of what was and what became; in percent
NEARLY_AS_GOOD = 0.75
LEAST_SHARED = 2
# A direction and the terms near it, of its clause and of its sentence, without those of directions.
_Place = tuple[Direction, set[str], set[str], set[str]]


def contradictions(
    claim: Text,
    in_claim: Sequence[Direction],
    passages: Sequence[tuple[Text, Sequence[Direction]]],
    matcher: TermMatcher,
    of_others: Set[tuple[int, int]] = frozenset(),
) -> Iterator[tuple[str, str]]:
    """Yield words of a sentence and those of the sources that turn them round.

    `of_others`: pairs of directions, by their id, that are said of different things.

    A word of an axis contradicts where the place of the sources that shares most with it has the other
    end of the axis, or denies it, and no place that shares nearly as much agrees. A comparison is read
    with its sides: "A higher than B" is "B lower than A". Of more than MOST_PAIRS pairs none are compared.
    """
    in_claim = [_plainly(direction) for direction in in_claim if direction.barely or not direction.hedged]
    slight = _slight_clauses(passages) if any(direction.barely for direction in in_claim) else set()
    said = [place for passage, directions_of in passages for place in _with_words(passage, directions_of)]
    if len(in_claim) * len(said) > MOST_PAIRS:
        return
    phrases = {other.phrase for other, *_ in said if other.phrase}
    named = phrases & {direction.phrase for direction in in_claim}
    mixed = {id(direction) for direction in in_claim if _both_ends(direction, in_claim)}
    for direction in in_claim:
        if id(direction) in mixed:
            # 서쪽 가장자리 is a name where both have it; the other end is what is said of it.
            rest = [
                other
                for other in in_claim
                if other.clause is direction.clause and other.phrase not in phrases
            ]
            if direction.phrase in phrases or _both_ends(direction, rest):
                continue
        ranked = []
        for other, near_words, clause_words, sentence_words in said:
            if not _comparable(direction, other, of_others) or (
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
        good = [entry for entry in ranked if entry[0] >= NEARLY_AS_GOOD * best]
        if any(_excuses(direction, other, slight, matcher) for *_, other in good):
            continue
        _, clause_shared, shared, other = max(good, key=lambda entry: entry[0])
        of_it = _of_it(direction, other, matcher)
        # A clause with both ends says one of them of something else.
        same = [
            each
            for each, *_ in said
            if each.clause is other.clause
            and each.axis == direction.axis
            and matcher.count(direction.near, terms_of(each.near))
        ]
        if any(agrees(direction, each, matcher) for each in same):
            continue
        sure = clause_shared >= LEAST_SHARED or shared > LEAST_SHARED
        if of_it and sure and shared >= LEAST_SHARED:
            yield direction.written, other.written


def _comparable(claimed: Direction, other: Direction, of_others: Set[tuple[int, int]]) -> bool:
    """Tell whether two directions are of one axis; what tells of a noun is a condition, not a finding."""
    if claimed.axis != other.axis or (id(claimed), id(other)) in of_others:
        return False
    return claimed.attribute or not other.attribute


def _plainly(direction: Direction) -> Direction:
    """Read "hardly fell" as "did not fall"."""
    return replace(direction, negated=True, hedged=False) if direction.barely else direction


def _slight_clauses(passages: Sequence[tuple[Text, Sequence[Direction]]]) -> set[int]:
    clauses = {id(each.clause): (passage, each.clause) for passage, said in passages for each in said}
    return {number for number, (passage, clause) in clauses.items() if _is_slight(passage, clause)}


def _is_slight(text: Text, clause: Clause) -> bool:
    """Tell whether a clause says that a change is small, in words or by its numbers."""
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
    """Tell whether a place of the sources says the same or may do so."""
    if claimed.barely:
        return (
            id(other.clause) in slight or agrees(claimed, replace(other, hedged=False), matcher) is not False
        )
    return agrees(claimed, other, matcher) is not False


def _with_words(passage: Text, directions: Sequence[Direction]) -> Iterator[_Place]:
    """Yield each direction with the terms around it, those of a clause or a sentence taken once."""
    clauses = {id(clause): terms_of(clause.tokens) - AXIS_TERMS for clause in passage.clauses}
    sentences: dict[int, set[str]] = defaultdict(set)
    for clause in passage.clauses:
        sentences[clause.sentence] |= clauses[id(clause)]
    for direction in directions:
        clause = direction.clause
        yield direction, terms_of(direction.near), clauses[id(clause)], sentences[clause.sentence]


def _of_it(claimed: Direction, other: Direction, matcher: TermMatcher) -> bool:
    """Tell whether two words of an axis are about the same."""
    said = terms_of(other.clause.tokens if claimed.barely else other.near)
    if matcher.count(claimed.near, said) >= LEAST_SHARED:
        return True
    return claimed.axis != "extreme" and _next_to(claimed, other, matcher)


def _next_to(claimed: Direction, other: Direction, matcher: TermMatcher) -> bool:
    """Tell whether a word beside the one of the axis is the same in both."""
    return bool(matcher.count(claimed.beside, terms_of(other.beside)))


def _both_ends(direction: Direction, directions: Sequence[Direction]) -> bool:
    return any(
        other.clause is direction.clause
        and other.axis == direction.axis
        and other is not direction
        and other.polarity != direction.polarity
        for other in directions
    )
