"""Counts of things: "41,000 registers" for "41,000 persons across 27 registers"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.clauses import Bridge, Text, start_of_token, starting_in, terms_of
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import AXIS_WORDS, FUNCTION_WORDS, MOST_PAIRS
from indexer.analysis.tokens import Token

ENDS = re.compile(
    r"[,;.:()\d]|\b(?:of|in|for|with|among|at|on|from|to|by|across|and|or|that|who|which|were|was|are|is|had|have|using)\b"
)
FAR = 40  # characters
NOUNS = 2  # words before a Korean count
YEARS = range(1000, 2101)
COUNTERS = frozenset("명 건 개 곳 편 회 쌍 대 장 종 호 마리 그루 인".split())


@dataclass(frozen=True, slots=True)
class Count:
    """A count with the words for what it counts."""

    quantity: Quantity
    words: tuple[Token, ...]


def counts(text: Text) -> Iterator[Count]:
    """Yield the counts of a text: English ones before their noun, Korean ones behind it."""
    for quantity in text.quantities:
        whole = quantity.value == quantity.value.to_integral_value()
        if quantity.unit or not whole or not quantity.demanded or int(quantity.value) in YEARS:
            continue
        if text.korean:
            span = max(0, quantity.start - FAR), quantity.start
        else:
            stop = ENDS.search(text.text, quantity.end, quantity.end + FAR)
            span = quantity.end, stop.start() if stop else quantity.end + FAR
        words = [
            token
            for token in starting_in(text.tokens, start_of_token, *span)
            if token[0] not in FUNCTION_WORDS and token[0] not in AXIS_WORDS and token[0] not in COUNTERS
        ]
        if found := tuple(words[-NOUNS:] if text.korean else words):
            yield Count(quantity, found)


def exchanged_counts(
    own: Sequence[Count], said: Sequence[Count], bridge: Bridge
) -> Iterator[tuple[str, str]]:
    """Yield counts of what the sources give another count, where they give this one to something else."""
    if len(own) * len(said) > MOST_PAIRS:
        return
    for mine in own:
        same = [other for other in said if mine.quantity.same_as(other.quantity)]
        if not same or any(bridge.shared(mine.words, terms_of(other.words)) for other in same):
            continue
        for other in said:
            if not mine.quantity.same_as(other.quantity) and bridge.shared(mine.words, terms_of(other.words)):
                yield mine.quantity.text, other.quantity.text
                break
