"""Missing."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from itertools import chain, combinations
from typing import Protocol

from generator.checking.text.clauses import Text
from generator.checking.text.matching import TermMatcher, nearest_sentences
from generator.checking.text.numerals import TIMES, WORD_VALUES
from generator.checking.text.quantities import COUNTER_SYLLABLE, Quantity, spans_years
from indexer.analysis.tokens import Token

RATIO_MARGIN, MARGIN = Decimal("0.08"), Decimal("0.05")  # of a ratio of two numbers; of a number
ABOUT_MARGIN = Decimal("0.12")  # "about a fifth" is 18 %
NEAR_A_MULTIPLE = 0.5  # of what the best sentence of the sources shares with the clause of a multiple
MORE_BY_HALF = Decimal("1.5")  # what is "more than half" or "over three times"
MORE = re.compile(r"\b(?:more than|over|above|exceed\w*)\s$", re.IGNORECASE)
LESS = re.compile(r"\b(?:less than|under|below|not even)\s$", re.IGNORECASE)
BEHIND_MORE = re.compile(r"^(?:를|을|가|이)?\s?(?:넘|이상|웃도|남짓|초과)")
BEHIND_LESS = re.compile(r"^(?:에|도)?\s?(?:못 미|미치지 못|미만|이하|되지 않)")
SHORTLY_BEFORE, SHORTLY_BEHIND = 12, 10  # characters
MOST_IN_A_SENTENCE = 12  # numbers whose ratios are taken
HUNDRED = Decimal(100)
CHANGES = re.compile(r"doubl|halv|tripl|quadrupl|[가-힣\d ]{1,4}으?로 (?:늘|줄|증가|감소|커|작|높|낮|올|떨)")
_SMALL = "two|three|four|five|six|seven|eight|nine|ten"
PART_OF_WHOLE = re.compile(
    rf"(?<![\d.,])\b(\d{{1,6}}|{_SMALL}) (?:out )?of (?:the )?(\d{{1,6}}|{_SMALL})\b(?![\d.,]*\d|\s?%)"
)
DIFFERS = re.compile(
    r"\bthan\b|\b\w+er (?:with|in|for)\b|\bdiffer|보다|차이|\b(?:by|gap of)\b"
    r"|(?:낮아졌|높아졌|줄었|줄어들었|늘었|늘어났|감소하|증가하|상승하|하락하|올랐|떨어졌|짧아졌|길어졌)",
    re.IGNORECASE,
)
SUBTRACTED = {"share in points": "share"}  # what is subtracted: of 5 % and 3 % that is 2 percentage points


class ParsedNumbers(Protocol):
    """The parts of a parsed passage that are compared here."""

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
    """Multiples in sentences, as numbers."""

    in_words: Sequence[Decimal]  # half, 세 배
    shares: Sequence[Decimal]  # 50 %, as 0.5
    ratios: Sequence[Decimal]  # of two numbers of a sentence, the smaller by the larger


Difference = tuple[str, Decimal]  # the dimension of two numbers, and the amount by which they differ


def missing_numbers(
    claim: Text, passages: Sequence[ParsedNumbers], matcher: TermMatcher, *, cross_lingual: bool
) -> Iterator[tuple[Quantity, bool]]:
    """Yield the numbers of a claim that no passage contains or implies.

    The second value is True if a passage has the number with another unit.
    """

    @cache
    def multiples_near(tokens: tuple[Token, ...]) -> Multiples:
        return _multiples_near(tokens, passages, matcher)

    stated = [quantity for passage in passages for quantity in passage.text.quantities]
    for quantity in claim.quantities:
        if not quantity.demanded:
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
    """Multiples of each sentence of a text, by the number of the sentence."""
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
    """Yield two numbers of a sentence that count the same: by their unit, or by the word behind them."""
    by_kind: dict[str, list[Decimal]] = defaultdict(list)
    for quantity in quantities:
        if quantity.value <= 0 or not quantity.demanded or quantity.multiple:
            continue
        if quantity.unit:
            by_kind[quantity.unit.dimension].append(quantity.value * quantity.unit.factor)
        else:
            counter = COUNTER_SYLLABLE.match(text, quantity.end)
            by_kind[counter[0] if counter else ""].append(quantity.value)
    for values in by_kind.values():
        yield from combinations(values[:MOST_IN_A_SENTENCE], 2)


def join(multiples: Collection[Multiples]) -> Multiples:
    """Multiples of several sentences, in the ascending order that `is_said` needs."""
    return Multiples(
        sorted(chain.from_iterable(each.in_words for each in multiples)),
        sorted(chain.from_iterable(each.shares for each in multiples)),
        sorted(chain.from_iterable(each.ratios for each in multiples)),
    )


def is_multiple(quantity: Quantity, text: str, multiples: Multiples) -> bool:
    """Whether joined sentences give a multiple of a text.

    They give it in words, as its inverse, as a change by it, or as two numbers of its ratio.
    """
    least, most = _bounds(quantity, text)
    times = quantity.unit == TIMES
    wanted = quantity.value if times else quantity.value / HUNDRED
    if not wanted:
        return False
    margin = ABOUT_MARGIN if quantity.about else MARGIN
    low, high = wanted * (least - margin), wanted * (most + margin)
    margin = max(margin, RATIO_MARGIN)
    lowest, highest = wanted * (least - margin), wanted * (most + margin)
    in_words, ratios = partial(_any_between, multiples.in_words), partial(_any_between, multiples.ratios)
    # "A is twice B" is "B is half of A"; but what doubled was not halved.
    turns = not CHANGES.match(text[quantity.start : quantity.end + SHORTLY_BEHIND].lower())
    if in_words(low, high) or (turns and in_words(1 / high, 1 / low)):
        return True
    if ratios(lowest, highest) or ratios(1 / highest, 1 / lowest):
        return True
    if times:  # twice is more by 100 %
        return _any_between(multiples.shares, low - 1, high - 1)
    by_a_share = ratios(1 - high, 1 - low) or ratios(1 / (high + 1), 1 / (low + 1))  # by a third
    return by_a_share or _any_between(multiples.shares, low, high)


def _any_between(values: Sequence[Decimal], low: Decimal, high: Decimal) -> bool:
    place = bisect_left(values, low)
    return place < len(values) and values[place] <= high


def _bounds(quantity: Quantity, text: str) -> tuple[Decimal, Decimal]:
    """Return the least and the most factor of a bounded value: "more than half" is half to three quarters."""
    before = text[max(0, quantity.start - SHORTLY_BEFORE) : quantity.start]
    behind = text[quantity.end : quantity.end + SHORTLY_BEHIND].lstrip(" 배")
    one = Decimal(1)
    if MORE.search(before) or BEHIND_MORE.match(behind):
        return one, MORE_BY_HALF
    if LESS.search(before) or BEHIND_LESS.match(behind):
        return 1 / MORE_BY_HALF, one
    return one, one


def is_more_by(quantity: Quantity, other: Quantity) -> bool:
    """Whether a share is what a factor adds: 30 % for "1.3 times"."""
    if not quantity.unit or quantity.unit.dimension != "share" or other.unit != TIMES:
        return False
    return (other.value - 1) * HUNDRED == quantity.value


def is_share_of_counts(quantity: Quantity, texts: Iterable[str]) -> bool:
    """Whether a share is that of a count in another one, as a source gives them: 94 % for "47 of 50"."""
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
    """Differences of any two numbers of a sentence, for all sentences of a text."""
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
    """Whether a number of a text that compares is a difference of two numbers of a source."""
    if not quantity.unit or not (quantity.unit.dimension in SUBTRACTED or DIFFERS.search(text)):
        return False
    wanted = quantity.value * quantity.unit.factor
    dimension = quantity.unit.dimension
    kinds = {dimension, SUBTRACTED.get(dimension, dimension)}
    return any((kind, wanted) in each for each in differences for kind in kinds)
