"""Exchanged."""

from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache, partial
from itertools import combinations

from generator.checking.numbers.labels import PERIODS, LabelledQuantity, LabelsOf
from generator.checking.text.clauses import Text
from generator.checking.text.matching import TermMatcher
from generator.checking.text.quantities import Quantity, are_alternatives
from indexer.analysis.tokens import Token

LEAST_OF_ANOTHER = 2
LEAST_OF_SENTENCE = 2  # words of a number with the sentence that it should be from


def misplaced_numbers(
    in_claim: Sequence[LabelledQuantity],
    passages: Sequence[Sequence[LabelledQuantity]],
    quantities: Sequence[Quantity],
    matcher: TermMatcher,
    *,
    cross_lingual: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield numbers of a sentence that the sources give to something else, with the number that stands there.

    Args:
        own, sources: the places of the quantities of the sentence, and of each source.
        counted: the quantities of the sentence.
        bridge: of the sentence.
        across: the glossary gives too few words of a place, so that only conditions are compared.
    """
    of_passages = [
        (place, [other for other in places if other.sentence == place.sentence])
        for places in passages
        for place in places
    ]
    # The numbers of the sources that the sentence has too.
    named = {
        place.quantity
        for place, _ in of_passages
        if any(claimed.same_as(place.quantity) for claimed in quantities)
    }
    for claimed in in_claim:
        same = [(place, around) for place, around in of_passages if claimed.quantity.same_as(place.quantity)]
        if not same or not claimed.quantity.demanded:
            continue
        words_of_another = None if cross_lingual else cache(partial(_words_of_another, claimed, matcher))
        first = None
        for place, around in same:
            competing = _competing_number(place, around, named, words_of_another)
            if not competing:
                break
            first = first or competing
        else:
            if first:
                yield claimed.quantity.text, first.text


def _competing_number(
    place: LabelledQuantity,
    around: Sequence[LabelledQuantity],
    named: Set[Quantity],
    words_of_another: Callable[[frozenset[str], frozenset[str], bool], bool] | None,
) -> Quantity | None:
    """Return the number of a source that stands where a sentence has put another one."""
    for other in around:
        if (
            not other.quantity.demanded
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
    """Tell whether the words of the sentence's number stand with the other number alone.

    Words that open a sentence may be of all its numbers; those of a `later` number are its own.
    """
    only_here, only_there = here - there, there - here
    if not only_here:
        return False
    nearest = _nearest(claimed)
    if matcher.count(claimed.tokens, only_here):
        # One actor does several things, each with a number: what stands next to the number decides.
        before = nearest[:2]
        return (
            later
            and matcher.count(before, only_there) >= LEAST_OF_ANOTHER
            and not matcher.count(before, only_here)
        )
    taken = matcher.count(claimed.tokens, only_there)
    return taken >= LEAST_OF_ANOTHER and bool(matcher.count(nearest, only_there))


def _nearest(claimed: LabelledQuantity) -> tuple[Token, ...]:
    """Return the two words before a number and the one behind it."""
    before = [token for token in claimed.tokens if token[3] <= claimed.quantity.start]
    behind = [token for token in claimed.tokens if token[2] >= claimed.quantity.end]
    return (*before[-2:], *behind[:1])


def _of_another_condition(place: LabelledQuantity, other: LabelledQuantity, named: Set[Quantity]) -> bool:
    """Tell whether the sentence names the condition of the other number and not that of its own."""
    theirs = [quantity for quantity in other.conditions if quantity in named]
    return any(
        are_alternatives(claimed, condition)
        for claimed in place.conditions
        if claimed.unit and claimed not in named and claimed != other.quantity
        for condition in theirs
        if condition != place.quantity
    )


def exchanged_numbers(
    in_claim: Sequence[LabelledQuantity], passages: Sequence[Sequence[LabelledQuantity]], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield pairs of numbers whose labels are exchanged in every sentence of the sources with both."""
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
    """Return whether each of two numbers has a label of the other one and neither its own."""
    straight = _matches(first, second, one, other, matcher)
    if first.opens and one.opens:
        straight = 0  # what opens both sentences may be of both numbers
    return (
        not straight
        and not _matches(second, first, other, one, matcher)
        and bool(_matches(first, second, other, one, matcher))
        and bool(_matches(second, first, one, other, matcher))
    )


def _matches(
    claimed: LabelledQuantity,
    beside: LabelledQuantity,
    in_passages: LabelledQuantity,
    but: LabelledQuantity,
    matcher: TermMatcher,
) -> int:
    """Count the labels that belong to one number alone, both in the sentence and in the source."""
    words = tuple(token for token in claimed.tokens if token[0] not in beside.words)
    conditions = [each for each in claimed.conditions if not _has(beside, each)]
    return matcher.count(words, in_passages.words - but.words) + sum(
        _has(in_passages, each) and not _has(but, each) for each in conditions
    )


def _has(place: LabelledQuantity, condition: Quantity) -> bool:
    return any(condition.same_as(other) for other in place.conditions)


def numbers_of_other_sentences(
    claim: Text,
    in_claim: Sequence[LabelledQuantity],
    passages: Sequence[LabelsOf],
    matcher: TermMatcher,
) -> Iterator[tuple[str, str]]:
    """Yield numbers that the sources have in sentences about something else, with that of the right one."""
    places = [(place, passage.sentences[place.sentence][2]) for passage, there in passages for place in there]
    for claimed in in_claim:
        unit = claimed.quantity.unit
        if not claimed.quantity.demanded or not unit or unit.dimension in PERIODS:
            continue
        same = [words for place, words in places if claimed.quantity.same_as(place.quantity)]
        if not same or any(matcher.count(claim.tokens, words) for words in same):
            continue
        for place, words in places:
            rival = are_alternatives(claimed.quantity, place.quantity)
            if rival and matcher.count(claimed.tokens, words) >= LEAST_OF_SENTENCE:
                yield claimed.quantity.text, place.quantity.text
                break
