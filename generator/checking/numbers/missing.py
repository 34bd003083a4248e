"""Signs: a number that no passage contains or implies, or only with another unit.

Claim "methane fell by 73%" for the passage "methane fell by 37%"; claim "5 g of krill" for "5 mg of krill".
"Doubled" is implied by "twice", "a rise by 100 %" and "from 0.5 to 1.0", but not by "from 0.5 to 1.8".
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from itertools import chain, combinations
from typing import Protocol

from base.patterns import lazy_regex
from generator.checking.text.clauses import Text
from generator.checking.text.matching import TermMatcher, nearest_sentences
from generator.checking.text.numerals import TIMES, WORD_VALUES
from generator.checking.text.quantities import COUNTER_SYLLABLE, Quantity, spans_years
from indexer.analysis.tokens import Token

RATIO_MARGIN, MARGIN = Decimal("0.08"), Decimal("0.05")  # relative, of ratios and of numbers
ABOUT_MARGIN = Decimal("0.12")  # "about a fifth" is 18 %
NEAR_A_MULTIPLE = 0.5  # share of the matches of the best sentence
MORE_BY_HALF = Decimal("1.5")  # upper bound of "more than half" or "over three times"
MORE = lazy_regex(r"\b(?:more than|over|above|exceed\w*)\s$", re.IGNORECASE)
LESS = lazy_regex(r"\b(?:less than|under|below|not even)\s$", re.IGNORECASE)
MORE_AFTER = lazy_regex(r"^(?:를|을|가|이)?\s?(?:넘|이상|웃도|남짓|초과)")
LESS_AFTER = lazy_regex(r"^(?:에|도)?\s?(?:못 미|미치지 못|미만|이하|되지 않)")
SHORTLY_BEFORE, SHORTLY_AFTER = 12, 10  # characters
MOST_IN_A_SENTENCE = 12  # numbers that are combined
HUNDRED = Decimal(100)
CHANGES = lazy_regex(r"doubl|halv|tripl|quadrupl|[가-힣\d ]{1,4}으?로 (?:늘|줄|증가|감소|커|작|높|낮|올|떨)")
_SMALL = "two|three|four|five|six|seven|eight|nine|ten"
PART_OF_WHOLE = lazy_regex(
    rf"(?<![\d.,])\b(\d{{1,6}}|{_SMALL}) (?:out )?of (?:the )?(\d{{1,6}}|{_SMALL})\b(?![\d.,]*\d|\s?%)"
)
DIFFERS = lazy_regex(
    r"\bthan\b|\b\w+er (?:with|in|for)\b|\bdiffer|보다|차이|\b(?:by|gap of)\b"
    r"|(?:낮아졌|높아졌|줄었|줄어들었|늘었|늘어났|감소하|증가하|상승하|하락하|올랐|떨어졌|짧아졌|길어졌)",
    re.IGNORECASE,
)
SUBTRACTED = {
    "share in points": "share"
}  # dimension of the operands: 5 % and 3 % differ by 2 percentage points


class ParsedNumbers(Protocol):
    """The compared parts of a parsed passage."""

    @property
    def text(self) -> Text:
        """The text."""

    @property
    def multiples(self) -> dict[int, "Multiples"]:
        """Multiples, shares and ratios by sentence number."""

    @property
    def differences(self) -> Set["Difference"]:
        """Differences of two numbers of a sentence."""


@dataclass(frozen=True, slots=True)
class Multiples:
    """Multiples, shares and ratios of sentences."""

    in_words: Sequence[Decimal]  # half, 세 배
    shares: Sequence[Decimal]  # 50 %, as 0.5
    ratios: Sequence[Decimal]  # smaller number divided by larger number of a sentence


Difference = tuple[str, Decimal]  # the dimension of two numbers, and the amount by which they differ


def missing_numbers(
    claim: Text, passages: Sequence[ParsedNumbers], matcher: TermMatcher, *, cross_lingual: bool
) -> Iterator[tuple[Quantity, bool]]:
    """Yield the numbers of a claim that no passage contains or implies.

    The second value is True if a passage has the number with another unit.
    """
    multiples_near = cache(lambda tokens: _multiples_near(tokens, passages, matcher))
    stated = [quantity for passage in passages for quantity in passage.text.quantities]
    for quantity in claim.quantities:
        if not quantity.required:
            continue
        tokens = () if cross_lingual else claim.tokens_around(quantity.start)
        found = not quantity.multiple and (
            any(quantity.same_as(other) for other in stated)
            or spans_years(quantity, stated)
            or is_difference(quantity, claim.text, (passage.differences for passage in passages))
            or any(is_more_by(quantity, other) for other in stated)
            or is_share_of_counts(quantity, (passage.text.text for passage in passages))
        )
        if not found and (quantity.multiple or quantity.unit == TIMES):
            found = is_multiple(quantity, claim.text, multiples_near(tokens))
        if not found:
            same = any(quantity.value == other.value for other in stated)
            yield quantity, same and not quantity.multiple


def _multiples_near(
    tokens: tuple[Token, ...], passages: Sequence[ParsedNumbers], matcher: TermMatcher
) -> Multiples:
    """Return the multiples of the passages' sentences most similar to a clause; of all without tokens."""
    if not tokens:
        return join([each for passage in passages for each in passage.multiples.values()])
    texts = [passage.text for passage in passages]
    near = zip(passages, nearest_sentences(texts, tokens, matcher, NEAR_A_MULTIPLE), strict=True)
    return join(
        [
            passage.multiples[number]
            for passage, numbers in near
            for number in numbers
            if number in passage.multiples
        ]
    )


