"""Signs: numbers with the words of another number.

Claim "0.71 with LiDAR" for the passage "0.71 with fusion, 0.38 with LiDAR"; claim "a hazard ratio of 0.60"
for "hazard ratio 0.71, 95% CI 0.60–0.84".
"""

from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache, partial
from itertools import combinations

from generator.checking.numbers.labels import PERIODS, LabelledQuantity, Labels, with_number
from generator.checking.text.clauses import Text
from generator.checking.text.matching import TermMatcher
from generator.checking.text.quantities import Quantity, are_alternatives
from indexer.analysis.tokens import Token

LEAST_OF_ANOTHER = 2  # words of another number
LEAST_OF_SENTENCE = 2  # words that a label shares with the right sentence


def misplaced_numbers(
    in_claim: Labels,
    passages: Sequence[Labels],
    quantities: Sequence[Quantity],
    matcher: TermMatcher,
    *,
    cross_lingual: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield numbers that the passages give for something else, with the number that they give instead.

    Args:
        in_claim, passages: the labelled quantities of the claim, and of each passage.
        quantities: of the claim.
        matcher: of the claim.
        cross_lingual: compare conditions only, since the glossary has too few of the words.
    """
    # Numbers of the passages that the claim also has.
    named = {
        stated.quantity
        for labels in passages
        for stated in labels
        if any(claimed.same_as(stated.quantity) for claimed in quantities)
    }
    for claimed in in_claim:
        same = with_number(claimed.quantity, passages)
        if not same or not claimed.quantity.required:
            continue
        words_of_another = None if cross_lingual else cache(partial(_words_of_another, claimed, matcher))
        first = None
        for stated, around in same:
            competing = _competing_number(stated, around, named, words_of_another)
            if not competing:
                break
            first = first or competing
        else:
            if first:
                yield claimed.quantity.text, first.text


def _competing_number(
    place: LabelledQuantity,
    around: Labels,
    named: Set[Quantity],
    words_of_another: Callable[[frozenset[str], frozenset[str], bool], bool] | None,
) -> Quantity | None:
    """Return the number of a passage in place of which a claim has another one."""
    for other in around:
        if (
            not other.quantity.required
            or other.quantity in named
            or other.quantity in place.partners
            or not are_alternatives(other.quantity, place.quantity)
        ):
            continue
        later = other.quantity.start > place.quantity.start
        if words_of_another and words_of_another(place.words, other.words, later):
            return other.quantity
        if _of_another_condition(place, other, named):
            return other.quantity
    return None


def _words_of_another(
    claimed: LabelledQuantity, matcher: TermMatcher, here: frozenset[str], there: frozenset[str], later: bool
) -> bool:
    """Return True if only the other number of the passage has the words of the claim's number.

    The opening words of a sentence may belong to all its numbers, the words of a `later` number to it alone.
    """
    only_here, only_there = here - there, there - here
    if not only_here:
        return False
    nearest = _nearest(claimed)
    if matcher.count(claimed.tokens, only_here):
        # One actor has several numbers: the words next to the number decide.
        before = nearest[:2]
        return (
            later
            and matcher.count(before, only_there) >= LEAST_OF_ANOTHER
            and not matcher.count(before, only_here)
        )
    taken = matcher.count(claimed.tokens, only_there)
    return taken >= LEAST_OF_ANOTHER and bool(matcher.count(nearest, only_there))


def _nearest(claimed: LabelledQuantity) -> tuple[Token, ...]:
    """Return the two words before a number and the word after it."""
    before = [token for token in claimed.tokens if token[3] <= claimed.quantity.start]
    after = [token for token in claimed.tokens if token[2] >= claimed.quantity.end]
    return (*before[-2:], *after[:1])


def _of_another_condition(place: LabelledQuantity, other: LabelledQuantity, named: Set[Quantity]) -> bool:
    """Return True if the claim has the condition of the other number but lacks the right one."""
    theirs = [quantity for quantity in other.conditions if quantity in named]
    return any(
        are_alternatives(claimed, condition)
        for claimed in place.conditions
        if claimed.unit and claimed not in named and claimed != other.quantity
        for condition in theirs
        if condition != place.quantity
    )


def exchanged_numbers(
    in_claim: Labels, passages: Sequence[Labels], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield pairs of numbers whose labels are exchanged in every sentence with both."""
    for first, second in combinations(in_claim, 2):
        if first.sentence != second.sentence or not are_alternatives(first.quantity, second.quantity):
            continue
        found = [
            _crossed(first, second, one, other, matcher)
            for places in passages
            for one in places
            if first.quantity.same_as(one.quantity)
            for other in places
            if one.sentence == other.sentence and second.quantity.same_as(other.quantity)
        ]
        if found and all(found):
            yield first.quantity.text, second.quantity.text


def _crossed(
    first: LabelledQuantity,
    second: LabelledQuantity,
    one: LabelledQuantity,
    other: LabelledQuantity,
    matcher: TermMatcher,
) -> bool:
    """Return True if each of two numbers has a label of the other one and not its own."""
    straight = _matches(first, second, one, other, matcher)
    if first.opens and one.opens:
        straight = 0  # opening words may belong to both numbers
    return (
        not straight
        and not _matches(second, first, other, one, matcher)
        and bool(_matches(first, second, other, one, matcher))
        and bool(_matches(second, first, one, other, matcher))
    )


def _matches(
    claimed: LabelledQuantity,
    other_claimed: LabelledQuantity,
    stated: LabelledQuantity,
    other_stated: LabelledQuantity,
    matcher: TermMatcher,
) -> int:
    """Count the label words and conditions of one number alone that agree in claim and passage."""
    words = tuple(token for token in claimed.tokens if token[0] not in other_claimed.words)
    conditions = [each for each in claimed.conditions if not _has(other_claimed, each)]
    return matcher.count(words, stated.words - other_stated.words) + sum(
        _has(stated, each) and not _has(other_stated, each) for each in conditions
    )


def _has(place: LabelledQuantity, condition: Quantity) -> bool:
    return any(condition.same_as(other) for other in place.conditions)


def numbers_of_other_sentences(
    claim: Text, in_claim: Labels, passages: Sequence[Labels], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield numbers from sentences about something else, with the number of the right sentence."""
    stated = [
        (label.quantity, label.text.sentences[label.sentence][2]) for labels in passages for label in labels
    ]
    for claimed in in_claim:
        unit = claimed.quantity.unit
        if not claimed.quantity.required or not unit or unit.dimension in PERIODS:
            continue
        same = [words for quantity, words in stated if claimed.quantity.same_as(quantity)]
        if not same or any(matcher.count(claim.tokens, words) for words in same):
            continue
        for quantity, words in stated:
            rival = are_alternatives(claimed.quantity, quantity)
            if rival and matcher.count(claimed.tokens, words) >= LEAST_OF_SENTENCE:
                yield claimed.quantity.text, quantity.text
                break
