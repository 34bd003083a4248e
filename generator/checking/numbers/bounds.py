"""Bounds of numbers: "at least three paths" for "at least two paths", 세 개 이상 for 두 개 이상."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.clauses import Bridge, Text, start_of_token, starting_in, terms_of
from generator.checking.numbers.belonging import alike
from generator.checking.numbers.quantities import Quantity
from indexer.analysis.tokens import Token

LEAST = re.compile(
    r"(?:\bat (?:the very )?least|\bno (?:fewer|less) than|\ba minimum of|적어도|최소(?:한)?)\s$",
    re.IGNORECASE,
)
MOST = re.compile(
    r"(?:\bat (?:the very )?most|\bno more than|\bup to|\ba maximum of|많아야|최대(?:한)?)\s$", re.IGNORECASE
)
BEHIND_LEAST = re.compile(r"\s?[가-힣]{0,3}\s?이상| or more\b")
BEHIND_MOST = re.compile(r"\s?[가-힣]{0,3}\s?이하| or (?:fewer|less)\b")
SHORTLY_BEFORE, SHORTLY_BEHIND, FAR_BEHIND, NEAR = 20, 12, 24, 40  # characters
COUNTED = 2  # words behind a number that may name what it counts
MOST_PAIRS = 10_000


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that is the least or the most of what it counts."""

    quantity: Quantity
    least: bool
    counted: tuple[Token, ...]


def bounds(text: Text) -> Iterator[Bound]:
    """Yield the numbers of a text that are bounds."""
    for clause in text.clauses:
        for quantity in text.quantities_in(clause.start, clause.end):
            before = text.text[max(0, quantity.start - SHORTLY_BEFORE) : quantity.start]
            end = quantity.start + len(quantity.text)
            behind = text.text[end : end + SHORTLY_BEHIND]
            least = bool(LEAST.search(before) or BEHIND_LEAST.match(behind))
            if least or MOST.search(before) or BEHIND_MOST.match(behind):
                after = [
                    token
                    for token in starting_in(clause.tokens, start_of_token, end, min(end + NEAR, clause.end))
                    if len(token[0]) > 1 and token[0] not in BOUND_WORDS
                ]
                begin = max(clause.start, quantity.start - NEAR) if text.korean else quantity.start
                near = starting_in(clause.tokens, start_of_token, begin, quantity.start)[-1:]
                yield Bound(quantity, least, (*near, *after[:COUNTED]))


BOUND_WORDS = frozenset("or more fewer less 이상 이하".split())


ABOVE = re.compile(
    r"(?:\b(?:more|greater|larger|longer|higher|older|thicker|deeper|heavier|bigger) than"
    r"|\b(?:over|above|exceed(?:s|ed|ing)?|beyond)|\bat least|\bno (?:fewer|less) than)\s$",
    re.IGNORECASE,
)
BELOW = re.compile(
    r"(?:\b(?:less|fewer|smaller|shorter|lower|younger|thinner|lighter) than"
    r"|\b(?:under|below)|\bat most|\bno more than)\s$",
    re.IGNORECASE,
)
BEHIND_ABOVE = re.compile(
    r"\s?[가-힣]{0,3}?[이가을를]?\s?(?:이상|초과|넘|보다 (?:많|크|길|높으|두꺼우)면(?!서)"
    r"|보다 (?:많은|큰|긴|높은|두꺼운))"
    r"|\s?(?:[a-z]+ )?or (?:more|older|longer|above)\b"
)
BEHIND_BELOW = re.compile(
    r"\s?[가-힣]{0,3}?\s?(?:이하|미만|못 미|보다 (?:적으|작으|짧으|낮으|얇으)면(?!서)"
    r"|보다 (?:적은|작은|짧은|낮은|얇은))"
    r"|\s?(?:[a-z]+ )?or (?:fewer|less|younger|shorter|below)\b"
)


def borrowed_sides(
    own: Sequence[tuple[Quantity, int]], said: Sequence[tuple[Quantity, int]], counted: Sequence[Quantity]
) -> Iterator[tuple[str, str]]:
    """Yield bounds for which the sources have another number, while they have this one for something else."""
    bounding = [quantity for quantity, _ in said]
    for mine, side in own:
        if mine.unit is None or not mine.demanded or any(mine.same_as(each) for each in bounding):
            continue
        rivals = [each for each, there in said if there == side and each.unit == mine.unit and each.demanded]
        if len(rivals) == 1 and any(mine.same_as(each) for each in counted):
            yield mine.text, rivals[0].text


def ranges(text: Text) -> Iterator[tuple[Quantity, int]]:
    """Yield the numbers of a text with the side of them that is meant: 1 above, -1 below."""
    for quantity in text.quantities:
        before = text.text[max(0, quantity.start - SHORTLY_BEFORE) : quantity.start]
        end = quantity.start + len(quantity.text)
        behind = text.text[end : end + FAR_BEHIND]
        above = bool(ABOVE.search(before) or BEHIND_ABOVE.match(behind))
        if above != bool(BELOW.search(before) or BEHIND_BELOW.match(behind)):
            yield quantity, 1 if above else -1


def other_sides(
    own: Sequence[tuple[Quantity, int]], said: Sequence[tuple[Quantity, int]], counted: Sequence[Quantity]
) -> Iterator[str]:
    """Yield numbers of which a sentence means what is above where its sources mean what is below."""
    for mine, side in own:
        if any(mine.same_as(other) and side != there for other, there in own):
            continue  # both sides are told
        sides = [other for quantity, other in said if mine.same_as(quantity)]
        if sides and side not in sides and sum(mine.same_as(other) for other in counted) == len(sides):
            yield mine.text


def other_bounds(own: Sequence[Bound], said: Sequence[Bound], bridge: Bridge) -> Iterator[tuple[str, str]]:
    """Yield bounds of a sentence for which its sources have another number of the same things."""
    if len(own) * len(said) > MOST_PAIRS:
        return
    for mine in own:
        of_it = [
            other
            for other in said
            if other.least == mine.least and bridge.shared(mine.counted, terms_of(other.counted))
        ]
        if of_it and all(alike(mine.quantity, other.quantity) for other in of_it):
            yield mine.quantity.text, of_it[0].quantity.text
