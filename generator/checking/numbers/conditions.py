"""Signs: a number with the group or the condition of another number.

Claim "94% of the cobalt" for the passage "91% of the cobalt and 94% of the lithium"; "11.8% of non-users" for
"11.8% of users"; "10% at -30 ℃" for "10% at -50 ℃".
"""

import re
from collections.abc import Iterator, Sequence, Set

from base.patterns import lazy_regex
from generator.checking.numbers.labels import LabelledQuantity, Labels, measures, with_number
from generator.checking.text.clauses import Text
from generator.checking.text.matching import TermMatcher
from generator.checking.text.quantities import COUNTER_SYLLABLE, LISTED, Quantity, are_alternatives

# Groups without a property: non-users, 미사용군.
LACKS = lazy_regex(
    r"\bnon-?[a-z]{4,}|\bun(?!expect)[a-z]{4,}ed\b|\bwithout\b|\b(?:who|that|which) (?:\w+ )?not\b"
    r"|않은|않는|없이|없는|없던|안 |미[가-힣]{2,3}[군자]|비[가-힣]{2}[군자]|무[가-힣]{2}[군구]",
    re.IGNORECASE,
)
CHANGES = lazy_regex(r"에서|\bto\b")
LONGEST_CHANGE = 40  # characters
LEAST_ACROSS = 2  # words of the other label, if some words of the right one have no translation
LEAST_TAKEN = 1
SHORTLY_BEFORE = 5  # characters: "non-"


def other_labels(
    in_claim: Labels,
    passages: Sequence[Labels],
    quantities: Sequence[Quantity],
    known: Set[str] | None,
    matcher: TermMatcher,
) -> Iterator[tuple[str, str]]:
    """Yield numbers with the label of another number of the same sentence of a passage.

    `known`: across languages, the terms of the passages with a translation; a label needs one.
    """
    for claimed in in_claim:
        same = with_number(claimed.quantity, passages)
        if not measures(claimed.quantity) or not same:
            continue
        rivals = [_rival(claimed, stated, around, quantities, known, matcher) for stated, around in same]
        if all(rivals) and rivals[0]:
            yield claimed.quantity.text, rivals[0].text


def _rival(
    claimed: LabelledQuantity,
    stated: LabelledQuantity,
    around: Labels,
    quantities: Sequence[Quantity],
    known: Set[str] | None,
    matcher: TermMatcher,
) -> Quantity | None:
    """Return the number of the same sentence whose label the claim has."""
    for other in around:
        if (
            not measures(other.quantity)
            or not are_alternatives(other.quantity, stated.quantity)
            or other.quantity.unit != stated.quantity.unit
            or _of_one_change(stated.text, stated.quantity, other.quantity)
            or any(mine.same_as(each) for mine in claimed.conditions for each in stated.conditions)
            or any(each.same_as(other.quantity) for each in quantities)
        ):
            continue
        right, wrong = stated.own_terms, other.own_terms
        kept, taken = right - wrong - other.words, wrong - right - stated.words
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
    """Return True if two numbers are a list, or start and end of a change: 228에서 1,400 ℃의 316까지."""
    begin, end = (first.end, second.start) if first.start < second.start else (second.end, first.start)
    if LISTED.fullmatch(text.text, begin, end):
        return True
    return end - begin <= LONGEST_CHANGE and bool(CHANGES.search(text.text, begin, end))


def _telling(words: Set[str]) -> set[str]:
    """Return the words of a label without single Korean syllables, which the analysis splits off."""
    return {word for word in words if word.isascii() or len(word) > 1}


def other_conditions(
    in_claim: Labels, passages: Sequence[Labels], quantities: Sequence[Quantity]
) -> Iterator[tuple[str, str]]:
    """Yield numbers with a condition that the passages give for another number.

    `quantities`: of the passages; the condition must be one of them.
    """
    for claimed in in_claim:
        same = with_number(claimed.quantity, passages)
        if not same or not measures(claimed.quantity):
            continue
        for condition in claimed.conditions:
            kind = _kind(condition, claimed.text)
            kinds = [_kind(each, claimed.text) for each in claimed.conditions]
            if not kind or kinds.count(kind) > 1 or not any(condition.same_as(other) for other in quantities):
                continue
            rivals = [_other_condition(condition, kind, claimed, stated) for stated, _ in same]
            if all(rivals) and rivals[0]:
                yield condition.text, rivals[0].text
                break


def _kind(quantity: Quantity, text: Text) -> str:
    """Return the dimension of a number's unit, or the syllable of the Korean counter after it."""
    if not quantity.required or quantity.multiple:
        return ""
    if quantity.unit:
        return quantity.unit.dimension
    counter = COUNTER_SYLLABLE.match(text.text, quantity.end)
    return counter[0].strip() if counter else ""


def _other_condition(
    condition: Quantity, kind: str, claimed: LabelledQuantity, stated: LabelledQuantity
) -> Quantity | None:
    """Return the condition of this kind that the passages give for a number in place of the claimed one."""
    if any(condition.same_as(each) for each in stated.conditions):
        return None
    others = [
        each for each in stated.conditions if _kind(each, stated.text) == kind and not condition.same_as(each)
    ]
    if len(others) != 1 or any(each.same_as(others[0]) for each in claimed.conditions):
        return None
    return others[0]


def negated_labels(
    in_claim: Labels, passages: Sequence[Labels], changed: Sequence[Quantity]
) -> Iterator[tuple[str, str]]:
    """Yield numbers of a group for the group without its property, or the reverse.

    `changed`: numbers of a change are left out, since both groups are beside them: "from 29 % without lines
    to 18 %".
    """
    for claimed in in_claim:
        if not _may_be_of_group(claimed) or claimed.quantity in changed:
            continue
        lacks = _lacks(claimed)
        found = [_turned(lacks, stated, around) for stated, around in with_number(claimed.quantity, passages)]
        if found and all(found) and found[0]:
            yield claimed.quantity.text, found[0].text


def _may_be_of_group(label: LabelledQuantity) -> bool:
    """Return True if a number may be the number of a group: a measured value, in English also a count."""
    quantity = label.quantity
    return measures(quantity) or (
        not label.text.korean and quantity.unit is None and quantity.required and not quantity.multiple
    )


def _turned(lacks: bool, stated: LabelledQuantity, around: Labels) -> Quantity | None:
    """Return the number of the claimed group in a sentence where the claim's number is of the other one."""
    if _lacks(stated) == lacks:
        return None
    for other in around:
        is_rival = _may_be_of_group(other) and are_alternatives(other.quantity, stated.quantity)
        if is_rival and _lacks(other) == lacks:
            return other.quantity
    return None


def _lacks(label: LabelledQuantity) -> bool:
    """Return True if the label is a group without a property."""
    if not label.tokens:
        return False
    tokens = label.own_tokens or label.tokens
    start = max(0, min(tokens[0][2], label.quantity.start) - SHORTLY_BEFORE)
    return bool(LACKS.search(label.text.text, start, max(tokens[-1][3], label.quantity.end)))
