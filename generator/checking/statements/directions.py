"""Words of direction in a text: axis, polarity, negation, and the words around them.

"Costs did not fall" has the direction *fall* of the axis "amount", with polarity -1, negated.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from base.patterns import lazy_regex
from generator.checking.text.clauses import Clause, Text, opens_sentence, terms_of
from generator.checking.text.lexicon import AXIS_WORDS, FUNCTION_OR_DIRECTION, HEDGE, NEGATION, NO_EFFECT
from generator.checking.text.matching import TermMatcher
from indexer.analysis.tokens import TaggedWord, Token

# Ambiguous words of one syllable, and the characters that must follow them.
ONLY_BEFORE = {"북": "쪽부", "남": "쪽부", "동": "쪽부", "서": "쪽부", "길": "어었게고며"}
# Words of direction in these forms only: 커지다 and 크다, but not the adverb 크게; 덜어내다.
ONLY_AS = {"lift": ("lifts", "lifted", "lifting"), "크": ("커", "컸", "클"), "덜": ("덜었", "덜어", "더는")}
BOUND = lazy_regex(r" than \d")  # "more than 50" and "less than half" are numbers
BOUND_IN_WORDS = lazy_regex(
    r" than (?:about |around )?(?:half|halv|twice|doubl|tripl|quadrupl|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|an? (?:third|quarter|fifth|tenth|half))"
)
BOUNDING = frozenset("more less fewer".split())
# Up and down are directions after a verb of motion: pushed up, went down.
PARTICLE_VERB = lazy_regex(
    r"\b(?:go|goes|going|gone|went|push\w*|dr[io]v\w*|bring|brings|brought|mov\w*|com\w+|came|edg\w*|forc\w*|creep\w*|crept"
    r"|nudg\w*|tick\w*|send|sent)(?: \w+){0,3} $",
    re.IGNORECASE,
)
# Before a word of direction: "hardly fell" is "did not fall".
BARELY = lazy_regex(r"\b(?:hardly|barely|scarcely)(?: any)? $", re.IGNORECASE)
KOREAN_BARELY = lazy_regex(r"거의 (?:[가-힣]+ )?$")
COMPARED = lazy_regex(
    r"\bthan\b(?! (?:\d|half\b|twice\b|a (?:third|quarter)))|\b(?:twice|half|times) as \w+(?: \w+){0,3} as\b"
    r"|\b(?:times|half) (?:that|those) (?:of|in|for|with|at)\b"
    r"|\bcompared (?:with|to)\b|\bagainst\b|\bversus\b"
    r"|의 (?=(?:약 |거의 )?(?:(?:[두세네]|다섯|\d{1,4}(?:\.\d{1,4})?)\s?배|절반|갑절|곱절))"
    r"|보다(?![가-힣])|에 비해|에 견주어|대비",
    re.IGNORECASE,
)
COMPARATIVES = frozenset(
    "more less fewer higher lower greater larger smaller better worse stronger weaker longer shorter".split()
)
BE = lazy_regex(
    r"\b(?:is|are|was|were|be|been|being|became|become|remained|stayed) (?:\w+ly )?$", re.IGNORECASE
)
ENDS_A_PHRASE = lazy_regex(
    r"\W*$|[,;.)]| (?:than|in|at|for|with|by|on|after|among|and|when|if|of|to)\b", re.IGNORECASE
)
DETERMINERS = frozenset("a an any the significant significantly further".split())
WITHOUT = lazy_regex(r"\bwithout (?:(?:an?|any|the) )?$")
SHORTLY_BEFORE = 30  # characters
LONGEST_VERB = 5  # tagged parts
WINDOW = 4  # tokens before a word of direction, and in English after it
KOREAN_WINDOW = 1  # in Korean: 늘어난 매출


@dataclass(frozen=True, slots=True)
class Direction:
    """A word of direction in its clause."""

    axis: str
    polarity: int  # 0: no change and no difference
    written: str
    near: tuple[Token, ...]
    clause: Clause
    negated: bool
    hedged: bool
    standard: frozenset[str] | None = None  # terms of the standard of a comparison
    phrase: tuple[str, str] | None = None  # with the next word
    beside: tuple[Token, ...] = ()  # the two previous words and the next one
    start: int = 0  # of the word in its text
    end: int = 0
    barely: bool = False
    attribute: bool = False  # of the next noun: higher doses, 높은 집단


def directions(text: Text) -> list[Direction]:
    """Return the words of direction of a text, in order."""
    found = []
    verbs = {start: place for place, (_, start, _) in enumerate(text.tagged)}
    for clause in text.clauses:
        words = text.words_of(clause)
        hedged, standard = bool(HEDGE.search(words)), standard_of(text, clause)
        if NO_EFFECT.search(words):
            near = tuple(token for token in clause.tokens if token[0] not in AXIS_WORDS)
            found.append(
                Direction(
                    "amount", 0, words.strip(), near, clause, negated=False, hedged=hedged, standard=standard
                )
            )
        content = [
            place
            for place, (term, *_) in enumerate(clause.tokens)
            if term not in FUNCTION_OR_DIRECTION and not term.isdigit()
        ]
        for place, token in enumerate(clause.tokens):
            axis = AXIS_WORDS.get(token[0]) or AXIS_WORDS.get(text.text[token[2] : token[3]])
            if axis and _is_direction(token, text.text):
                before, after = _words_around(text, clause, place, content)
                following = next((term for term, *_ in clause.tokens[place + 1 :] if term != "쪽"), None)
                negated = _is_negated(token, clause, text.text)
                found.append(
                    Direction(
                        *axis,
                        written=text.text[token[2] : token[3]],
                        near=(*before, *after),
                        clause=clause,
                        negated=negated,
                        hedged=hedged,
                        standard=standard,
                        phrase=(token[0], following) if following else None,
                        beside=(*before[-2:], *after[:1]),
                        start=token[2],
                        end=token[3],
                        barely=_is_barely(token, clause, text.text, negated=negated),
                        attribute=is_attribute(token, text.text)
                        or _is_adnominal(text.tagged, verbs.get(token[2])),
                    )
                )
    return found


def _words_around(
    text: Text, clause: Clause, place: int, content: Sequence[int]
) -> tuple[list[Token], list[Token]]:
    """Return the content words before and after a word of direction, from their places in the clause.

    Words before an English attribute or before "without" do not belong to the direction.
    """
    token = clause.tokens[place]
    first, last = bisect_left(content, place), bisect_right(content, place)
    window = WINDOW if token[0].isascii() else KOREAN_WINDOW
    after = [clause.tokens[each] for each in content[last : last + window]]
    near = max(clause.start, token[2] - SHORTLY_BEFORE)
    without = token[0].isascii() and WITHOUT.search(text.text, near, token[2])
    if without or is_attribute(token, text.text):
        return [], after
    return [clause.tokens[each] for each in content[max(0, first - WINDOW) : first]], after


def _is_adnominal(tagged: Sequence[TaggedWord], place: int | None) -> bool:
    """Return True if a Korean verb, a place of the tagged words, modifies the noun after it: 높은 집단."""
    if place is None:
        return False
    for number in range(place, min(place + LONGEST_VERB, len(tagged))):
        if "ETM" in tagged[number][0]:
            return True
        if number + 1 < len(tagged) and tagged[number + 1][1] > tagged[number][2]:
            return False
    return False


def is_attribute(token: Token, text: str) -> bool:
    """Return True for an English comparative before its noun: "fewer events", not "was higher in"."""
    if text[token[2] : token[3]].lower() not in COMPARATIVES:
        return False
    before = text[max(0, token[2] - SHORTLY_BEFORE) : token[2]]
    return not BE.search(before) and not ENDS_A_PHRASE.match(text, token[3])


def _is_negated(token: Token, clause: Clause, text: str) -> bool:
    """Return True if a negation precedes an English word, or follows a Korean one."""
    if token[0].isascii():
        before = text[clause.start : token[2]].split()[-4:]
        negated = NEGATION.search(" ".join(before))
        if negated is None:
            return False
        # "Without lamps fell" negates the lamps, "without a fall" and "without reducing" the change.
        if negated[0].lower() == "without":
            return before[-1] == negated[0] or (before[-2:-1] == [negated[0]] and before[-1] in DETERMINERS)
        return negated[0].lower() != "no" or negated[0] in before[-2:]
    return bool(NEGATION.search(text[token[3] : min(token[3] + 7, clause.end)]))


def _is_barely(token: Token, clause: Clause, text: str, *, negated: bool) -> bool:
    """Return True for "hardly fell" and 거의 낮아지지 않았다."""
    before = text[max(clause.start, token[2] - SHORTLY_BEFORE) : token[2]]
    if token[0].isascii():
        return bool(BARELY.search(before))
    return negated and bool(KOREAN_BARELY.search(before))


def standard_of(text: Text, clause: Clause) -> frozenset[str] | None:
    """Return the terms of the standard of a comparison: the words after "than" or before 보다."""
    match = COMPARED.search(text.text, clause.start, clause.end)
    if not match:
        return None
    if match[0].isascii():
        return frozenset(token[0] for token in clause.tokens if token[2] >= match.end())
    before = [token for token in clause.tokens if token[3] <= match.start()]
    words = text.text[clause.start : match.start()].split()[-2:]
    begin = match.start() - len(" ".join(words))
    return frozenset(token[0] for token in before if token[2] >= begin)


def _is_direction(token: Token, text: str) -> bool:
    """Return True unless the word is part of a name, such as East Sea, or of a number: more than 50."""
    written = text[token[2] : token[3]]
    if written == "double" and text.startswith(" the ", token[3]):
        return False
    if written in {"up", "down"}:
        return bool(PARTICLE_VERB.search(text[max(0, token[2] - SHORTLY_BEFORE) : token[2]]))
    if written[0].isupper() and not opens_sentence(text, token[2]):
        return False
    if BOUND.match(text, token[3]) or (written in BOUNDING and BOUND_IN_WORDS.match(text, token[3])):
        return False
    if token[0] in ONLY_AS and not written.startswith(ONLY_AS[token[0]]):
        return False
    following = ONLY_BEFORE.get(written)
    return following is None or text[token[3] : token[3] + 1] in following


def agrees(claimed: Direction, other: Direction, matcher: TermMatcher) -> bool | None:
    """Return True if two directions agree, False if they contradict each other, None if that is open."""
    if other.hedged:
        return None
    if claimed.polarity == 0:
        return True if other.polarity == 0 else None
    if other.polarity == 0:
        return claimed.negated
    same = (claimed.polarity == other.polarity) == (claimed.negated == other.negated)
    if claimed.standard is None and other.standard is None:
        return same
    if claimed.standard is None or other.standard is None:
        return None if not same else True
    standard = tuple(token for token in claimed.clause.tokens if token[0] in claimed.standard)
    rest = tuple(token for token in claimed.clause.tokens if token[0] not in claimed.standard)
    others = terms_of(other.clause.tokens) - other.standard
    kept = bool(matcher.count(standard, set(other.standard) - others))
    moved = bool(matcher.count(standard, others) and matcher.count(rest, set(other.standard)))
    if kept == moved:
        return None
    return same == kept
