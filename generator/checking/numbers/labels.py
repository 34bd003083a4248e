"""Labels of numbers: the group or the condition of a number, compared with those in the sources.

"94% of the cobalt" for "91% of the cobalt and 94% of the lithium"; "11.8% of non-users" for "11.8% of users";
"10% at -30 ℃" for "10% at -50 ℃".
"""

import re
from collections.abc import Iterator, Sequence, Set

from generator.checking.clauses import Bridge, Text, terms_of
from generator.checking.numbers.belonging import alike
from generator.checking.numbers.exchanged import PERIODS, Labelled
from generator.checking.numbers.multiples import COUNTER
from generator.checking.numbers.quantities import LISTED, Quantity
from indexer.analysis.tokens import Token

# A group that is named by what it lacks.
LACKS = re.compile(
    r"\bnon-?[a-z]{4,}|\bun(?!expect)[a-z]{4,}ed\b|\bwithout\b|\b(?:who|that|which) (?:\w+ )?not\b"
    r"|않은|않는|없이|없는|없던|안 |미[가-힣]{2,3}[군자]|비[가-힣]{2}[군자]|무[가-힣]{2}[군구]",
    re.IGNORECASE,
)
TOPIC = re.compile(r"[가-힣)][은는] ")  # what is measured, before what it is measured of
MEASURE = 2  # words that name what is measured
CHANGES = re.compile(r"에서|\bto\b")
LONGEST_CHANGE = 40  # characters
NEAREST = 4  # words beside the first number of a sentence
LEAST_ACROSS = 2  # words of another number, where not all of its own have a translation
LEAST_TAKEN = 1


def own_label(text: Text, place: Labelled) -> tuple[Token, ...]:
    """Return the words of a number alone: those before the first one of a sentence may be of all."""
    if not place.opens:
        return place.tokens
    before = [token for token in place.tokens if token[2] < place.quantity.start]
    behind = [token for token in place.tokens if token[2] >= place.quantity.start]
    if not text.korean:
        return tuple(behind[:NEAREST] or before[-NEAREST:])
    if not before:
        return ()
    topics = list(TOPIC.finditer(text.text, before[0][2], place.quantity.start))
    begin = topics[-1].end() if topics else 0
    after = [token for token in before if token[2] >= begin]
    if topics and not after:  # X의 수량은 5 t: what is measured stands between the label and the number
        return tuple(before[-2 * NEAREST : -MEASURE])
    return tuple((after or before)[-NEAREST:])


def of_other_labels(
    own: Sequence[Labelled],
    sources: Sequence[tuple[Text, Sequence[Labelled]]],
    counted: Sequence[Quantity],
    known: Set[str] | None,
    bridge: Bridge,
) -> Iterator[tuple[str, str]]:
    """Yield numbers with the label of another number of their sentence in the sources.

    `known`: terms of the sources with a translation, across languages; the label of the number needs one.
    """
    for mine in own:
        quantity = mine.quantity
        same = [
            (text, place, there)
            for text, there in sources
            for place in there
            if quantity.same_as(place.quantity)
        ]
        if not measures(quantity) or not same:
            continue
        rivals = [_rival(mine, text, place, there, counted, known, bridge) for text, place, there in same]
        if all(rivals) and rivals[0]:
            yield quantity.text, rivals[0].text


def _rival(
    own: Labelled,
    text: Text,
    place: Labelled,
    there: Sequence[Labelled],
    counted: Sequence[Quantity],
    known: Set[str] | None,
    bridge: Bridge,
) -> Quantity | None:
    """Return the number of the sentence of a number that has the label of the latter."""
    mine = terms_of(own_label(text, place))
    for other in there:
        if (
            other.sentence != place.sentence
            or not measures(other.quantity)
            or not alike(other.quantity, place.quantity)
            or other.quantity.unit != place.quantity.unit
            or _of_one_change(text, place.quantity, other.quantity)
            or any(condition.same_as(each) for condition in own.conditions for each in place.conditions)
            or any(each.same_as(other.quantity) for each in counted)
        ):
            continue
        theirs = terms_of(own_label(text, other))
        kept, taken = mine - theirs - other.words, theirs - mine - place.words
        if not kept or not taken:
            continue
        here = len(bridge.matched(own.tokens, kept))
        elsewhere = len(bridge.matched(own.tokens, taken))
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


