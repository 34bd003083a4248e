"""Signs: a change with exchanged start and end, of another amount, or in the other direction.

Claim "from 620 to 540" for the passage "from 540 to 620"; "fell by 9 %" for "fell to 9 %"; "boosted by 38 %"
for "reduced by 38 %". A number is the same in both languages, so that no other words need a translation.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from base.patterns import lazy_regex
from generator.checking.numbers.missing import RATIO_MARGIN, Difference, Multiples, is_difference
from generator.checking.statements.directions import Direction, agrees, standard_of
from generator.checking.text.clauses import Clause, Text, terms_of
from generator.checking.text.lexicon import AMOUNTS, MOST_PAIRS
from generator.checking.text.matching import TermMatcher
from generator.checking.text.numerals import TIMES
from generator.checking.text.quantities import Quantity, are_alternatives

FROM = lazy_regex(r"\bfrom\b[^,;.\d]{0,30}$", re.IGNORECASE)
TO = lazy_regex(r" (?:[a-z]+ (?:\d{1,4} )?){0,3}to (?:[a-z]+ ){0,2}", re.IGNORECASE)
# From 41% in 1690 to 19%; 4학년 9.8%에서 6학년 14.6%로.
KOREAN_FROM = lazy_regex(r"[^\d.]{0,6}?에서(?:는)?,? (?:\d{1,4}[^\d\s.]{1,4} )?[^\d.]{0,16}")
KOREAN_TO = lazy_regex(r"[^\s\d]{0,6}?(?:으로|로|까지)")
LONGEST_BETWEEN = 30  # characters between start and end
SHORTLY_BEFORE = 40  # characters, more than FROM takes
AXES = AMOUNTS | {"quality"}
_ADVERBS = (
    r"(?:about|around|approximately|roughly|nearly|almost|some|only|just|over|a further|an average of|up to)"
)
ENDS_IN_BY = lazy_regex(rf"^(?:[^,;.\d]{{0,60}}\sby)?\s(?:{_ADVERBS} )*$", re.IGNORECASE)
ENDS_IN_TO = lazy_regex(
    rf"^\s(?:[^,;.\d]{{0,60}}\s|[^;]{{0,60}}?\bfrom\b[^;]{{0,60}}\s)?to (?:{_ADVERBS} )*$", re.IGNORECASE
)
COMPARATIVE_AFTER = lazy_regex(
    r"^ (?:lower|higher|fewer|less|more|shorter|longer|reduction|increase|decrease|drop|fall|decline|rise)\b"
)
# A saving of 5 %, the increase was only 9 %.
NOUN_OF = lazy_regex(
    rf"\b(?:saving|reduction|increase|decrease|rise|fall|drop|gain|decline|growth)s? "
    rf"(?:was |were |of )(?:{_ADVERBS} )*$",
    re.IGNORECASE,
)
KOREAN_TO_PARTICLE = lazy_regex(r"\s?(?:수준|이하|미만|이상|가까이)?(?:으로|로|까지) (?:[가-힣]+ )?")
KOREAN_BY = lazy_regex(r"(?:만큼|가량|정도|가|이|나)?\s?(?:더 |덜 )?")
COUNTERS = lazy_regex(
    r"\s?(?:회|건|명|개|곳|번|편|대|마리|그루|호|쌍|종|척|권|채|가구|군데)(?=[로만으까가이 ])"
)
LONGEST_NOUN = 40  # characters
LONGEST_PHRASE = 140  # characters from the English verb to its number
SHORTLY_AFTER = 20  # characters
HALF = Decimal(50)  # "by half" equals "to half"
MORE_OR_LESS = lazy_regex(r"\s?(더|덜) ")
FARTHEST = 60  # characters between a number and the English word before it
ADJACENT = 8  # and a word after it: 48% lower, 48% 낮았다
FromTo = tuple[Quantity, Quantity]


def changes(text: Text) -> Iterator[FromTo]:
    """Yield the start and the end of each change in a text."""
    for first, second in _pairs(text.quantities):
        between = text.text[first.end : second.start]
        before = text.text[max(0, first.start - SHORTLY_BEFORE) : first.start]
        english = TO.search(between) and FROM.search(before)
        korean = KOREAN_FROM.fullmatch(between) and KOREAN_TO.match(text.text, second.end)
        if (english and len(between) <= LONGEST_BETWEEN) or korean:
            yield first, second


def _pairs(quantities: Sequence[Quantity]) -> Iterator[FromTo]:
    """Yield adjacent numbers, and numbers with one of another kind between them."""
    yield from pairwise(quantities)
    for first, between, second in zip(quantities, quantities[1:], quantities[2:], strict=False):
        if are_alternatives(first, second) and not are_alternatives(first, between):
            yield first, second


def reversed_changes(in_claim: Sequence[FromTo], in_passages: Sequence[FromTo]) -> Iterator[str]:
    """Yield the changes of a claim that the passages have only in the reverse order."""
    for before, after in in_claim:
        ways = {
            (before.same_as(first) and after.same_as(second), before.same_as(second) and after.same_as(first))
            for first, second in in_passages
        }
        if (False, True) in ways and not any(straight for straight, _ in ways):
            yield f"{before.text} → {after.text}"


def starts_as_ends(
    in_claim: Sequence[Quantity],
    changes: Sequence[FromTo],
    in_passages: Sequence[FromTo],
    quantities: Sequence[Quantity],
) -> Iterator[str]:
    """Yield numbers at the end of a change of a claim that are its start in the passages.

    Args:
        in_claim: the ends of changes of the claim.
        changes: its changes with both numbers.
        in_passages: the changes of the passages.
        quantities: their numbers; a number that occurs twice may be an end too.
    """
    both = {each for change in changes for each in change}
    for claimed in in_claim:
        starts = sum(claimed.same_as(first) and not claimed.same_as(second) for first, second in in_passages)
        occurrences = sum(claimed.same_as(other) for other in quantities)
        if starts and claimed not in both and occurrences == starts:
            yield claimed.text


@dataclass(frozen=True, slots=True)
class Extent:
    """The end of a change (`is_end`) or its amount."""

    quantity: Quantity
    is_end: bool


def extents(text: Text, directions: Sequence[Direction]) -> Iterator[Extent]:
    """Yield the amounts and ends of changes in a text: a verb of change with "by" or "to", 만큼 or 로."""
    by_clause = _by_clause(directions)
    for clause in text.clauses:
        here = by_clause[clause.start]
        quantities = text.quantities_in(clause.start, clause.end)
        for quantity in quantities if len(here) * len(quantities) <= MOST_PAIRS else ():
            counter = COUNTERS.match(text.text, quantity.end) if quantity.unit is None else None
            is_count = quantity.unit is None and quantity.is_whole and not counter
            if is_count or quantity.unit == TIMES or _is_half(quantity):
                continue
            is_end = (_is_end_in_korean if text.korean else _is_end_in_english)(text.text, quantity, here)
            if is_end is not None:
                yield Extent(quantity, is_end)


def _by_clause(directions: Sequence[Direction]) -> dict[int, list[Direction]]:
    """Return the directions of amount or quality by the start of their clause."""
    by_clause: dict[int, list[Direction]] = defaultdict(list)
    for direction in directions:
        if direction.polarity and direction.axis in AXES:
            by_clause[direction.clause.start].append(direction)
    return by_clause


def _is_half(quantity: Quantity) -> bool:
    return bool(quantity.unit and quantity.unit.dimension == "share" and quantity.value == HALF)


def _is_end_in_english(text: str, quantity: Quantity, directions: Sequence[Direction]) -> bool | None:
    """Return True for an end (to 5), False for an amount (by 5, 5 lower), None for neither."""
    if COMPARATIVE_AFTER.match(text[quantity.unit_end :][:SHORTLY_AFTER]):
        return False
    if NOUN_OF.search(text, max(0, quantity.start - LONGEST_NOUN), quantity.start):
        return False
    before = [each for each in directions if 0 <= quantity.start - each.end <= LONGEST_PHRASE]
    if not before:
        return None
    between = text[before[-1].end : quantity.start]
    return False if ENDS_IN_BY.match(between) else True if ENDS_IN_TO.match(between) else None


def _is_end_in_korean(text: str, quantity: Quantity, directions: Sequence[Direction]) -> bool | None:
    """Return True for an end (5로), False for an amount (5만큼, 5), None for neither."""
    end = quantity.unit_end
    if quantity.unit is None and (counter := COUNTERS.match(text, end)):
        end = counter.end()
    starts = {each.start for each in directions}
    if (to := KOREAN_TO_PARTICLE.match(text, end)) and not starts.isdisjoint(
        {to.end(), text.find(" ", end) + 1}
    ):
        return True
    by = KOREAN_BY.match(text, end)
    return False if by and by.end() in starts else None


def confused_extents(
    in_claim: Sequence[Extent],
    in_passages: Sequence[Extent],
    text: str,
    differences: Sequence[frozenset[Difference]],
    multiples: Multiples,
) -> Iterator[tuple[str, str]]:
    """Yield ends of changes that all passages have as amounts, and amounts that they have as ends.

    Two numbers of the passages may give both: `differences` and `multiples` of their sentences.
    """
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return
    for claimed in in_claim:
        same = [other for other in in_passages if claimed.quantity.same_as(other.quantity)]
        if not same or any(other.is_end == claimed.is_end for other in same):
            continue
        if claimed.is_end or not is_difference(claimed.quantity, text, differences):
            share = claimed.quantity.value / 100
            ratio = share if claimed.is_end else 1 - share
            near = any(abs(each - ratio) <= RATIO_MARGIN * ratio for each in multiples.ratios)
            if not (claimed.quantity.multiple and near):
                yield claimed.quantity.text, same[0].quantity.text


@dataclass(frozen=True, slots=True)
class DirectedQuantity:
    """A quantity with the word of direction that governs it."""

    quantity: Quantity
    direction: Direction


def directed_quantities(text: Text, directions: Sequence[Direction]) -> Iterator[DirectedQuantity]:
    """Yield the quantities of a text that a word of direction governs.

    The word follows the number closely (5 g lower, 5 g 낮았다), or in English precedes it (fell by 5 g).
    """
    by_clause = _by_clause(directions)
    for clause in text.clauses:
        here = by_clause[clause.start]
        for quantity in text.quantities_in(clause.start, clause.end):
            if not quantity.unit and quantity.is_whole:
                continue  # a count
            if found := _governing(quantity, here) or _more_or_less(text, clause, quantity):
                yield DirectedQuantity(quantity, found)


def _governing(quantity: Quantity, directions: Sequence[Direction]) -> Direction | None:
    """Return the direction of an amount that governs a number; one of quality may be between them."""
    for each in directions:
        if 0 <= each.start - quantity.end <= ADJACENT and each.axis in AMOUNTS:
            return each
    before = [
        each for each in directions if each.written.isascii() and 0 <= quantity.start - each.end <= FARTHEST
    ]
    return before[-1] if before and before[-1].axis in AMOUNTS else None


def _more_or_less(text: Text, clause: Clause, quantity: Quantity) -> Direction | None:
    """Read 더 and 덜 after a number, which the analysis drops: 9% 더 썼다."""
    match = MORE_OR_LESS.match(text.text, quantity.unit_end)
    if not match:
        return None
    polarity = 1 if match[1] == "더" else -1
    standard = standard_of(text, clause)
    return Direction("amount", polarity, match[1], (), clause, negated=False, hedged=False, standard=standard)


def contrary_directions(
    in_claim: Sequence[DirectedQuantity], in_passages: Sequence[DirectedQuantity], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield words of direction whose number has the other direction in all passages."""
    for claimed in in_claim:
        same = [other for other in in_passages if claimed.quantity.same_as(other.quantity)]
        if same and all(_turned(claimed.direction, other.direction, matcher) for other in same):
            yield claimed.direction.written, same[0].direction.written


def _turned(claimed: Direction, other: Direction, matcher: TermMatcher) -> bool:
    """Return True if two directions of a number are opposite; "A 5 g more than B" is "B 5 g less than A"."""
    if (claimed.polarity == other.polarity) == (claimed.negated == other.negated):
        return agrees(claimed, other, matcher) is False
    standard = (claimed.standard or frozenset()) | (other.standard or frozenset())
    if not standard:
        return True
    of_standard = tuple(token for token in claimed.clause.tokens if token[0] in (claimed.standard or ()))
    rest = tuple(token for token in claimed.clause.tokens if token not in of_standard)
    theirs = other.standard or frozenset()
    words = terms_of(other.clause.tokens)
    # Words of both sides decide nothing: "therapy" of "tailored therapy" and "standard therapy".
    ours = matcher.matched(of_standard, words - theirs) - matcher.matched(rest, words)
    return not (ours or matcher.matched(rest, theirs) - matcher.matched(of_standard, theirs))
