"""Signs: another bound, or the other side of a bound.

Claim "at least three paths" for the passage "at least two paths", 세 개 이상 for 두 개 이상; claim "more than
three" for "three or fewer".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from base.patterns import lazy_regex
from generator.checking.text.clauses import Text, start_of_token, starting_in, terms_of
from generator.checking.text.lexicon import MOST_PAIRS
from generator.checking.text.matching import TermMatcher
from generator.checking.text.quantities import Quantity, are_alternatives
from indexer.analysis.tokens import Token

LEAST = lazy_regex(
    r"(?:\bat (?:the very )?least|\bno (?:fewer|less) than|\ba minimum of|적어도|최소(?:한)?)\s$",
    re.IGNORECASE,
)
MOST = lazy_regex(
    r"(?:\bat (?:the very )?most|\bno more than|\bup to|\ba maximum of|많아야|최대(?:한)?)\s$", re.IGNORECASE
)
LEAST_AFTER = lazy_regex(r"\s?[가-힣]{0,3}\s?이상| or more\b")
MOST_AFTER = lazy_regex(r"\s?[가-힣]{0,3}\s?이하| or (?:fewer|less)\b")
ABOVE = lazy_regex(
    r"(?:\b(?:more|greater|larger|longer|higher|older|thicker|deeper|heavier|bigger) than"
    r"|\b(?:over|above|exceed(?:s|ed|ing)?|beyond)|\bat least|\bno (?:fewer|less) than)\s$",
    re.IGNORECASE,
)
BELOW = lazy_regex(
    r"(?:\b(?:less|fewer|smaller|shorter|lower|younger|thinner|lighter) than"
    r"|\b(?:under|below)|\bat most|\bno more than)\s$",
    re.IGNORECASE,
)
ABOVE_AFTER = lazy_regex(
    r"\s?[가-힣]{0,3}?[이가을를]?\s?(?:이상|초과|넘|보다 (?:많|크|길|높으|두꺼우)면(?!서)"
    r"|보다 (?:많은|큰|긴|높은|두꺼운))"
    r"|\s?(?:[a-z]+ )?or (?:more|older|longer|above)\b"
)
BELOW_AFTER = lazy_regex(
    r"\s?[가-힣]{0,3}?\s?(?:이하|미만|못 미|보다 (?:적으|작으|짧으|낮으|얇으)면(?!서)"
    r"|보다 (?:적은|작은|짧은|낮은|얇은))"
    r"|\s?(?:[a-z]+ )?or (?:fewer|less|younger|shorter|below)\b"
)
SHORTLY_BEFORE, SHORTLY_AFTER, FAR_AFTER, NEAR = 20, 12, 24, 40  # characters
COUNTED = 2  # words after a number that may name the counted things
BOUND_WORDS = frozenset("or more fewer less 이상 이하".split())


@dataclass(frozen=True, slots=True)
class Bound:
    """The least or greatest number of the things that it counts."""

    quantity: Quantity
    least: bool
    counted: tuple[Token, ...]


Limit = tuple[Quantity, int]  # a number, and 1 for the range above it, -1 for the range below it


def bounds(text: Text) -> Iterator[Bound]:
    """Yield the bounds of a text."""
    for clause in text.clauses:
        for quantity in text.quantities_in(clause.start, clause.end):
            before = text.text[max(0, quantity.start - SHORTLY_BEFORE) : quantity.start]
            end = quantity.unit_end
            following = text.text[end : end + SHORTLY_AFTER]
            least = bool(LEAST.search(before) or LEAST_AFTER.match(following))
            if least or MOST.search(before) or MOST_AFTER.match(following):
                after = [
                    token
                    for token in starting_in(clause.tokens, start_of_token, end, min(end + NEAR, clause.end))
                    if len(token[0]) > 1 and token[0] not in BOUND_WORDS
                ]
                begin = max(clause.start, quantity.start - NEAR) if text.korean else quantity.start
                near = starting_in(clause.tokens, start_of_token, begin, quantity.start)[-1:]
                yield Bound(quantity, least, (*near, *after[:COUNTED]))


def other_bounds(
    in_claim: Sequence[Bound], in_passages: Sequence[Bound], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield bounds of a claim for which the passages have another number of the same things."""
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return
    for claimed in in_claim:
        of_it = [
            other
            for other in in_passages
            if other.least == claimed.least and matcher.count(claimed.counted, terms_of(other.counted))
        ]
        if of_it and all(are_alternatives(claimed.quantity, other.quantity) for other in of_it):
            yield claimed.quantity.text, of_it[0].quantity.text


def limits(text: Text) -> Iterator[Limit]:
    """Yield the limits of ranges in a text."""
    for quantity in text.quantities:
        before = text.text[max(0, quantity.start - SHORTLY_BEFORE) : quantity.start]
        end = quantity.unit_end
        following = text.text[end : end + FAR_AFTER]
        above = bool(ABOVE.search(before) or ABOVE_AFTER.match(following))
        if above != bool(BELOW.search(before) or BELOW_AFTER.match(following)):
            yield quantity, 1 if above else -1


def reversed_limits(
    in_claim: Sequence[Limit],
    in_passages: Sequence[Limit],
    quantities: Sequence[Quantity],
) -> Iterator[str]:
    """Yield limits for which claim and passages have opposite ranges."""
    for claimed, side in in_claim:
        if any(claimed.same_as(other) and side != there for other, there in in_claim):
            continue  # the claim has both sides
        sides = [other for quantity, other in in_passages if claimed.same_as(quantity)]
        if sides and side not in sides and sum(claimed.same_as(other) for other in quantities) == len(sides):
            yield claimed.text


def other_limits(
    in_claim: Sequence[Limit],
    in_passages: Sequence[Limit],
    quantities: Sequence[Quantity],
) -> Iterator[tuple[str, str]]:
    """Yield limits for which the passages have another number, and this number for something else."""
    bounding = [quantity for quantity, _ in in_passages]
    for claimed, side in in_claim:
        if claimed.unit is None or not claimed.required or any(claimed.same_as(each) for each in bounding):
            continue
        rivals = [
            each
            for each, there in in_passages
            if there == side and each.unit == claimed.unit and each.required
        ]
        if len(rivals) == 1 and any(claimed.same_as(each) for each in quantities):
            yield claimed.text, rivals[0].text
