"""Conditions."""

import re
from collections.abc import Iterator, Sequence, Set

from generator.checking.numbers.labels import LabelledQuantity, LabelsOf, measures, own_label
from generator.checking.text.clauses import Text, terms_of
from generator.checking.text.matching import TermMatcher
from generator.checking.text.quantities import COUNTER_SYLLABLE, LISTED, Quantity, are_alternatives

# A group that is named by what it lacks.
LACKS = re.compile(
    r"\bnon-?[a-z]{4,}|\bun(?!expect)[a-z]{4,}ed\b|\bwithout\b|\b(?:who|that|which) (?:\w+ )?not\b"
    r"|않은|않는|없이|없는|없던|안 |미[가-힣]{2,3}[군자]|비[가-힣]{2}[군자]|무[가-힣]{2}[군구]",
    re.IGNORECASE,
)
CHANGES = re.compile(r"에서|\bto\b")
LONGEST_CHANGE = 40  # characters
LEAST_ACROSS = 2  # words of another number, where not all of its own have a translation
LEAST_TAKEN = 1
SHORTLY_BEFORE = 5  # characters: "non-"


def other_labels(
    in_claim: Sequence[LabelledQuantity],
    passages: Sequence[LabelsOf],
    quantities: Sequence[Quantity],
    known: Set[str] | None,
    matcher: TermMatcher,
) -> Iterator[tuple[str, str]]:
    """Yield numbers with the label of another number of their sentence in the sources.

    `known`: terms of the sources with a translation, across languages; the label of the number needs one.
    """
    for claimed in in_claim:
        quantity = claimed.quantity
        same = [
            (text, place, there)
            for text, there in passages
            for place in there
            if quantity.same_as(place.quantity)
        ]
        if not measures(quantity) or not same:
            continue
        rivals = [
            _rival(claimed, text, place, there, quantities, known, matcher) for text, place, there in same
        ]
        if all(rivals) and rivals[0]:
            yield quantity.text, rivals[0].text


def _rival(
    claimed: LabelledQuantity,
    text: Text,
    place: LabelledQuantity,
    there: Sequence[LabelledQuantity],
    quantities: Sequence[Quantity],
    known: Set[str] | None,
    matcher: TermMatcher,
) -> Quantity | None:
    """Return the number of the sentence of a number that has the label of the latter."""
    mine = terms_of(own_label(text, place))
    for other in there:
        if (
            other.sentence != place.sentence
            or not measures(other.quantity)
            or not are_alternatives(other.quantity, place.quantity)
            or other.quantity.unit != place.quantity.unit
            or _of_one_change(text, place.quantity, other.quantity)
            or any(condition.same_as(each) for condition in claimed.conditions for each in place.conditions)
            or any(each.same_as(other.quantity) for each in quantities)
        ):
            continue
        theirs = terms_of(own_label(text, other))
        kept, taken = mine - theirs - other.words, theirs - mine - place.words
        if not kept or not taken:
            continue
        here = len(matcher.matched(claimed.tokens, kept))
        elsewhere = len(matcher.matched(claimed.tokens, taken))
        if known is not None and not (
            _telling(kept) <= known or (elsewhere > LEAST_ACROSS and _telling(kept) & known)
        ):
            continue
        if elsewhere > LEAST_TAKEN * here:
            return other.quantity
    return None


def _of_one_change(text: Text, first: Quantity, second: Quantity) -> bool:
    """Tell whether two numbers are of one list, or what was and what became: 228에서 1,400 ℃의 316까지."""
    begin, end = (first.end, second.start) if first.start < second.start else (second.end, first.start)
    if LISTED.fullmatch(text.text, begin, end):
        return True
    return end - begin <= LONGEST_CHANGE and bool(CHANGES.search(text.text, begin, end))


def _telling(words: Set[str]) -> set[str]:
    """Return the words of a label but for Korean syllables, which the analysis splits off."""
    return {word for word in words if word.isascii() or len(word) > 1}


def other_conditions(
    claim: Text,
    in_claim: Sequence[LabelledQuantity],
    passages: Sequence[LabelsOf],
) -> Iterator[tuple[str, str]]:
    """Yield numbers with a condition that the sources give to another number."""
    for claimed in in_claim:
        same = [
            (text, place)
            for text, places in passages
            for place in places
            if claimed.quantity.same_as(place.quantity)
        ]
        if not same or not measures(claimed.quantity):
            continue
        for condition in claimed.conditions:
            kind = _kind(condition, claim)
            kinds = [_kind(each, claim) for each in claimed.conditions]
            if (
                not kind
                or kinds.count(kind) > 1
                or not any(condition.same_as(other) for text, _ in passages for other in text.quantities)
            ):
                continue
            rivals = [_other_condition(condition, kind, claimed, text, place) for text, place in same]
            if all(rivals) and rivals[0]:
                yield condition.text, rivals[0].text
                break


def _kind(quantity: Quantity, text: Text) -> str:
    """Return what a number counts: its unit, else the syllable of the Korean counter behind it."""
    if not quantity.demanded or quantity.multiple:
        return ""
    if quantity.unit:
        return quantity.unit.dimension
    counter = COUNTER_SYLLABLE.match(text.text, quantity.end)
    return counter[0].strip() if counter else ""


def _other_condition(
    condition: Quantity, kind: str, claimed: LabelledQuantity, text: Text, place: LabelledQuantity
) -> Quantity | None:
    if any(condition.same_as(each) for each in place.conditions):
        return None
    others = [each for each in place.conditions if _kind(each, text) == kind and not condition.same_as(each)]
    if len(others) != 1 or any(each.same_as(others[0]) for each in claimed.conditions):
        return None
    return others[0]


def negated_labels(
    claim: Text,
    in_claim: Sequence[LabelledQuantity],
    passages: Sequence[LabelsOf],
    changed: Sequence[Quantity],
) -> Iterator[tuple[str, str]]:
    """Yield numbers of those with something told of those without it, where the sources have both.

    `changed`: numbers of a change, "from 29 % without lines to 18 %", stand beside what changed them.
    """
    for claimed in in_claim:
        if not _labels(claimed.quantity, claim) or claimed.quantity in changed:
            continue
        lacks = _lacks(claim, claimed)
        found = [
            _turned(lacks, text, place, there)
            for text, there in passages
            for place in there
            if claimed.quantity.same_as(place.quantity)
        ]
        if found and all(found) and found[0]:
            yield claimed.quantity.text, found[0].text


def _labels(quantity: Quantity, text: Text) -> bool:
    """Tell whether a number is that of a group: a measure, in English also a count."""
    return measures(quantity) or (
        not text.korean and quantity.unit is None and quantity.demanded and not quantity.multiple
    )


def _turned(
    lacks: bool, text: Text, place: LabelledQuantity, there: Sequence[LabelledQuantity]
) -> Quantity | None:
    if _lacks(text, place) == lacks:
        return None
    for other in there:
        if (
            other.sentence == place.sentence
            and _labels(other.quantity, text)
            and are_alternatives(other.quantity, place.quantity)
            and _lacks(text, other) == lacks
        ):
            return other.quantity
    return None


def _lacks(text: Text, place: LabelledQuantity) -> bool:
    if not place.tokens:
        return False
    tokens = own_label(text, place) or place.tokens
    start = min(tokens[0][2], place.quantity.start)
    return bool(
        LACKS.search(text.text, max(0, start - SHORTLY_BEFORE), max(tokens[-1][3], place.quantity.end))
    )
