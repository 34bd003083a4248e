"""Labels of numbers: the words and the other quantities beside a number in its sentence.

In "0.71 with fusion, 0.38 with LiDAR" the label of 0.71 is "fusion".
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from base.patterns import lazy_regex
from generator.checking.text.clauses import Text, start_of_token, starting_in, terms_of
from generator.checking.text.lexicon import AXIS_WORDS, FUNCTION_WORDS
from generator.checking.text.quantities import LISTED, Quantity, are_alternatives
from indexer.analysis.tokens import Token

EDGE = lazy_regex(
    r"[,;()]\s?|\b(?:and|against|versus|compared (?:with|to)|than)\b|보다(?![가-힣])|(?<=[가-힣])(?:과|와) ",
    re.IGNORECASE,
)
LINK = lazy_regex(r"[^\d,;.]{0,12}(?:에서|에서는|\bto\b)[^\d,;.]{0,12}")
LINK_WITH_CONDITION = lazy_regex(r"[^;.]{0,12}(?:에서|\bto\b)[^;]{0,30}")  # 228에서 1,400 ℃의 316까지
RESPECTIVELY = lazy_regex(r"\brespectively\b|각각|순으로|차례로", re.IGNORECASE)
DIVIDES = lazy_regex(
    r"[,;]\s|\b(?:and|(?:against|versus|compared (?:with|to))(?= \d)|while|whereas|but)\b"
    r"|(?<=[가-힣%])(?:과|와) |(?<=[고며]) ",
    re.IGNORECASE,
)
ATTRIBUTE = lazy_regex(r"[가-힣]{0,2}(?:긴|은|른|큰|한)(?=\s)")  # 긴 날개, 높은 나무
KOREAN_TOPIC = lazy_regex(r"[가-힣)][은는] ")  # the measured quantity, before its object
MOST_QUANTITIES = 60  # of a text; in a longer table the words beside a number are unknown
MOST_LABELLED = 12  # numbers of a sentence
PERIODS = frozenset({"second", "month"})  # durations occur beside anything
MEASURE = 2  # words for the measured quantity
NEAREST = 4  # words beside the first number of a sentence


@dataclass(frozen=True, slots=True)
class LabelledQuantity:
    """A quantity with its label: the words and the other quantities of its part of a sentence."""

    text: Text = field(repr=False, compare=False)
    sentence: int
    quantity: Quantity
    tokens: tuple[Token, ...]
    words: frozenset[str]
    conditions: tuple[Quantity, ...]  # the other quantities
    opens: bool = False  # the label opens its sentence
    partners: frozenset[Quantity] = frozenset()  # of a range, a list or a change

    @property
    def own_terms(self) -> set[str]:
        """The terms that belong to this number alone."""
        return terms_of(self.own_tokens)

    @property
    def own_tokens(self) -> tuple[Token, ...]:
        """The tokens that belong to this number alone; opening words may belong to all numbers."""
        if not self.opens:
            return self.tokens
        before = [token for token in self.tokens if token[2] < self.quantity.start]
        following = [token for token in self.tokens if token[2] >= self.quantity.start]
        if not self.text.korean:
            return tuple(following[:NEAREST] or before[-NEAREST:])
        if not before:
            return ()
        topics = list(KOREAN_TOPIC.finditer(self.text.text, before[0][2], self.quantity.start))
        begin = topics[-1].end() if topics else 0
        after = [token for token in before if token[2] >= begin]
        if topics and not after:  # X의 수량은 5 t: the measured quantity is between label and number
            return tuple(before[-2 * NEAREST : -MEASURE])
        return tuple((after or before)[-NEAREST:])


Labels = Sequence[LabelledQuantity]  # of one text


def with_number(quantity: Quantity, passages: Sequence[Labels]) -> list[tuple[LabelledQuantity, Labels]]:
    """Return the passages' labels of a number, each with all labels of its sentence."""
    return [
        (stated, [other for other in labels if other.sentence == stated.sentence])
        for labels in passages
        for stated in labels
        if quantity.same_as(stated.quantity)
    ]


