"""Contradictory pairs of one term: spelling errors, superfluous or missing words."""

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

from rapidfuzz.distance import OSA

from indexer.glossary.pairs import Pair, Source, Tokens, contains
from indexer.glossary.vocabulary import Frequencies

CLEARLY_MORE = 2  # times as many papers
LETTERS_AN_ERROR = 4  # letters of a term per differing letter
MOST_ERRORS = 2
MOST_RIVALS = 50  # pairs of one term that are compared
LISTED: Source = "keywords"


class Side(NamedTuple):
    """One side of a pair; several pairs share the other side. `passages` is 0 for several words."""

    text: str
    tokens: Tokens
    pair: Pair
    passages: int


def without_rivals(pairs: Sequence[Pair], frequencies: Frequencies) -> list[Pair]:
    """Return the pairs without a contradictory pair that has more evidence."""
    by_term: dict[tuple[str, Tokens], list[Side]] = {}
    for pair in pairs:
        korean = Side(pair.korean, pair.korean_tokens, pair, frequencies.korean(pair.korean))
        english = Side(pair.english, pair.english_tokens, pair, frequencies.english(pair.english))
        by_term.setdefault(("ko", pair.korean_tokens), []).append(english)
        by_term.setdefault(("en", pair.english_tokens), []).append(korean)
    contradicted = {
        id(side.pair)
        for sides in by_term.values()
        for side, rival in permutations(sides[:MOST_RIVALS], 2)
        if _contradicts(rival, side)
    }
    return [pair for pair in pairs if id(pair) not in contradicted]


def _contradicts(rival: Side, side: Side) -> bool:
    """Check whether a rival has more evidence and differs by words at an end, or by one or two letters."""
    if LISTED in side.pair.sources:
        return False
    better = LISTED in rival.pair.sources or rival.pair.count >= CLEARLY_MORE * side.pair.count
    if better and (contains(rival.tokens, side.tokens) or contains(side.tokens, rival.tokens)):
        return True
    more = (rival.pair.count, rival.passages) > (side.pair.count, side.passages)
    return more and _is_near(rival.text.lower(), side.text.lower())


def _is_near(one: str, other: str) -> bool:
    """Check whether two terms differ by one or two letters, such as misspellings or misreadings."""
    errors = min(MOST_ERRORS, min(len(one), len(other)) // LETTERS_AN_ERROR)
    return one[0] == other[0] and 0 < OSA.distance(one, other, score_cutoff=errors) <= errors
