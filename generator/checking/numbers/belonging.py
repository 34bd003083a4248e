"""Whether a number stands beside the words that it belongs to, or beside those of another number.

"a hazard ratio of 0.60" for "hazard ratio 0.71, 95% CI 0.60–0.84"; "2.8 at -30 ℃" for "2.8 at -50 ℃, 0.9 at
-30 ℃". Each number of a source is taken with the words between the commas, brackets and connectives
around it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise

from generator.checking.clauses import Bridge, Text, start_of_token, starting_in
from generator.checking.numbers.quantities import LISTED, Quantity
from indexer.analysis.tokens import Token

EDGE = re.compile(
    r"[,;()]\s?|\b(?:and|against|versus|compared (?:with|to)|than)\b|보다(?![가-힣])|(?<=[가-힣])(?:과|와) ",
    re.IGNORECASE,
)
LINK = re.compile(r"[^\d,;.]{0,12}(?:에서|에서는|\bto\b)[^\d,;.]{0,12}")
LINK_WITH_CONDITION = re.compile(r"[^;.]{0,12}(?:에서|\bto\b)[^;]{0,30}")  # 228에서 1,400 ℃의 316까지
RESPECTIVELY = re.compile(r"\brespectively\b|각각|순으로|차례로", re.IGNORECASE)
LEAST_OF_ANOTHER = 2
MOST_QUANTITIES = 60  # of a text; in a longer table nothing stands beside its words


@dataclass(frozen=True, slots=True)
class Placed:
    """A quantity with the words and the other quantities of its place."""

    quantity: Quantity
    sentence: int
    tokens: tuple[Token, ...]
    words: frozenset[str]
    beside: tuple[Quantity, ...]
    partners: frozenset[Quantity]  # of a range, a list or a change


def placed(text: Text) -> list[Placed]:
    """Return the quantities of a text each with its place.

    None where they are listed by "respectively", or are more than MOST_QUANTITIES.
    """
    counted = text.quantities
    if len(counted) > MOST_QUANTITIES or RESPECTIVELY.search(text.text):
        return []
    found = []
    partners: dict[int, set[Quantity]] = defaultdict(set)  # by where their partner starts
    for first, second in pairwise(counted):
        if _linked(text.text[first.end : second.start]):
            partners[first.start].add(second)
            partners[second.start].add(first)
    for first, _, second in zip(counted, counted[1:], counted[2:], strict=False):
        if alike(first, second) and LINK_WITH_CONDITION.fullmatch(text.text[first.end : second.start]):
            partners[first.start].add(second)
            partners[second.start].add(first)
    edges = [match.start() for match in EDGE.finditer(text.text)]
    for clause in text.clauses:
        inner = [clause.start, *starting_in(edges, int, clause.start + 1, clause.end), clause.end]
        for start, end in pairwise(inner):
            if here := text.quantities_in(start, end):
                tokens = tuple(
                    token
                    for token in starting_in(clause.tokens, start_of_token, start, end)
                    if not text.in_quantity(token)
                )
                words = frozenset(token[0] for token in tokens)
                for quantity in here:
                    beside = tuple(other for other in here if other is not quantity)
                    linked = frozenset(partners[quantity.start])
                    found.append(Placed(quantity, clause.sentence, tokens, words, beside, linked))
    return found


def _linked(between: str) -> bool:
    """Tell whether what stands between two numbers makes them one range, list or change."""
    return bool(LISTED.fullmatch(between) or LINK.fullmatch(between))


def of_another(
    own: Sequence[Placed],
    sources: Sequence[Sequence[Placed]],
    counted: Sequence[Quantity],
    bridge: Bridge,
    *,
    across: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield numbers of a sentence that the sources give to something else, with the number that stands there.

    Args:
        own, sources: the places of the quantities of the sentence, and of each source.
        counted: the quantities of the sentence.
        bridge: of the sentence.
        across: the glossary gives too few words of a place, so that only conditions are compared.
    """
    of_sources = [
        (place, [other for other in places if other.sentence == place.sentence])
        for places in sources
        for place in places
    ]
    # The numbers of the sources that the sentence has too.
    named = {
        place.quantity for place, _ in of_sources if any(mine.same_as(place.quantity) for mine in counted)
    }
    for mine in own:
        same = [(place, around) for place, around in of_sources if mine.quantity.same_as(place.quantity)]
        if not same or not mine.quantity.demanded:
            continue
        words_of_another = None if across else cache(partial(_words_of_another, mine, bridge))
        first = None
        for place, around in same:
            competing = _competing_number(place, around, named, words_of_another)
            if not competing:
                break
            first = first or competing
        else:
            if first:
                yield mine.quantity.text, first.text


def _competing_number(
    place: Placed,
    around: Sequence[Placed],
    named: Set[Quantity],
    words_of_another: Callable[[frozenset[str], frozenset[str], bool], bool] | None,
) -> Quantity | None:
    """Return the number of a source that stands where a sentence has put another one."""
    for other in around:
        if (
            not other.quantity.demanded
            or other.quantity in named
            or other.quantity in place.partners
            or not alike(other.quantity, place.quantity)
        ):
            continue
        later = other.quantity.start > place.quantity.start
        if words_of_another and words_of_another(place.words, other.words, later):
            return other.quantity
        if _of_another_condition(place, other, named):
            return other.quantity
    return None


def _words_of_another(
    own: Placed, bridge: Bridge, here: frozenset[str], there: frozenset[str], later: bool
) -> bool:
    """Tell whether the words of the sentence's number stand with the other number alone.

    Words that open a sentence may be of all its numbers; those of a `later` number are its own.
    """
    only_here, only_there = here - there, there - here
    if not only_here:
        return False
    nearest = _nearest(own)
    if bridge.shared(own.tokens, only_here):
        # One actor does several things, each with a number: what stands next to the number decides.
        before = nearest[:2]
        return (
            later
            and bridge.shared(before, only_there) >= LEAST_OF_ANOTHER
            and not bridge.shared(before, only_here)
        )
    taken = bridge.shared(own.tokens, only_there)
    return taken >= LEAST_OF_ANOTHER and bool(bridge.shared(nearest, only_there))


def _nearest(own: Placed) -> tuple[Token, ...]:
    """Return the two words before a number and the one behind it."""
    before = [token for token in own.tokens if token[3] <= own.quantity.start]
    behind = [token for token in own.tokens if token[2] >= own.quantity.end]
    return (*before[-2:], *behind[:1])


def _of_another_condition(place: Placed, other: Placed, named: Set[Quantity]) -> bool:
    """Tell whether the sentence names the condition of the other number and not that of its own."""
    theirs = [quantity for quantity in other.beside if quantity in named]
    return any(
        alike(mine, condition)
        for mine in place.beside
        if mine.unit and mine not in named and mine != other.quantity
        for condition in theirs
        if condition != place.quantity
    )


def alike(first: Quantity, second: Quantity) -> bool:
    """Tell whether two numbers differ and count the same."""
    if first.same_as(second):
        return False
    if first.unit and second.unit:
        return first.unit.dimension == second.unit.dimension
    if first.unit or second.unit:
        return False
    return _is_whole(first) == _is_whole(second)  # a count is no measure


def _is_whole(quantity: Quantity) -> bool:
    return quantity.value == quantity.value.to_integral_value()
