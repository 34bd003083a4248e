"""Whether a change is told the wrong way round: "from 620 to 540" for "from 540 to 620"."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from generator.checking.clauses import Text
from generator.checking.numbers.belonging import alike
from generator.checking.numbers.quantities import Quantity

LONGEST_BETWEEN = 30  # characters from what was to what became
SHORTLY_BEFORE = 40  # characters, more than FROM takes
FROM = re.compile(r"\bfrom\b[^,;.\d]{0,30}$", re.IGNORECASE)
TO = re.compile(r" (?:[a-z]+ (?:\d{1,4} )?){0,3}to (?:[a-z]+ ){0,2}", re.IGNORECASE)
# From 41% in 1690 to 19%; 4학년 9.8%에서 6학년 14.6%로.
KOREAN_FROM = re.compile(r"[^\d.]{0,6}?에서(?:는)?,? (?:\d{1,4}[^\d\s.]{1,4} )?[^\d.]{0,16}")
KOREAN_TO = re.compile(r"[^\s\d]{0,6}?(?:으로|로|까지)")


def changes(source: Text) -> Iterator[tuple[Quantity, Quantity]]:
    """Yield what a text says a quantity was and what it became."""
    text, counted = source.text, source.quantities
    for first, second in _pairs(counted):
        between = text[first.end : second.start]
        before = text[max(0, first.start - SHORTLY_BEFORE) : first.start]
        english = TO.search(between) and FROM.search(before)
        korean = KOREAN_FROM.fullmatch(between) and KOREAN_TO.match(text, second.end)
        if (english and len(between) <= LONGEST_BETWEEN) or korean:
            yield first, second


def _pairs(counted: Sequence[Quantity]) -> Iterator[tuple[Quantity, Quantity]]:
    """Yield each two numbers in a row, also with one of another kind in between."""
    yield from pairwise(counted)
    for first, between, second in zip(counted, counted[1:], counted[2:], strict=False):
        if alike(first, second) and not alike(first, between):
            yield first, second


Change = tuple[Quantity, Quantity]


def reversed_changes(own: Sequence[Change], said: Sequence[Change]) -> Iterator[str]:
    """Yield the changes of a sentence that its sources tell the other way round, and none this way."""
    for before, after in own:
        ways = {
            (before.same_as(first) and after.same_as(second), before.same_as(second) and after.same_as(first))
            for first, second in said
        }
        if (False, True) in ways and not any(straight for straight, _ in ways):
            yield f"{before.text} → {after.text}"


def begun_at_end(
    own: Sequence[Quantity], changes: Sequence[Change], said: Sequence[Change], counted: Sequence[Quantity]
) -> Iterator[str]:
    """Yield numbers at the end of a change of a sentence that are its start in the sources.

    Args:
        own, changes: the numbers that a change of the sentence goes to, and its changes with both numbers.
        said: the changes of the sources.
        counted: their numbers; a number that is in them twice may be an end too.
    """
    both = {each for change in changes for each in change}
    for mine in own:
        begins = [first for first, second in said if mine.same_as(first) and not mine.same_as(second)]
        if begins and mine not in both and sum(mine.same_as(other) for other in counted) == len(begins):
            yield mine.text
