"""Superlatives: "lowest at 10 s" for "lowest at 7 s", "gained least" for "gained most"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.clauses import Bridge, Clause, Text, start_of_token, starting_in, terms_of
from generator.checking.numbers.belonging import alike
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import AXIS_WORDS, FUNCTION_WORDS, MOST_PAIRS
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
LEAST_SHARED = 2


@dataclass(frozen=True, slots=True)
class Rank:
    """A superlative: the most (1) or the least (-1) of something, with its clause."""

    sign: int
    written: str
    near: tuple[Token, ...]
    clause: Clause
    conditions: tuple[Quantity, ...]


def ranks(text: Text) -> Iterator[Rank]:
    """Yield the superlatives of a text."""
    for clause in text.clauses:
        written = text.words_of(clause)
        pattern = ENGLISH if written.isascii() or not text.korean else KOREAN
        for match in pattern.finditer(text.text, clause.start, clause.end):
            sign = -1 if match[1] or (pattern is KOREAN and match[3]) else 1
            before = starting_in(clause.tokens, start_of_token, clause.start, match.start())
            behind = starting_in(clause.tokens, start_of_token, match.end(), clause.end)
            content = [
                token
                for token in (*before[-NEAR:], *behind[:NEAR])
                if token[0] not in FUNCTION_WORDS
                and token[0] not in AXIS_WORDS
                and not text.in_quantity(token)
                and token[0] != "가장"
            ]
            counted = tuple(
                each for each in text.quantities_in(clause.start, clause.end) if each.demanded and each.unit
            )
            yield Rank(sign, match[0], tuple(content), clause, counted)


def other_ranks(
    own: Sequence[Rank], said: Sequence[Rank], counted: Sequence[Quantity], bridge: Bridge
) -> Iterator[tuple[str, str]]:
    """Yield superlatives of a sentence that the sources turn round, or give another condition.

    `counted`: the numbers of the sources; a condition must be one of these.
    """
    if len(own) * len(said) > MOST_PAIRS:
        return
    for mine in own:
        shared = [(bridge.shared(mine.near, terms_of(other.near)), other) for other in said]
        best = max((count for count, _ in shared), default=0)
        near = [other for count, other in shared if count == best]
        if best >= LEAST_SHARED and not any(other.sign == mine.sign for other in near):
            yield mine.written, near[0].written
            continue
        if best < 1:
            continue
        conditions = [_other_condition(mine, other, counted) for other in near if other.sign == mine.sign]
        if conditions and all(conditions):
            yield conditions[0] or ("", "")


def _other_condition(own: Rank, other: Rank, counted: Sequence[Quantity]) -> tuple[str, str] | None:
    """Return the number beside a superlative for which the sources have another one there."""
    for mine in own.conditions:
        if not any(mine.same_as(each) for each in counted):
            continue
        if any(mine.same_as(each) for each in other.conditions):
            continue
        rivals = [each for each in other.conditions if alike(mine, each)]
        if rivals and not any(rival.same_as(each) for rival in rivals for each in own.conditions):
            return mine.text, rivals[0].text
    return None