def measures(quantity: Quantity) -> bool:
    """Tell whether a number measures something: no count, no share in words, no time that something took."""
    if not quantity.demanded or quantity.multiple:
        return False
    if quantity.unit:
        return quantity.unit.dimension not in PERIODS
    return quantity.value != quantity.value.to_integral_value()


def of_other_conditions(
    own_text: Text,
    own: Sequence[Labelled],
    sources: Sequence[tuple[Text, Sequence[Labelled]]],
) -> Iterator[tuple[str, str]]:
    """Yield numbers with a condition that the sources give to another number."""
    for mine in own:
        same = [
            (text, place)
            for text, places in sources
            for place in places
            if mine.quantity.same_as(place.quantity)
        ]
        if not same or not measures(mine.quantity):
            continue
        for condition in mine.conditions:
            kind = _kind(condition, own_text)
            kinds = [_kind(each, own_text) for each in mine.conditions]
            if (
                not kind
                or kinds.count(kind) > 1
                or not any(condition.same_as(other) for text, _ in sources for other in text.quantities)
            ):
                continue
            rivals = [_other_condition(condition, kind, mine, text, place) for text, place in same]
            if all(rivals) and rivals[0]:
                yield condition.text, rivals[0].text
                break


def _kind(quantity: Quantity, text: Text) -> str:
    """Return what a number counts: its unit, else the syllable of the Korean counter behind it."""
    if not quantity.demanded or quantity.multiple:
        return ""
    if quantity.unit:
        return quantity.unit.dimension
    counter = COUNTER.match(text.text, quantity.end)
    return counter[0].strip() if counter else ""


def _other_condition(
    condition: Quantity, kind: str, own: Labelled, text: Text, place: Labelled
) -> Quantity | None:
    if any(condition.same_as(each) for each in place.conditions):
        return None
    others = [each for each in place.conditions if _kind(each, text) == kind and not condition.same_as(each)]
    if len(others) != 1 or any(each.same_as(others[0]) for each in own.conditions):
        return None
    return others[0]


def turned_labels(
    own_text: Text,
    own: Sequence[Labelled],
    sources: Sequence[tuple[Text, Sequence[Labelled]]],
    changed: Sequence[Quantity],
) -> Iterator[tuple[str, str]]:
    """Yield numbers of those with something told of those without it, where the sources have both.

    `changed`: numbers of a change, "from 29 % without lines to 18 %", stand beside what changed them.
    """
    for mine in own:
        if not _labels(mine.quantity, own_text) or mine.quantity in changed:
            continue
        lacks = _lacks(own_text, mine)
        found = [
            _turned(lacks, text, place, there)
            for text, there in sources
            for place in there
            if mine.quantity.same_as(place.quantity)
        ]
        if found and all(found) and found[0]:
            yield mine.quantity.text, found[0].text


def _labels(quantity: Quantity, text: Text) -> bool:
    """Tell whether a number is that of a group: a measure, in English also a count."""
    return measures(quantity) or (
        not text.korean and quantity.unit is None and quantity.demanded and not quantity.multiple
    )


def _turned(lacks: bool, text: Text, place: Labelled, there: Sequence[Labelled]) -> Quantity | None:
    if _lacks(text, place) == lacks:
        return None
    for other in there:
        if (
            other.sentence == place.sentence
            and _labels(other.quantity, text)
            and alike(other.quantity, place.quantity)
            and _lacks(text, other) == lacks
        ):
            return other.quantity
    return None


def _lacks(text: Text, place: Labelled) -> bool:
    if not place.tokens:
        return False
    tokens = own_label(text, place) or place.tokens
    start = min(tokens[0][2], place.quantity.start)
    return bool(
        LACKS.search(text.text, max(0, start - SHORTLY_BEFORE), max(tokens[-1][3], place.quantity.end))
    )


SHORTLY_BEFORE = 5  # characters: "non-"
