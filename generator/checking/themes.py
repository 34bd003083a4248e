"""Themes of words of direction: "the swelling" in "the swelling dropped", 전력 사용 in 전력 사용을 줄였다.

"Increased the swelling" contradicts "the swelling dropped". Other words of the two clauses do not count.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.checking.clauses import Bridge, Text, start_of_token, starting_in, terms_of
from generator.checking.exchanged_roles import INTRANSITIVE, NOUN_BEFORE, PASSIVE
from generator.checking.opposites import (
    AXIS_WORDS,
    BE,
    COMPARATIVES,
    FUNCTION_WORDS,
    MOST_PAIRS,
    Direction,
    agrees,
    is_attribute,
)
from indexer.analysis.english import english_term
from indexer.analysis.tokens import Token

SIZES = frozenset({"amount", "length", "width", "depth", "heat", "strength"})
# More of the first is better, more of the second is worse: "improved" says both.
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
POLARITY = {
    english_term(word) or word: sign for words, sign in ((GOOD, 1), (BAD, -1)) for word in words.split()
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
LEAST_SHARED = 3  # words of two clauses that say the opposite


@dataclass(frozen=True, slots=True)
class Theme:
    """A direction, the words of what it is said of, and the chief one of these."""

    direction: Direction
    tokens: tuple[Token, ...]
    head: Token


def themes(text: Text, said: Sequence[Direction]) -> Iterator[Theme]:
    """Yield the directions of a text that have a theme."""
    nouns = list(_korean_themes(text)) if text.korean else []
    for direction in said:
        if not direction.sign or direction.hardly:
            continue
        span = _english(text, direction) if direction.written.isascii() else _korean(direction, nouns)
        if span is None:
            continue
        tokens = [
            token
            for token in starting_in(text.tokens, start_of_token, *span)
            if token[0] not in FUNCTION_WORDS
            and token[0] not in AXIS_WORDS
            and not token[0].isdigit()
            and not ADVERB.fullmatch(text.text, token[2], token[3])
        ]
        if tokens:
            yield Theme(direction, tuple(tokens[-LONGEST:]), tokens[-1])


def _english(text: Text, said: Direction) -> tuple[int, int] | None:
    """Return where the theme of an English word stands: its object, or its subject."""
    written, begin, end = text.text, said.clause.start, said.clause.end
    before = written[max(begin, said.start - SHORTLY_BEFORE) : said.start]
    if is_attribute((said.written, 0, said.start, said.end), written):
        return _phrase_behind(written, said.end, end)
    if NOUN_BEFORE.search(before):
        of = OF.match(written, said.end, end)
        return _phrase_behind(written, of.end(), end) if of else None
    passive = PASSIVE.search(before) or BE.search(before)
    if (
        not passive
        and said.written.lower() not in COMPARATIVES
        and not INTRANSITIVE.match(written, said.end, end)
    ):
        return _phrase_behind(written, said.end, end)
    return _subject(written, begin, said.start)


def _phrase_behind(text: str, start: int, end: int) -> tuple[int, int]:
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
    """Yield the nouns before 을, 를, 이, 가, 은, 는: begin, end, and the end of the particle."""
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


def _korean(said: Direction, nouns: Sequence[tuple[int, int, int]]) -> tuple[int, int] | None:
    """Return the last noun with such a particle before a Korean verb; none before an attribute."""
    if said.attribute:
        return None
    place = bisect_right(nouns, said.start, key=_end_of_particle) - 1
    if place < 0 or nouns[place][0] < said.clause.start:
        return None
    return nouns[place][:2]


def _end_of_particle(noun: tuple[int, int, int]) -> int:
    return noun[2]


def contrary_themes(own: Sequence[Theme], said: Sequence[Theme], bridge: Bridge) -> Iterator[tuple[str, str]]:
    """Yield words of direction of which the sources say the opposite wherever they speak of the same."""
    if len(own) * len(said) > MOST_PAIRS:
        return
    for mine in own:
        same = [other for other in said if _of_one(mine, other, bridge)]
        verdicts = [_verdict(mine, other, bridge) for other in same]
        if same and not any(verdict is not False for verdict in verdicts):
            yield mine.direction.written, same[0].direction.written


def about_others(own: Sequence[Theme], said: Sequence[Theme], bridge: Bridge) -> set[tuple[int, int]]:
    """Return the pairs of directions, by their id, that are said of different things."""
    if len(own) * len(said) > MOST_PAIRS:
        return set()
    return {
        (id(mine.direction), id(other.direction))
        for mine in own
        for other in said
        if not bridge.shared(mine.tokens, terms_of(other.tokens))
        and not bridge.shared(mine.tokens, terms_of(other.direction.near))
    }


def outdone_by_standard(
    own: Sequence[Theme], said: Sequence[Theme], bridge: Bridge
) -> Iterator[tuple[str, str]]:
    """Yield words of "A is better than B" where the sources say of B alone that it is."""
    if len(own) * len(said) > MOST_PAIRS:
        return
    for mine in own:
        direction = mine.direction
        if not direction.standard or direction.denied:
            continue
        standard = tuple(token for token in direction.clause.tokens if token[0] in direction.standard)
        same = [
            other
            for other in said
            if other.direction.axis == direction.axis
            and other.direction.sign == direction.sign
            and not other.direction.denied
            and bridge.shared(direction.clause.tokens, terms_of(other.direction.clause.tokens))
            >= LEAST_SHARED
        ]
        turned = [
            other
            for other in same
            if other.direction.standard is None
            and bridge.matched(standard, terms_of(other.tokens))
            and not bridge.matched(mine.tokens, terms_of(other.direction.clause.tokens))
        ]
        if turned and len(turned) == len(same):
            yield direction.written, turned[0].direction.written


def _of_one(own: Theme, other: Theme, bridge: Bridge) -> bool:
    if not (
        bridge.shared((own.head,), terms_of(other.tokens)) and bridge.shared(own.tokens, {other.head[0]})
    ):
        return False
    return bool(_sign(own, other))


def _sign(own: Theme, other: Theme) -> int:
    """Return 1 where two words of direction may be compared, -1 where turned round, 0 where not."""
    mine, their = own.direction.axis, other.direction.axis
    if mine == their or (mine in SIZES and their in SIZES):
        return 1
    if {mine, their} & SIZES and "quality" in {mine, their}:
        return POLARITY.get(own.head[0]) or POLARITY.get(other.head[0]) or 0
    return 0


def _verdict(own: Theme, other: Theme, bridge: Bridge) -> bool | None:
    """Return whether two themes go the same way; None if that is open."""
    mine, their = own.direction, other.direction
    same = (mine.sign * _sign(own, other) == their.sign) == (mine.denied == their.denied)
    if mine.standard is None and their.standard is None:
        if same or bridge.shared(mine.clause.tokens, terms_of(their.clause.tokens)) >= LEAST_SHARED:
            return same
        return None
    if mine.standard is not None and their.standard is not None:
        return agrees(mine, their, bridge) if mine.axis == their.axis else None
    if not same and bridge.shared(mine.clause.tokens, terms_of(their.clause.tokens)) < LEAST_SHARED:
        return None
    # What only one of two compares with is not what the other speaks of.
    if mine.standard is None:
        rest = terms_of(their.clause.tokens) - (their.standard or frozenset())
        moved = bridge.matched(mine.clause.tokens, set(their.standard or ()) - rest)
    else:
        standard = tuple(token for token in mine.clause.tokens if token[0] in mine.standard)
        moved = bridge.matched(standard, terms_of(their.clause.tokens))
    return None if moved else same
