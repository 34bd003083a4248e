"""Numbers of a text with their units, and their comparison.

"9만 4천" equals "94,000", "thirty-six" equals 36, "절반" equals 50 %, "12 months" equals a year.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from base.patterns import lazy_regex
from generator.checking.text.digits import with_ascii_digits
from generator.checking.text.numerals import TIMES, numerals
from generator.checking.text.units import UNIT, Unit, unit_of

# After such a word a number is approximate.
ABOUT = lazy_regex(
    r"(?:\b(?:about|around|roughly|nearly|almost|approximately|some)|약|거의|대략)\s*$", re.IGNORECASE
)
ABOUT_AFTER = lazy_regex(r"^\s*[가-힣%]{0,4}\s?(?:가량|남짓|안팎|정도|내외|가까이|쯤|여\s)")
# A minus sign, not the hyphen of a range.
NEGATIVE = lazy_regex(
    r"(?:(?:^|[^\w\s)%℃°]|(?<!\d)\s)[-−–]|(?:\bminus|\bnegative|영하|마이너스)\s?)$", re.IGNORECASE
)
# Three times as high, not three times a week.
TIMES_AS = lazy_regex(r" (?:as|more|less|that|those|the|what|its|their|\w+er)\b")
OF_THE_NAMED = lazy_regex(
    r"\bthe (?:following|next|remaining|other|last|latter|former) $"
)  # the other two months
FACTOR = lazy_regex(r"\bfactor of\s$", re.IGNORECASE)
CALENDAR = lazy_regex(r"\b(?:in|since|by|until|before|after|of) [12]\d{3}$|\d년$")
# Between the numbers of a list, a range or a change: "-60, -50 and -30 ℃", "14 to 33 minutes", "14에서 33분".
LISTED = lazy_regex(r"\s*(?:,|~|–|-|−|to|and|or|와|과|에서|,?\s?및)\s*[-−+]?\s*", re.IGNORECASE)
COUNTER_SYLLABLE = lazy_regex(r"\s?[가-힣]")  # of the counted thing: 80마리
SHORTLY_BEFORE = 20  # characters
ABOUT_MARGIN = Decimal("0.05")
WEEK, DAYS_OF_A_MONTH, MONTH_MARGIN = 604_800, Decimal("30.4"), Decimal("0.09")  # 12 weeks are about 3 months
A_YEAR, FIRST_YEAR, LAST_YEAR = 12, 1000, 2100  # months; years of the calendar


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit and its span in the text.

    `required` is False for numbers that count only in passages: ordinals, small number words. `multiple`
    marks words for a share or a factor: half, two thirds, doubled.
    """

    value: Decimal
    unit: Unit | None
    text: str
    start: int
    end: int
    required: bool = True
    approximate: bool = False
    negative: bool = False
    multiple: bool = False
    shown: str = ""  # a share around its preposition: six in ten

    @property
    def unit_end(self) -> int:
        """The end of its unit, or of the number if there is none."""
        return self.start + len(self.text)

    @property
    def is_whole(self) -> bool:
        """Whether the value is an integer, as of a count."""
        return self.value == self.value.to_integral_value()

    def same_as(self, other: "Quantity") -> bool:
        """Return True if both have one value; a number without a unit may have any unit.

        A negative value of the other one may be reported as a fall by it.
        """
        if self.negative and not other.negative:
            return False
        if self.unit and other.unit:
            if self.unit.dimension != other.unit.dimension:
                return self._months_as(other) or other._months_as(self)  # noqa: SLF001
            if self.unit.factor == other.unit.factor:  # a product is rounded
                return self._close(self.value, other.value)
            return self._close(self.value * self.unit.factor, other.value * other.unit.factor)
        return self._close(self.value, other.value)

    def _months_as(self, other: "Quantity") -> bool:
        """Return True if months are given in weeks, which add up to slightly less."""
        if not (self.unit and other.unit) or (self.unit.dimension, other.unit.dimension) != (
            "month",
            "second",
        ):
            return False
        if other.unit.factor != WEEK:
            return False
        own, weeks = self.value * self.unit.factor * DAYS_OF_A_MONTH, other.value * 7
        return abs(own - weeks) <= MONTH_MARGIN * own

    def _close(self, claimed: Decimal, other: Decimal) -> bool:
        return claimed == other or (self.approximate and abs(claimed - other) <= ABOUT_MARGIN * abs(other))


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text in order; a number of a list has the unit of the next one."""
    text = with_ascii_digits(unicodedata.normalize("NFC", text)).replace("μ", "µ")
    taken = [False] * (len(text) + 1)
    found: list[Quantity] = []
    for value, start, end, is_required, own_unit, multiple, whole in numerals(text):
        if any(taken[start:end]):
            continue
        taken[start:end] = [True] * (end - start)
        after = UNIT.match(text, end)
        unit = own_unit or (unit_of(after[1]) if after else None)
        if unit and unit.dimension == "month" and unit.factor == A_YEAR and value >= FIRST_YEAR:
            unit = None  # a year of the calendar
        before = text[max(0, start - SHORTLY_BEFORE) : start]
        negative = bool(NEGATIVE.search(before))
        if after and after[1] == "times" and not TIMES_AS.match(text, after.end(1)):
            unit = None  # reused four times
        if not unit and FACTOR.search(before):
            unit = TIMES
        approximate = _is_approximate(text, start, end)
        if whole:  # the span is that of the preposition
            begin = max(0, text.lower().rfind(whole, 0, end + len(whole)))
            approximate = _is_approximate(text, begin, begin + len(whole))
        # 1 is not required: 1 g당 is "per gram", and "1" equals "a".
        required = (
            (is_required or bool(unit and not own_unit)) and value != 1 and not OF_THE_NAMED.search(before)
        )
        in_words = multiple or (unit == TIMES and not text[start].isdigit())
        shown = text[start : after.end(1) if after and unit else end]
        found.append(
            Quantity(value, unit, shown.strip(), start, end, required, approximate, negative, in_words, whole)
        )
    found.sort(key=lambda quantity: quantity.start)
    return _with_units_of_lists(found, text)


def _is_approximate(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - SHORTLY_BEFORE) : start], text[end : end + SHORTLY_BEFORE]
    return bool(ABOUT.search(before) or ABOUT_AFTER.match(after))


def spans_years(quantity: Quantity, in_passages: Sequence[Quantity]) -> bool:
    """Return True if a number of years lies between two years of the calendar: 41 or 42 from 1980 to 2021."""
    if quantity.unit is None or quantity.unit.dimension != "month" or quantity.unit.factor != A_YEAR:
        return False
    years = [
        other.value for other in in_passages if other.unit is None and FIRST_YEAR <= other.value <= LAST_YEAR
    ]
    return any(0 <= quantity.value - (end - begin) <= 1 for begin, end in pairwise(years))


def are_alternatives(first: Quantity, second: Quantity) -> bool:
    """Return True if two numbers differ and have the same kind of unit, so that one may replace the other."""
    if first.same_as(second):
        return False
    if first.unit and second.unit:
        return first.unit.dimension == second.unit.dimension
    if first.unit or second.unit:
        return False
    return first.is_whole == second.is_whole  # a count is not a measured value


def _with_units_of_lists(found: Sequence[Quantity], text: str) -> list[Quantity]:
    """Give the numbers of a list the unit of its last number: "-60, -50 and -30 ℃"."""
    listed = list(found)
    for place in range(len(listed) - 2, -1, -1):
        here, following = listed[place], listed[place + 1]
        between = text[here.end : following.start]
        behind_unit = text[here.unit_end : following.start]
        # "ratio 0.71, 95% CI" is not a list of shares.
        listed_share = following.unit and following.unit.dimension == "share" and "," in between
        a_year = CALENDAR.search(text[max(0, here.start - SHORTLY_BEFORE) : here.end])
        if here.approximate and not following.approximate and LISTED.fullmatch(behind_unit):
            listed[place + 1] = following = replace(following, approximate=True)
        if not here.unit and following.unit and not a_year and not listed_share and LISTED.fullmatch(between):
            listed[place] = replace(here, unit=following.unit)
    return listed
