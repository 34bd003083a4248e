"""Sign: the opposite direction of the same theme, the thing that changes.

Claim "ice increased the swelling" for the passage "the swelling dropped". Other words of the two clauses do
not count.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.statements.directions import BE, COMPARATIVES, Direction, agrees, is_attribute
from generator.checking.text.clauses import Text, start_of_token, starting_in, terms_of
from generator.checking.text.lexicon import (
    FUNCTION_OR_DIRECTION,
    INTRANSITIVE,
    MOST_PAIRS,
    NOUN_BEFORE,
    PASSIVE,
)
from generator.checking.text.matching import TermMatcher
from indexer.analysis.english import english_term
from indexer.analysis.tokens import Token

SIZES = frozenset({"amount", "length", "width", "depth", "heat", "strength"})
# Good and bad quantities: "improved" means more of the first, less of the second.
GOOD = """
    accuracy precision recall performance score sensitivity specificity quality efficiency survival yield
    retention adherence compliance satisfaction achievement skill reliability stability sleep function success
    income
    정확도 정밀도 재현율 성능 점수 민감도 특이도 품질 효율 생존율 수량 수확량 유지율 이행률 만족도 성취 성적
    안정성 수면 기능 성공률 소득
"""
BAD = """
    error loss mortality cost risk pain failure delay burden anxiety depression loneliness burnout noise
    damage
    오류 오차 손실 사망률 비용 위험 통증 실패 지연 부담 불안 우울 외로움 소진 소음 손상
"""
VALENCE = {
    english_term(word) or word: polarity
    for words, polarity in ((GOOD, 1), (BAD, -1))
    for word in words.split()
}
PREPOSITION = re.compile(
    r"\b(?:of|in|for|with|among|at|on|after|under|between|by|from|to|than|during|within|over|as|per|against|before"
    r"|that|which|who|and|or)\b|[,;:()\d]",
    re.IGNORECASE,
)
OF = re.compile(r"\s(?:of|in|to) ", re.IGNORECASE)
AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|be|been|being|has|have|had|did|do|does|may|might|can|could|would|will|also|it|they|we)\b",
    re.IGNORECASE,
)
OPENING = re.compile(r"\s*(?:(?:and|but|while|whereas|although|though|because|the|a|an)\s+)*", re.IGNORECASE)
ADVERB = re.compile(r"\w{3,}ly|instead|again|further|too|even|still|together", re.IGNORECASE)
NOUNS = ("NNG", "NNP", "XSN", "XPN", "SL", "SN", "NR")
CASES = {"JKO", "JKS"}
TOPICS = {"은", "는"}
LONGEST_SUBJECT = 120  # characters of a clause before its verb
LONGEST = 4  # words of a theme
SHORTLY_BEFORE = 30  # characters
LEAST_SHARED = 3  # words of two contradictory clauses


@dataclass(frozen=True, slots=True)
class Theme:
    """A direction with the words for the thing that changes, and their head."""

    direction: Direction
    tokens: tuple[Token, ...]
    head: Token


def themes(text: Text, directions: Sequence[Direction]) -> Iterator[Theme]:
    """Yield the directions of a text that have a theme."""
    nouns = list(_korean_themes(text)) if text.korean else []
    for direction in directions:
        if not direction.polarity or direction.hedged:
            continue
        span = (
            _english_span(text, direction) if direction.written.isascii() else _korean_span(direction, nouns)
        )
        if span is None:
            continue
        tokens = [
            token
            for token in starting_in(text.tokens, start_of_token, *span)
            if token[0] not in FUNCTION_OR_DIRECTION
            and not token[0].isdigit()
            and not ADVERB.fullmatch(text.text, token[2], token[3])
        ]
        if tokens:
            yield Theme(direction, tuple(tokens[-LONGEST:]), tokens[-1])


def _english_span(text: Text, direction: Direction) -> tuple[int, int] | None:
    """Return the span of the theme of an English word: its object or its subject."""
    written, begin, end = text.text, direction.clause.start, direction.clause.end
    before = written[max(begin, direction.start - SHORTLY_BEFORE) : direction.start]
    if is_attribute((direction.written, 0, direction.start, direction.end), written):
        return _phrase_after(written, direction.end, end)
    if NOUN_BEFORE.search(before):
        of = OF.match(written, direction.end, end)
        return _phrase_after(written, of.end(), end) if of else None
    passive = PASSIVE.search(before) or BE.search(before)
    if (
        not passive
        and direction.written.lower() not in COMPARATIVES
        and not INTRANSITIVE.match(written, direction.end, end)
    ):
        return _phrase_after(written, direction.end, end)
    return _subject(written, begin, direction.start)


def _phrase_after(text: str, start: int, end: int) -> tuple[int, int]:
    end = min(end, start + LONGEST_SUBJECT)
    stops = (PREPOSITION.search(text, start, end), AUXILIARY.search(text, start, end))
    return start, min((stop.start() for stop in stops if stop), default=end)


def _subject(text: str, begin: int, end: int) -> tuple[int, int] | None:
    """Return the phrase before a verb up to its first preposition: "the share" of "the share of cases"."""
    if end - begin > LONGEST_SUBJECT:
        return None
    if opening := OPENING.match(text, begin, end):
        begin = opening.end()
    stop = PREPOSITION.search(text, begin, end)
    verb = AUXILIARY.search(text, begin, end)
    if stop and stop.start() - begin < 1:
        return None
    return begin, min(end, stop.start() if stop else end, verb.start() if verb else end)


def _korean_themes(text: Text) -> Iterator[tuple[int, int, int]]:
    """Yield the nouns before 을, 를, 이, 가, 은, 는: start, end, and the end of the particle."""
    tagged = text.tagged
    for place, (tag, start, end) in enumerate(tagged):
        if tag not in CASES and not (tag == "JX" and text.text[start:end] in TOPICS):
            continue
        begin, stop = start, start
        for before in range(place - 1, max(-1, place - 1 - 2 * LONGEST), -1):
            noun, first, last = tagged[before]
            if not noun.startswith(NOUNS) or begin - last > 1:
                break
            begin = first
        if begin < stop:
            yield begin, stop, end


def _korean_span(direction: Direction, nouns: Sequence[tuple[int, int, int]]) -> tuple[int, int] | None:
    """Return the last noun with such a particle before a Korean verb; None for an attribute."""
    if direction.attribute:
        return None
    place = bisect_right(nouns, direction.start, key=_end_of_particle) - 1
    if place < 0 or nouns[place][0] < direction.clause.start:
        return None
    return nouns[place][:2]


def _end_of_particle(noun: tuple[int, int, int]) -> int:
    return noun[2]


def contrary_themes(
    in_claim: Sequence[Theme], in_passages: Sequence[Theme], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield words of direction that every passage with the same theme contradicts."""
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return
    for claimed in in_claim:
        same = [other for other in in_passages if _of_one(claimed, other, matcher)]
        verdicts = [_verdict(claimed, other, matcher) for other in same]
        if same and not any(verdict is not False for verdict in verdicts):
            yield claimed.direction.written, same[0].direction.written


