"""Numbers that have changed places, or that belong to a sentence about something else.

"0.71 with LiDAR and 0.38 with fusion" for "0.71 with fusion, 0.38 with LiDAR". Each number of a sentence has
the words up to the comma, "and" or verb that divides it from the next number of its unit.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from generator.checking.clauses import Bridge, Text, start_of_token, starting_in
from generator.checking.numbers.belonging import MOST_QUANTITIES, RESPECTIVELY, alike
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import AXIS_WORDS, FUNCTION_WORDS
from indexer.analysis.tokens import Token

DIVIDES = re.compile(
    r"[,;]\s|\b(?:and|(?:against|versus|compared (?:with|to))(?= \d)|while|whereas|but)\b"
    r"|(?<=[가-힣%])(?:과|와) |(?<=[고며]) ",
    re.IGNORECASE,
)
LEAST_OF_SENTENCE = 2  # words of a number with the sentence that it should be from
ATTRIBUTE = re.compile(r"[가-힣]{0,2}(?:긴|은|른|큰|한)(?=\s)")  # 긴 날개, 높은 나무
PERIODS = frozenset({"second", "month"})  # how long something took is said beside anything
MOST_LABELLED = 12  # numbers of a sentence


@dataclass(frozen=True, slots=True)
class Labelled:
    """A quantity with the words and the other quantities of its part of the sentence."""

    quantity: Quantity
    sentence: int
    tokens: tuple[Token, ...]
    words: frozenset[str]
    conditions: tuple[Quantity, ...]
    opens: bool  # the sentence


def labelled(text: Text) -> list[Labelled]:
    """Return the quantities of a text with their labels; none where a text has more than MOST_QUANTITIES."""
    if len(text.quantities) > MOST_QUANTITIES:
        return []
    found: list[Labelled] = []
    for number, (begin, end, _) in text.sentences.items():
        here = text.quantities_in(begin, end)
        if 0 < len(here) <= MOST_LABELLED and not RESPECTIVELY.search(text.text, begin, end):
            found += _of_sentence(text, number, begin, end, here)
    return found


def _of_sentence(
    text: Text, number: int, begin: int, end: int, here: Sequence[Quantity]
) -> Iterator[Labelled]:
    cuts = [match.start() for match in DIVIDES.finditer(text.text, begin, end)]
    edges = [begin, *sorted({*cuts, *(each.start for each in text.clauses if begin < each.start < end)}), end]
    tokens = [
        token for token in starting_in(text.tokens, start_of_token, begin, end) if _is_label(token, text)
    ]
    for quantity in here:
        # A part without a number of its kind labels the number behind it.
        rivals = [bisect_right(edges, other.start) for other in here if alike(other, quantity)]
        place = bisect_right(edges, quantity.start)
        start = edges[max([rival for rival in rivals if rival < place], default=0)]
        stop = edges[place]
        own = tuple(token for token in tokens if start <= token[2] < stop)
        if text.korean:  # Korean labels stand before their number, what is said of all behind the last one
            own = tuple(token for token in own if token[2] < quantity.start) or own
        conditions = tuple(
            other
            for other in here
            if other is not quantity and start <= other.start < stop and not alike(other, quantity)
        )
        yield Labelled(
            quantity, number, own, frozenset(token[0] for token in own), conditions, start == begin
        )


def _is_label(token: Token, text: Text) -> bool:
    return (
        (token[0] not in AXIS_WORDS or bool(ATTRIBUTE.match(text.text, token[2])))
        and token[0] not in FUNCTION_WORDS
        and not text.in_quantity(token)
    )


def exchanged_numbers(
    own: Sequence[Labelled], sources: Sequence[Sequence[Labelled]], bridge: Bridge
) -> Iterator[tuple[str, str]]:
    """Yield pairs of numbers whose labels are exchanged in every sentence of the sources with both."""
    for first, second in combinations(own, 2):
        if first.sentence != second.sentence or not alike(first.quantity, second.quantity):
            continue
        found = [
            _crossed(first, second, one, other, bridge)
            for places in sources
            for one in places
            if first.quantity.same_as(one.quantity)
            for other in places
            if one.sentence == other.sentence and second.quantity.same_as(other.quantity)
        ]
        if found and all(found):
            yield first.quantity.text, second.quantity.text


def lent_numbers(
    sentence: Text,
    own: Sequence[Labelled],
    sources: Sequence[tuple[Text, Sequence[Labelled]]],
    bridge: Bridge,
) -> Iterator[tuple[str, str]]:
    """Yield numbers that the sources have in sentences about something else, with that of the right one."""
    places = [(place, source.sentences[place.sentence][2]) for source, there in sources for place in there]
    for mine in own:
        unit = mine.quantity.unit
        if not mine.quantity.demanded or not unit or unit.dimension in PERIODS:
            continue
        same = [words for place, words in places if mine.quantity.same_as(place.quantity)]
        if not same or any(bridge.shared(sentence.tokens, words) for words in same):
            continue
        for place, words in places:
            rival = alike(mine.quantity, place.quantity)
            if rival and bridge.shared(mine.tokens, words) >= LEAST_OF_SENTENCE:
                yield mine.quantity.text, place.quantity.text
                break


def _crossed(first: Labelled, second: Labelled, one: Labelled, other: Labelled, bridge: Bridge) -> bool:
    """Return whether each of two numbers has a label of the other one and neither its own."""
    straight = _matches(first, second, one, other, bridge)
    if first.opens and one.opens:
        straight = 0  # what opens both sentences may be of both numbers
    return (
        not straight
        and not _matches(second, first, other, one, bridge)
        and bool(_matches(first, second, other, one, bridge))
        and bool(_matches(second, first, one, other, bridge))
    )


def _matches(own: Labelled, beside: Labelled, said: Labelled, but: Labelled, bridge: Bridge) -> int:
    """Count the labels that belong to one number alone, both in the sentence and in the source."""
    words = tuple(token for token in own.tokens if token[0] not in beside.words)
    conditions = [each for each in own.conditions if not _has(beside, each)]
    return bridge.shared(words, said.words - but.words) + sum(
        _has(said, each) and not _has(but, each) for each in conditions
    )


def _has(place: Labelled, condition: Quantity) -> bool:
    return any(condition.same_as(other) for other in place.conditions)