def multiples_of(text: Text) -> dict[int, Multiples]:
    """Return the multiples of each sentence of a text, by its number."""
    by_sentence: dict[int, list[Quantity]] = defaultdict(list)
    for quantity, sentence in zip(text.quantities, text.sentences_of_quantities, strict=True):
        by_sentence[sentence].append(quantity)
    return {
        number: _multiples_of_sentence(text.text, quantities) for number, quantities in by_sentence.items()
    }


def _multiples_of_sentence(text: str, quantities: Sequence[Quantity]) -> Multiples:
    factors = [each.value for each in quantities if each.value and each.unit == TIMES]
    shares = [each for each in quantities if each.value and each.unit and each.unit.dimension == "share"]
    return Multiples(
        [*factors, *(each.value / HUNDRED for each in shares if each.multiple)],
        [each.value / HUNDRED for each in shares if not each.multiple],
        [min(pair) / max(pair) for pair in _pairs(text, quantities)],
    )


def _pairs(text: str, quantities: Sequence[Quantity]) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield two numbers of a sentence with the same unit, or with the same word after them."""
    by_kind: dict[str, list[Decimal]] = defaultdict(list)
    for quantity in quantities:
        if quantity.value <= 0 or not quantity.required or quantity.multiple:
            continue
        if quantity.unit:
            by_kind[quantity.unit.dimension].append(quantity.value * quantity.unit.factor)
        else:
            counter = COUNTER_SYLLABLE.match(text, quantity.end)
            by_kind[counter[0] if counter else ""].append(quantity.value)
    for values in by_kind.values():
        yield from combinations(values[:MOST_IN_A_SENTENCE], 2)


def join(multiples: Collection[Multiples]) -> Multiples:
    """Return the multiples of several sentences in ascending order, as `is_multiple` needs them."""
    return Multiples(
        sorted(chain.from_iterable(each.in_words for each in multiples)),
        sorted(chain.from_iterable(each.shares for each in multiples)),
        sorted(chain.from_iterable(each.ratios for each in multiples)),
    )


def is_multiple(quantity: Quantity, text: str, multiples: Multiples) -> bool:
    """Return True if joined sentences imply a multiple of a text.

    They imply it in words, by its inverse, by a change of its size, or by two numbers of its ratio.
    """
    least, most = _bounds(quantity, text)
    times = quantity.unit == TIMES
    wanted = quantity.value if times else quantity.value / HUNDRED
    if not wanted:
        return False
    margin = ABOUT_MARGIN if quantity.approximate else MARGIN
    low, high = wanted * (least - margin), wanted * (most + margin)
    margin = max(margin, RATIO_MARGIN)
    lowest, highest = wanted * (least - margin), wanted * (most + margin)
    in_words, ratios = partial(_any_between, multiples.in_words), partial(_any_between, multiples.ratios)
    # "A is twice B" is "B is half of A", but a doubled number was not halved.
    turns = not CHANGES.match(text[quantity.start : quantity.end + SHORTLY_AFTER].lower())
    if in_words(low, high) or (turns and in_words(1 / high, 1 / low)):
        return True
    if ratios(lowest, highest) or ratios(1 / highest, 1 / lowest):
        return True
    if times:  # twice is 100 % more
        return _any_between(multiples.shares, low - 1, high - 1)
    by_a_share = ratios(1 - high, 1 - low) or ratios(1 / (high + 1), 1 / (low + 1))  # by a third
    return by_a_share or _any_between(multiples.shares, low, high)


def _any_between(values: Sequence[Decimal], low: Decimal, high: Decimal) -> bool:
    place = bisect_left(values, low)
    return place < len(values) and values[place] <= high


def _bounds(quantity: Quantity, text: str) -> tuple[Decimal, Decimal]:
    """Return the least and greatest factor of a bounded value: "more than half" is half to three quarters."""
    before = text[max(0, quantity.start - SHORTLY_BEFORE) : quantity.start]
    after = text[quantity.end : quantity.end + SHORTLY_AFTER].lstrip(" 배")
    one = Decimal(1)
    if MORE.search(before) or MORE_AFTER.match(after):
        return one, MORE_BY_HALF
    if LESS.search(before) or LESS_AFTER.match(after):
        return 1 / MORE_BY_HALF, one
    return one, one


def is_more_by(quantity: Quantity, other: Quantity) -> bool:
    """Return True if a share is the increase by a factor: 30 % for "1.3 times"."""
    if not quantity.unit or quantity.unit.dimension != "share" or other.unit != TIMES:
        return False
    return (other.value - 1) * HUNDRED == quantity.value


def is_share_of_counts(quantity: Quantity, texts: Iterable[str]) -> bool:
    """Return True if a passage gives a share as two counts: 94 % for "47 of 50"."""
    if not quantity.unit or quantity.unit.dimension != "share":
        return False
    exponent = quantity.value.as_tuple().exponent
    places = Decimal(1).scaleb(exponent) if isinstance(exponent, int) else Decimal(1)
    return any(
        abs(_count(part) / _count(whole) * HUNDRED - quantity.value) <= places / 2
        for text in texts
        for part, whole in PART_OF_WHOLE.findall(text)
        if _count(whole)
    )


def _count(written: str) -> Decimal:
    return Decimal(written) if written.isdigit() else Decimal(WORD_VALUES[written])


def differences_of(text: Text) -> frozenset[Difference]:
    """Return the differences of any two numbers of a sentence, for all sentences of a text."""
    by_kind: dict[tuple[int, str], list[Decimal]] = defaultdict(list)
    for quantity, sentence in zip(text.quantities, text.sentences_of_quantities, strict=True):
        if quantity.unit:
            by_kind[sentence, quantity.unit.dimension].append(quantity.value * quantity.unit.factor)
    return frozenset(
        (dimension, abs(first - second))
        for (_, dimension), values in by_kind.items()
        for first, second in combinations(values[:MOST_IN_A_SENTENCE], 2)
    )


def is_difference(quantity: Quantity, text: str, differences: Iterable[Set[Difference]]) -> bool:
    """Return True if a number of a comparison is the difference of two numbers of a passage."""
    if not quantity.unit or not (quantity.unit.dimension in SUBTRACTED or DIFFERS.search(text)):
        return False
    wanted = quantity.value * quantity.unit.factor
    dimension = quantity.unit.dimension
    kinds = {dimension, SUBTRACTED.get(dimension, dimension)}
    return any((kind, wanted) in each for each in differences for kind in kinds)
