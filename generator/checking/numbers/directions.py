"""Directions of numbers: a change by a number goes the way that the sources give for this number.

"Boosted by 38 %" for "reduced by 38 %", 0.3초 늘렸다 for "shortened by 0.3 s". A number is the same in both
languages, so that nothing else needs to be translated.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.clauses import Bridge, Clause, Text, terms_of
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import Direction, agrees, standard_of

# More in one of these ways is more in each.
AMOUNTS = frozenset({"amount", "length", "width", "depth", "heat"})
MORE_OR_LESS = re.compile(r"\s?(더|덜) ")
FARTHEST = 60  # characters between a number and the English word before it
ADJACENT = 8  # and one behind it: 48% lower, 48% 낮았다


@dataclass(frozen=True, slots=True)
class Change:
    """A quantity and the word of direction that governs it."""

    quantity: Quantity
    direction: Direction


def directed(text: Text, said: Sequence[Direction]) -> Iterator[Change]:
    """Yield the quantities of a text that a word of direction governs.

    That is a word close behind (5 g lower, 5 g 낮았다), in English else the one before (fell by 5 g).
    """
    by_clause: dict[int, list[Direction]] = {}
    for direction in said:
        if direction.sign and direction.axis in {*AMOUNTS, "quality"}:
            by_clause.setdefault(direction.clause.start, []).append(direction)
    for clause in text.clauses:
        here = by_clause.get(clause.start, [])
        for quantity in text.quantities_in(clause.start, clause.end):
            if not quantity.unit and quantity.value == quantity.value.to_integral_value():
                continue  # a count
            if found := _governing(quantity, here) or _more_or_less(text, clause, quantity):
                yield Change(quantity, found)


def _governing(quantity: Quantity, said: Sequence[Direction]) -> Direction | None:
    """Return the direction of an amount that governs a number; one of quality may stand between the two."""
    for each in said:
        if 0 <= each.start - quantity.end <= ADJACENT and each.axis in AMOUNTS:
            return each
    before = [each for each in said if each.written.isascii() and 0 <= quantity.start - each.end <= FARTHEST]
    return before[-1] if before and before[-1].axis in AMOUNTS else None


def _more_or_less(text: Text, clause: Clause, quantity: Quantity) -> Direction | None:
    """Read 더 and 덜 behind a number, which the analysis drops: 9% 더 썼다."""
    match = MORE_OR_LESS.match(text.text, quantity.start + len(quantity.text))
    if not match:
        return None
    sign = 1 if match[1] == "더" else -1
    standard = standard_of(text, clause)
    return Direction("amount", sign, match[1], (), clause, denied=False, hardly=False, standard=standard)


def turned_changes(
    own: Sequence[Change], sources: Sequence[Sequence[Change]], bridge: Bridge
) -> Iterator[tuple[str, str]]:
    """Yield words of direction whose number has the other direction everywhere in the sources."""
    said = [change for changes in sources for change in changes]
    for mine in own:
        same = [other for other in said if mine.quantity.same_as(other.quantity)]
        if same and all(_turned(mine.direction, other.direction, bridge) for other in same):
            yield mine.direction.written, same[0].direction.written


def _turned(own: Direction, other: Direction, bridge: Bridge) -> bool:
    """Return whether two words turn a number round; "A 5 g more than B" is "B 5 g less than A"."""
    if (own.sign == other.sign) == (own.denied == other.denied):
        return agrees(own, other, bridge) is False
    standard = (own.standard or frozenset()) | (other.standard or frozenset())
    if not standard:
        return True
    of_standard = tuple(token for token in own.clause.tokens if token[0] in (own.standard or ()))
    rest = tuple(token for token in own.clause.tokens if token not in of_standard)
    theirs = other.standard or frozenset()
    words = terms_of(other.clause.tokens)
    # Words of both sides, as of "tailored therapy" and "standard therapy", tell nothing.
    ours = bridge.matched(of_standard, words - theirs) - bridge.matched(rest, words)
    return not (ours or bridge.matched(rest, theirs) - bridge.matched(of_standard, theirs))
