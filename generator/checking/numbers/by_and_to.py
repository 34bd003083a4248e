"""Changes by a number and changes to it: "fell by 9 %" for "fell to 9 %", 9% 줄었다 for 9%로 줄었다."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from generator.checking.clauses import Text
from generator.checking.numbers.directions import AMOUNTS
from generator.checking.numbers.multiples import RATIO_MARGIN, Difference, Multiples, is_difference
from generator.checking.numbers.numerals import TIMES
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import MOST_PAIRS, Direction

AXES = AMOUNTS | {"quality"}
_ADVERBS = (
    r"(?:about|around|approximately|roughly|nearly|almost|some|only|just|over|a further|an average of|up to)"
)
ENDS_IN_BY = re.compile(rf"^(?:[^,;.\d]{{0,60}}\sby)?\s(?:{_ADVERBS} )*$", re.IGNORECASE)
ENDS_IN_TO = re.compile(
    rf"^\s(?:[^,;.\d]{{0,60}}\s|[^;]{{0,60}}?\bfrom\b[^;]{{0,60}}\s)?to (?:{_ADVERBS} )*$", re.IGNORECASE
)
LESS_BEHIND = re.compile(
    r"^ (?:lower|higher|fewer|less|more|shorter|longer|reduction|increase|decrease|drop|fall|decline|rise)\b"
)
# A saving of 5 %, the increase was only 9 %.
NOUN_OF = re.compile(
    rf"\b(?:saving|reduction|increase|decrease|rise|fall|drop|gain|decline|growth)s? "
    rf"(?:was |were |of )(?:{_ADVERBS} )*$",
    re.IGNORECASE,
)
LONGEST_NOUN = 40  # characters
LONGEST_BETWEEN = 140  # characters from the English verb to its number
KOREAN_TO = re.compile(r"\s?(?:수준|이하|미만|이상|가까이)?(?:으로|로|까지) (?:[가-힣]+ )?")
KOREAN_BY = re.compile(r"(?:만큼|가량|정도|가|이|나)?\s?(?:더 |덜 )?")
COUNTERS = re.compile(
    r"\s?(?:회|건|명|개|곳|번|편|대|마리|그루|호|쌍|종|척|권|채|가구|군데)(?=[로만으까가이 ])"
)
HALF = Decimal(50)  # by half is to half


@dataclass(frozen=True, slots=True)
class Extent:
    """A number that ends a change (`to`) or measures it."""

    quantity: Quantity
    to: bool


def extents(text: Text, said: Sequence[Direction]) -> Iterator[Extent]:
    """Yield the numbers of a text that a verb of change has with "by" or "to", 만큼 or 로."""
    by_clause: dict[int, list[Direction]] = {}
    for direction in said:
        if direction.sign and direction.axis in AXES:
            by_clause.setdefault(direction.clause.start, []).append(direction)
    for clause in text.clauses:
        here = by_clause.get(clause.start, [])
        counted = text.quantities_in(clause.start, clause.end)
        for quantity in counted if len(here) * len(counted) <= MOST_PAIRS else ():
            counter = COUNTERS.match(text.text, quantity.end) if quantity.unit is None else None
            measure = quantity.value != quantity.value.to_integral_value()
            if (
                (quantity.unit is None and not counter and not measure)
                or quantity.unit == TIMES
                or _is_half(quantity)
            ):
                continue
            to = _korean(text.text, quantity, here) if text.korean else _english(text.text, quantity, here)
            if to is not None:
                yield Extent(quantity, to)


def _is_half(quantity: Quantity) -> bool:
    return bool(quantity.unit and quantity.unit.dimension == "share" and quantity.value == HALF)


def _english(text: str, quantity: Quantity, said: Sequence[Direction]) -> bool | None:
    if LESS_BEHIND.match(text[quantity.start + len(quantity.text) :][:SHORTLY_BEHIND]):
        return False
    if NOUN_OF.search(text, max(0, quantity.start - LONGEST_NOUN), quantity.start):
        return False
    before = [each for each in said if 0 <= quantity.start - each.end <= LONGEST_BETWEEN]
    if not before:
        return None
    between = text[before[-1].end : quantity.start]
    return False if ENDS_IN_BY.match(between) else True if ENDS_IN_TO.match(between) else None


def _korean(text: str, quantity: Quantity, said: Sequence[Direction]) -> bool | None:
    end = quantity.start + len(quantity.text)
    if quantity.unit is None and (counter := COUNTERS.match(text, end)):
        end = counter.end()
    starts = {each.start for each in said}
    if (to := KOREAN_TO.match(text, end)) and not starts.isdisjoint({to.end(), text.find(" ", end) + 1}):
        return True
    by = KOREAN_BY.match(text, end)
    return False if by and by.end() in starts else None


SHORTLY_BEHIND = 20  # characters


def confused_extents(
    own: Sequence[Extent],
    said: Sequence[Extent],
    text: str,
    differences: Sequence[frozenset[Difference]],
    multiples: Multiples,
) -> Iterator[tuple[str, str]]:
    """Yield changes to a number that are changes by it in all sources, and the other way round.

    Two numbers of the sources may give both: `differences` and `multiples` of their sentences.
    """
    if len(own) * len(said) > MOST_PAIRS:
        return
    for mine in own:
        same = [other for other in said if mine.quantity.same_as(other.quantity)]
        if not same or any(other.to == mine.to for other in same):
            continue
        if mine.to or not is_difference(mine.quantity, text, differences):
            share = mine.quantity.value / 100
            ratio = share if mine.to else 1 - share
            near = any(abs(each - ratio) <= RATIO_MARGIN * ratio for each in multiples.ratios)
            if not (mine.quantity.multiple and near):
                yield mine.quantity.text, same[0].quantity.text
