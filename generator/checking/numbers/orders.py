"""Signs: a comparison or superlative that the numbers of the passages contradict, or another superlative.

Claim "A takes longer than B" for the passage "A 95 ms, B 180 ms"; "lowest at 10 s" for "lowest at 7 s";
"gained least" for "gained most".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.numbers.changes import DirectedQuantity
from generator.checking.numbers.labels import LabelledQuantity, Labels, measures
from generator.checking.statements.comparisons import Comparison
from generator.checking.statements.themes import VALENCE
from generator.checking.text.clauses import Clause, Text, start_of_token, starting_in, terms_of
from generator.checking.text.lexicon import AMOUNTS, FUNCTION_OR_DIRECTION, MOST_PAIRS
from generator.checking.text.matching import LEAST_SHARED, TermMatcher
from generator.checking.text.quantities import Quantity, are_alternatives
from indexer.analysis.tokens import Token

MOST = (
    r"most|highest|largest|greatest|biggest|strongest|longest|best|hottest|warmest|widest|maximum"
    r"|peak(?:ed|s)?"
)
LEAST = r"least|lowest|smallest|fewest|weakest|shortest|coldest|coolest|narrowest|minimum"
ENGLISH = re.compile(rf"\b(?:(?<!at )({LEAST})|({MOST}))\b", re.IGNORECASE)
KOREAN = re.compile(
    r"(?:가장|제일) (?:[가-힣]+게 )?(?:(적|낮|작|짧|약|좁|추[웠운]|드물)"
    r"|(많|높|[크컸커]|[긴길]|강|좋|우수|뛰어|넓|더[웠운]|두드러|뚜렷|잦))"
    r"|(최저|최소|최하)|(최고|최대|최다)"
)
NEAR = 6  # words around a superlative


@dataclass(frozen=True, slots=True)
class Superlative:
    """A superlative, the most (1) or the least (-1), with its clause."""

    polarity: int
    written: str
    near: tuple[Token, ...]
    clause: Clause
    conditions: tuple[Quantity, ...]


def superlatives(text: Text) -> Iterator[Superlative]:
    """Yield the superlatives of a text."""
    for clause in text.clauses:
        written = text.words_of(clause)
        pattern = ENGLISH if written.isascii() or not text.korean else KOREAN
        for match in pattern.finditer(text.text, clause.start, clause.end):
            polarity = -1 if match[1] or (pattern is KOREAN and match[3]) else 1
            before = starting_in(clause.tokens, start_of_token, clause.start, match.start())
            after = starting_in(clause.tokens, start_of_token, match.end(), clause.end)
            content = [
                token
                for token in (*before[-NEAR:], *after[:NEAR])
                if token[0] not in FUNCTION_OR_DIRECTION
                and not text.in_quantity(token)
                and token[0] != "가장"
            ]
            quantities = tuple(
                each for each in text.quantities_in(clause.start, clause.end) if each.required and each.unit
            )
            yield Superlative(polarity, match[0], tuple(content), clause, quantities)


def contrary_superlatives(
    in_claim: Sequence[Superlative],
    in_passages: Sequence[Superlative],
    quantities: Sequence[Quantity],
    matcher: TermMatcher,
) -> Iterator[tuple[str, str]]:
    """Yield superlatives for which the passages have the opposite one or another condition.

    `quantities`: the numbers of the passages; a condition of the claim must be one of them.
    """
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return
    for claimed in in_claim:
        shared = [(matcher.count(claimed.near, terms_of(other.near)), other) for other in in_passages]
        best = max((count for count, _ in shared), default=0)
        near = [other for count, other in shared if count == best]
        if best >= LEAST_SHARED and not any(other.polarity == claimed.polarity for other in near):
            yield claimed.written, near[0].written
            continue
        if best < 1:
            continue
        conditions = [
            _other_condition(claimed, other, quantities)
            for other in near
            if other.polarity == claimed.polarity
        ]
        if conditions and all(conditions):
            yield conditions[0] or ("", "")


def _other_condition(
    claimed: Superlative, other: Superlative, quantities: Sequence[Quantity]
) -> tuple[str, str] | None:
    """Return the number beside a superlative and the number that the passages have there."""
    for condition in claimed.conditions:
        if not any(condition.same_as(each) for each in quantities):
            continue
        if any(condition.same_as(each) for each in other.conditions):
            continue
        rivals = [each for each in other.conditions if are_alternatives(condition, each)]
        if rivals and not any(rival.same_as(each) for rival in rivals for each in claimed.conditions):
            return condition.text, rivals[0].text
    return None


def wrong_superlatives(
    in_claim: Sequence[Superlative],
    passages: Sequence[Labels],
    quantities: Sequence[Quantity],
    matcher: TermMatcher,
) -> Iterator[tuple[str, str]]:
    """Yield superlatives with the label of a number that is not the extreme one of its sentence."""
    for claimed in in_claim:
        best: tuple[int, Quantity, Quantity] | None = None
        for labels in passages:
            for group in _measured_groups(labels):
                terms = [label.own_terms for label in group]
                others = [set().union(*terms[:place], *terms[place + 1 :]) for place in range(len(terms))]
                found = [
                    len(matcher.matched(claimed.near, here - there))
                    for here, there in zip(terms, others, strict=True)
                ]
                score, place = max((count, place) for place, count in enumerate(found))
                if not score or sorted(found)[-2] >= score:
                    continue
                if any(each.same_as(label.quantity) for each in quantities for label in group):
                    continue
                words = set().union(*(label.words for label in group))
                shared = matcher.count(claimed.near, words)
                first = (max if claimed.polarity > 0 else min)(group, key=lambda label: label.quantity.value)
                if shared > score and (best is None or shared > best[0]):
                    best = shared, group[place].quantity, first.quantity
        if best and best[1] != best[2]:
            yield claimed.written, best[2].text


def wrong_orders(
    in_claim: Sequence[Comparison],
    quantities: Sequence[Quantity],
    passages: Sequence[Labels],
    changed: Sequence[DirectedQuantity],
    matcher: TermMatcher,
) -> Iterator[tuple[str, str]]:
    """Yield comparisons whose two sides have numbers in the reverse order in a sentence of the passages.

    Amounts of a change are left out, and numbers that the claim also has (`quantities`).
    """
    measured = {change.quantity for change in changed if not change.direction.standard}
    pairs = [
        (one, other)
        for labels in passages
        for one in labels
        for other in labels
        if one.sentence == other.sentence
        and one.quantity.required
        and other.quantity.required
        and are_alternatives(one.quantity, other.quantity)
        and one.quantity not in measured
        and other.quantity not in measured
        and not any(each.same_as(one.quantity) or each.same_as(other.quantity) for each in quantities)
    ]
    if len(in_claim) * len(pairs) > MOST_PAIRS:
        return
    for claimed in in_claim:
        if not claimed.axes & (AMOUNTS | {"quality", "keeping"}) or claimed.multiples:
            continue
        found = [pair for pair in pairs if _labels_match(claimed, *pair, matcher)]
        wrong = [
            (one, other)
            for one, other in found
            if (one.quantity.value < other.quantity.value)
            == (claimed.polarity * _valence(claimed, one, other) > 0)
        ]
        if wrong and len(wrong) == len(found):
            one, other = wrong[0]
            yield claimed.written, f"{one.quantity.text}, {other.quantity.text}"


def _measured_groups(labels: Labels) -> Iterator[list[LabelledQuantity]]:
    """Yield the measured numbers of each sentence with one unit, if there are several."""
    groups: dict[tuple[int, object], list[LabelledQuantity]] = {}
    for label in labels:
        if measures(label.quantity):
            groups.setdefault((label.sentence, label.quantity.unit), []).append(label)
    yield from (group for group in groups.values() if len(group) > 1)


def _labels_match(
    claimed: Comparison, one: LabelledQuantity, other: LabelledQuantity, matcher: TermMatcher
) -> bool:
    """Return True if the labels of two numbers match the two sides of a comparison, in this order."""
    both = terms_of(claimed.target) & terms_of(claimed.standard)
    sides = [
        tuple(token for token in side if token[0] not in both) for side in (claimed.target, claimed.standard)
    ]
    labels = (
        (one.own_terms, other.own_terms),
        (set(one.words), set(other.words)),
    )
    for ours, theirs in labels:
        first, second = ours - theirs, theirs - ours
        target, standard = (matcher.matched(side, first | second) for side in sides)
        if len(target & first) > len(target & second) and len(standard & second) > len(standard & first):
            return True
    return False


def _valence(claimed: Comparison, one: LabelledQuantity, other: LabelledQuantity) -> int:
    """Return -1 if the comparison is of quality and lower numbers are better, 1 otherwise."""
    if "quality" not in claimed.axes:
        return 1
    return min((VALENCE.get(word, 1) for word in one.words | other.words), default=1)
