"""Multiples and shares in words, and their counterparts in the sources: doubled, half, two thirds, 세 배.

"Doubled" matches "twice", "a rise by 100 %" and "from 0.5 to 1.0", but not "from 0.5 to 1.8".
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations

from generator.checking.clauses import NEARLY_AS_GOOD, Bridge, Text, nearest_sentences
from generator.checking.numerals import TIMES
from generator.checking.quantities import Quantity

NEARLY, A_LITTLE = Decimal("0.08"), Decimal("0.05")  # of a ratio of two numbers; of a number
MORE_BY_HALF = Decimal("1.5")  # what is "more than half" or "over three times"
MORE = re.compile(r"\b(?:more than|over|above|exceed\w*)\s$", re.IGNORECASE)
LESS = re.compile(r"\b(?:less than|under|below|not even)\s$", re.IGNORECASE)
BEHIND_MORE = re.compile(r"^(?:를|을|가|이)?\s?(?:넘|이상|웃도|남짓|초과)")
BEHIND_LESS = re.compile(r"^(?:에|도)?\s?(?:못 미|미치지 못|미만|이하|되지 않)")
SHORTLY_BEFORE, SHORTLY_BEHIND = 12, 10  # characters
MOST_IN_A_SENTENCE = 12  # numbers whose ratios are taken
HUNDRED = Decimal(100)
CHANGES = re.compile(r"doubl|halv|tripl|quadrupl|[가-힣\d ]{1,4}으?로 (?:늘|줄|증가|감소|커|작|높|낮|올|떨)")
COUNTER = re.compile(r"\s?[가-힣]")  # the first syllable of what is counted: 80마리
DIFFERS = re.compile(
    r"\bthan\b|\b\w+er (?:with|in|for)\b|\bdiffer|보다|차이|\b(?:by|gap of)\b", re.IGNORECASE
)
DIFFERENCES = {"share in points": "share"}  # what is subtracted: of 5 % and 3 % that is 2 percentage points


def said_as_multiple(
    quantity: Quantity, sentence: Text, sources: Sequence[Text], bridge: Bridge, *, across: bool
) -> bool:
    """Return whether a source has this multiple, its inverse, a change by it, or two numbers of its ratio.

    Within a language it counts where the source speaks of the same as the quantity's clause.
    """
    least, most = _bounds(quantity, sentence.text)
    times = quantity.unit == TIMES
    wanted = quantity.value if times else quantity.value / HUNDRED

    def is_wanted(value: Decimal, nearly: Decimal = A_LITTLE) -> bool:
        return wanted * (least - nearly) <= value <= wanted * (most + nearly)

    # "A is twice B" is "B is half of A"; but what doubled was not halved.
    turns = not CHANGES.match(sentence.text[quantity.start : quantity.end + SHORTLY_BEHIND].lower())
    tokens = sentence.tokens_around(quantity.start)
    for source, near in zip(
        sources, nearest_sentences(sources, tokens, bridge, 0 if across else NEARLY_AS_GOOD), strict=True
    ):
        places = list(zip(source.quantities, source.sentences_of_quantities, strict=True))
        for other, number in places:
            if not other.value or other.unit is None or number not in near:
                continue
            if other.unit == TIMES:
                found = is_wanted(other.value) or (turns and is_wanted(1 / other.value))
            elif other.unit.dimension != "share":
                continue
            elif other.multiple:
                found = is_wanted(other.value / HUNDRED) or (turns and is_wanted(HUNDRED / other.value))
            else:
                found = is_wanted(other.value / HUNDRED + 1 if times else other.value / HUNDRED)
            if found:
                return True
        for first, second in _pairs(source.text, [each for each in places if each[1] in near]):
            low, high = min(first, second), max(first, second)
            if is_wanted(low / high, NEARLY) or is_wanted(high / low, NEARLY):
                return True
            if not times and (is_wanted(1 - low / high) or is_wanted(high / low - 1)):  # by a third
                return True
    return False


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


def _pairs(text: str, counted: Sequence[tuple[Quantity, int]]) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield two numbers of one sentence that count the same: by their unit, or by the word behind them."""
    by_kind: dict[tuple[int, str], list[Decimal]] = defaultdict(list)
    for quantity, sentence in counted:
        if quantity.value <= 0 or not quantity.demanded or quantity.multiple:
            continue
        if quantity.unit:
            by_kind[sentence, quantity.unit.dimension].append(quantity.value * quantity.unit.factor)
        else:
            counter = COUNTER.match(text, quantity.end)
            by_kind[sentence, counter[0] if counter else ""].append(quantity.value)
    for values in by_kind.values():
        yield from combinations(values[:MOST_IN_A_SENTENCE], 2)


def is_difference(quantity: Quantity, sentence: Text, sources: Sequence[Text]) -> bool:
    """Return whether a number that compares is the difference of two numbers of a source's sentence."""
    if not quantity.unit or not DIFFERS.search(sentence.text):
        return False
    wanted = quantity.value * quantity.unit.factor
    kinds = {quantity.unit.dimension, DIFFERENCES.get(quantity.unit.dimension)}
    for source in sources:
        by_kind: dict[tuple[int, str], list[Decimal]] = defaultdict(list)
        for other, number in zip(source.quantities, source.sentences_of_quantities, strict=True):
            if other.unit and other.unit.dimension in kinds:
                by_kind[number, other.unit.dimension].append(other.value * other.unit.factor)
        for values in by_kind.values():
            pairs = combinations(values[:MOST_IN_A_SENTENCE], 2)
            if any(abs(first - second) == wanted for first, second in pairs):
                return True
    return False
