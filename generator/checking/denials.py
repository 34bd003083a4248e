"""What only one of two denies: "did not reach" for "reached", with for without, 있었다 for 없었다."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.clauses import Bridge, Clause, Text, terms_of
from generator.checking.opposites import (
    AXIS_TERMS,
    AXIS_WORDS,
    HARDLY,
    LEAST_SHARED,
    MOST_PAIRS,
    NEARLY_AS_GOOD,
    NOT,
)
from indexer.analysis.tokens import Token

# "Left it unchanged" denies a change without a "not".
UNCHANGED = re.compile(
    r"\bunchanged\b|\b(?:remained|stayed) (?:the same|constant|stable)\b|그대로", re.IGNORECASE
)
# What a clause says of none: "no question was left without", 답하지 못한 질문은 없었다.
NONE = re.compile(
    r"^\W*(?:no\b(?! (?:less|fewer|more) than)|none of\b|not (?:one|a single)\b)"
    r"|[은는이가도] 없(?=었|다|음|습|으며|고)",
    re.IGNORECASE,
)
BEHIND = 2  # words that an English "not" denies: "not significantly improve"
LEAST_SHARE = 0.5


def denied_words(text: Text, clause: Clause) -> tuple[Token, ...]:
    """Return the words of a clause that it denies: behind an English "not", before a Korean 않."""
    found: list[Token] = []
    for match in NOT.finditer(text.text, clause.start, clause.end):
        if match[0].isascii():
            found += [token for token in clause.tokens if token[2] >= match.end()][:BEHIND]
        else:
            found += [token for token in clause.tokens if token[3] <= match.start()][-1:]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause and the words that it denies; `hardly` says that it may be read either way."""

    clause: Clause
    written: str
    denied: tuple[Token, ...]
    hardly: bool
    denials: int  # words for "not"
    of_none: bool


def statements(text: Text) -> Iterator[Statement]:
    """Yield the clauses of a text with what they deny."""
    for clause in text.clauses:
        written = text.words_of(clause)
        hardly = bool(HARDLY.search(written) or UNCHANGED.search(written))
        count, of_none = len(NOT.findall(written)), bool(NONE.search(written))
        yield Statement(clause, written, denied_words(text, clause), hardly, count, of_none)


def denials(own: Sequence[Statement], said: Sequence[Statement], bridge: Bridge) -> Iterator[tuple[str, str]]:
    """Yield words that a sentence denies or the most similar place of its sources does, with that place.

    Words of a direction are left to `opposites`. A place that shares nearly as much and agrees excuses.
    Of more than MOST_PAIRS pairs none are compared.
    """
    if len(own) * len(said) > MOST_PAIRS:
        return
    places = [(terms_of(place.clause.tokens), place) for place in said]
    for mine in own:
        if mine.hardly:
            continue
        least = max(LEAST_SHARED, LEAST_SHARE * len(terms_of(mine.clause.tokens)))
        ranked = [(bridge.shared(mine.clause.tokens, words), place) for words, place in places]
        best = max((shared for shared, _ in ranked), default=0)
        if best < least:
            continue
        good = [place for shared, place in ranked if shared >= max(least, NEARLY_AS_GOOD * best)]
        opposed = [None if place.hardly else _opposed(mine, place, bridge) for place in good]
        if all(opposed) and opposed[0]:
            yield opposed[0], good[0].written.strip()


def _opposed(own: Statement, place: Statement, bridge: Bridge) -> str | None:
    """Return the word that one of two clauses denies and the other says."""
    their_words = terms_of(place.denied) - AXIS_TERMS
    said = terms_of(place.clause.tokens) - their_words - AXIS_TERMS
    for token in own.denied:
        if not place.denied and bridge.shared((token,), said):
            return token[0]
    if own.of_none and not place.of_none and own.denials == place.denials + 1 > 1:
        for token in own.denied:  # denied twice
            if bridge.shared((token,), their_words):
                return token[0]
    if not own.denied:
        for token in own.clause.tokens:
            if token[0] not in AXIS_WORDS and bridge.shared((token,), their_words):
                return token[0]
    return None
