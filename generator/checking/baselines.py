"""What a method is compared with: "A is lower than B" where the sources say that B brought it down from A's.

"Vector retrieval gave fewer errors than the graph" for 벡터 검색의 21.4%에서 8.9%로 낮아졌다.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.clauses import Bridge, Text, start_of_token, starting_in, terms_of
from generator.checking.exchanged_roles import Comparison
from generator.checking.numbers.directions import AMOUNTS
from generator.checking.numbers.quantities import Quantity
from generator.checking.opposites import AXIS_WORDS, FUNCTION_WORDS, MOST_PAIRS, Direction

TOPIC = re.compile(r"[가-힣)][은는이가] ")  # what is measured, before what it is measured of
NO_LABEL = FUNCTION_WORDS | AXIS_WORDS.keys()
LABEL = 4  # content words beside the number that a change begins with
LEAST_OF_A_LABEL = 2


@dataclass(frozen=True, slots=True)
class Baseline:
    """The words of the number that a change begins with, and where the change goes."""

    words: frozenset[str]
    sign: int
    written: str


def baselines(
    text: Text, changed: Sequence[tuple[Quantity, Quantity]], said: Sequence[Direction]
) -> Iterator[Baseline]:
    """Yield the baselines of a text: the words before a Korean number, behind an English one.

    Words that the text has in other clauses with a direction may be compared there.
    """
    if len(changed) * max(len(text.clauses), len(said)) > MOST_PAIRS:
        return
    for first, second in changed:
        for clause in text.clauses:
            if not clause.start <= first.start < clause.end:
                continue
            here = [each for each in said if each.sign and each.axis in AMOUNTS and each.clause is clause]
            if len({each.sign for each in here}) != 1:
                continue
            start, end = first.end, second.start
            if text.korean:
                topics = list(TOPIC.finditer(text.text, clause.start, first.start))
                start, end = (topics[-1].end() if topics else first.start), first.start
            beside = [
                token[0]
                for token in starting_in(clause.tokens, start_of_token, start, end)
                if token[0] not in FUNCTION_WORDS
                and token[0] not in AXIS_WORDS
                and not text.in_quantity(token)
            ]
            words = beside[-LABEL:] if text.korean else beside[:LABEL]
            label = frozenset(words)
            elsewhere = (each for each in said if each.axis in AMOUNTS and each.clause is not clause)
            if not any(len(label & terms_of(each.clause.tokens)) >= LEAST_OF_A_LABEL for each in elsewhere):
                yield Baseline(label, here[0].sign, text.words_of(clause).strip())


def better_baselines(
    own: Sequence[Comparison],
    said: Sequence[Baseline],
    compared: Sequence[Comparison],
    held: set[str],
    bridge: Bridge,
) -> Iterator[tuple[str, str]]:
    """Yield comparisons of a sentence in which the baseline of the sources comes out as what replaced it.

    A source that compares the two itself is left to `exchanged_sides`.
    """
    if len(own) * (len(said) + len(compared)) > MOST_PAIRS:
        return
    for mine in own:
        if not mine.axes & AMOUNTS or not bridge.shared(mine.than, held):
            continue
        if any(bridge.shared(mine.more, terms_of(other.than) | terms_of(other.more)) for other in compared):
            continue
        for baseline in said:
            words = baseline.words - terms_of(mine.than)
            of_it = bridge.shared(mine.more, words) >= LEAST_OF_A_LABEL
            if of_it and not bridge.shared(mine.than, words) and baseline.sign == mine.sign:
                yield mine.written, baseline.written
                break