def unrelated_directions(
    in_claim: Sequence[Theme], in_passages: Sequence[Theme], matcher: TermMatcher
) -> set[tuple[int, int]]:
    """Return the pairs of directions, by their id, with different themes."""
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return set()
    return {
        (id(claimed.direction), id(other.direction))
        for claimed in in_claim
        for other in in_passages
        if not matcher.count(claimed.tokens, terms_of(other.tokens))
        and not matcher.count(claimed.tokens, terms_of(other.direction.near))
    }


def outdone_by_standard(
    in_claim: Sequence[Theme], in_passages: Sequence[Theme], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield words of "A is better than B" if the passages state them of B alone."""
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return
    for claimed in in_claim:
        direction = claimed.direction
        if not direction.standard or direction.negated:
            continue
        standard = tuple(token for token in direction.clause.tokens if token[0] in direction.standard)
        same = [
            other
            for other in in_passages
            if other.direction.axis == direction.axis
            and other.direction.polarity == direction.polarity
            and not other.direction.negated
            and matcher.count(direction.clause.tokens, terms_of(other.direction.clause.tokens))
            >= LEAST_SHARED
        ]
        turned = [
            other
            for other in same
            if other.direction.standard is None
            and matcher.matched(standard, terms_of(other.tokens))
            and not matcher.matched(claimed.tokens, terms_of(other.direction.clause.tokens))
        ]
        if turned and len(turned) == len(same):
            yield direction.written, turned[0].direction.written


def _of_one(claimed: Theme, other: Theme, matcher: TermMatcher) -> bool:
    """Return True if two themes contain the head of each other and their directions are comparable."""
    return bool(
        matcher.count((claimed.head,), terms_of(other.tokens))
        and matcher.count(claimed.tokens, {other.head[0]})
        and _relation(claimed, other)
    )


def _relation(claimed: Theme, other: Theme) -> int:
    """Return 1 if two directions are comparable, -1 if they are inverse to each other, 0 otherwise."""
    own, stated = claimed.direction.axis, other.direction.axis
    if own == stated or (own in SIZES and stated in SIZES):
        return 1
    if {own, stated} & SIZES and "quality" in {own, stated}:
        return VALENCE.get(claimed.head[0]) or VALENCE.get(other.head[0]) or 0
    return 0


def _verdict(claimed: Theme, other: Theme, matcher: TermMatcher) -> bool | None:
    """Return True if two themes have the same direction, False if not, None if that is open."""
    own, stated = claimed.direction, other.direction
    same = (own.polarity * _relation(claimed, other) == stated.polarity) == (own.negated == stated.negated)
    if own.standard is None and stated.standard is None:
        if same or matcher.count(own.clause.tokens, terms_of(stated.clause.tokens)) >= LEAST_SHARED:
            return same
        return None
    if own.standard is not None and stated.standard is not None:
        return agrees(own, stated, matcher) if own.axis == stated.axis else None
    if not same and matcher.count(own.clause.tokens, terms_of(stated.clause.tokens)) < LEAST_SHARED:
        return None
    # The standard that only one of two has must not be the theme of the other.
    if own.standard is None:
        rest = terms_of(stated.clause.tokens) - (stated.standard or frozenset())
        moved = matcher.matched(own.clause.tokens, set(stated.standard or ()) - rest)
    else:
        standard = tuple(token for token in own.clause.tokens if token[0] in own.standard)
        moved = matcher.matched(standard, terms_of(stated.clause.tokens))
    return None if moved else same