def phrase_labels(text: Text) -> list[LabelledQuantity]:
    """Return the quantities of a text, labelled by the phrase between the commas and connectives around them.

    There are none in a text with "respectively" or with more than MOST_QUANTITIES.
    """
    if len(text.quantities) > MOST_QUANTITIES or RESPECTIVELY.search(text.text):
        return []
    found = []
    partners = _partners(text)
    edges = [match.start() for match in EDGE.finditer(text.text)]
    for clause in text.clauses:
        inner = [clause.start, *starting_in(edges, int, clause.start + 1, clause.end), clause.end]
        for start, end in pairwise(inner):
            if here := text.quantities_in(start, end):
                tokens = starting_in(clause.tokens, start_of_token, start, end)
                label = tuple(token for token in tokens if not text.in_quantity(token))
                words = frozenset(terms_of(label))
                for quantity in here:
                    others = tuple(other for other in here if other is not quantity)
                    linked = frozenset(partners[quantity.start])
                    found.append(
                        LabelledQuantity(
                            text, clause.sentence, quantity, label, words, others, partners=linked
                        )
                    )
    return found


def _partners(text: Text) -> dict[int, set[Quantity]]:
    """Return the other quantities of a quantity's range, list or change, by the start of the quantity."""
    quantities = text.quantities
    linked = [
        (first, second)
        for first, second in pairwise(quantities)
        if LISTED.fullmatch(text.text, first.end, second.start)
        or LINK.fullmatch(text.text, first.end, second.start)
    ]
    linked += [
        (first, second)
        for first, _, second in zip(quantities, quantities[1:], quantities[2:], strict=False)
        if are_alternatives(first, second)
        and LINK_WITH_CONDITION.fullmatch(text.text, first.end, second.start)
    ]
    partners: dict[int, set[Quantity]] = defaultdict(set)
    for first, second in linked:
        partners[first.start].add(second)
        partners[second.start].add(first)
    return partners


def sentence_labels(text: Text) -> list[LabelledQuantity]:
    """Return the quantities of a text, each labelled by the words since the previous quantity of its kind.

    There are none in a text with more than MOST_QUANTITIES.
    """
    if len(text.quantities) > MOST_QUANTITIES:
        return []
    found: list[LabelledQuantity] = []
    for number, (begin, end, _) in text.sentences.items():
        here = text.quantities_in(begin, end)
        if 0 < len(here) <= MOST_LABELLED and not RESPECTIVELY.search(text.text, begin, end):
            found += _of_sentence(text, number, begin, end, here)
    return found


def _of_sentence(
    text: Text, number: int, begin: int, end: int, here: Sequence[Quantity]
) -> Iterator[LabelledQuantity]:
    """Yield the labelled quantities of a sentence; commas, connectives and clauses separate labels."""
    cuts = [match.start() for match in DIVIDES.finditer(text.text, begin, end)]
    edges = [begin, *sorted({*cuts, *(each.start for each in text.clauses if begin < each.start < end)}), end]
    tokens = [
        token for token in starting_in(text.tokens, start_of_token, begin, end) if _is_label(token, text)
    ]
    for quantity in here:
        # A part without a number of this kind belongs to the next number.
        rivals = [bisect_right(edges, other.start) for other in here if are_alternatives(other, quantity)]
        place = bisect_right(edges, quantity.start)
        start = edges[max([rival for rival in rivals if rival < place], default=0)]
        stop = edges[place]
        own = tuple(token for token in tokens if start <= token[2] < stop)
        if text.korean:  # Korean labels precede their number
            own = tuple(token for token in own if token[2] < quantity.start) or own
        conditions = tuple(
            other
            for other in here
            if other is not quantity and start <= other.start < stop and not are_alternatives(other, quantity)
        )
        words = frozenset(terms_of(own))
        yield LabelledQuantity(text, number, quantity, own, words, conditions, start == begin)


def _is_label(token: Token, text: Text) -> bool:
    """Return True if a token may belong to a label."""
    return (
        (token[0] not in AXIS_WORDS or bool(ATTRIBUTE.match(text.text, token[2])))
        and token[0] not in FUNCTION_WORDS
        and not text.in_quantity(token)
    )


def measures(quantity: Quantity) -> bool:
    """Return True for a measured value: not a count, a share in words or a duration."""
    if not quantity.required or quantity.multiple:
        return False
    if quantity.unit:
        return quantity.unit.dimension not in PERIODS
    return not quantity.is_whole
