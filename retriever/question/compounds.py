"""Tokens of a question that belong together: terms of several tokens, and tokens that do not match alone.

Formulas and names of several tokens are one term: CO2, PM2.5, covid-19, GPT-4, X-ray. The tokens mean little
alone: the 2 of CO2 is in most passages. So the numbers and short words of such a term match only in the whole
term.

A single Hangul syllable directly after another token is a suffix or the rest of a compound (항생 + 제), and
a prefix is directly before its word (비 + 선형). Alone, such a syllable matches words of any meaning, so it
matches only next to that token, as in the question.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from base.patterns import lazy_regex
from indexer.analysis.tokens import TaggedToken, Token
from indexer.glossary.storage import Unit
from retriever.queries.boolean import Pattern

LETTER = "A-Za-zÀ-ÖØ-öø-ſͰ-Ͽ"
DIGIT = "0-9₀-₉⁰¹²³⁴-⁹"
# Letters and digits without a space. A hyphen joins any of them; a period joins digits (PM2.5) or initials.
CHAIN = lazy_regex(
    rf"[{LETTER}{DIGIT}]+"
    rf"(?:(?:[-‐‑–]|(?<=[{DIGIT}])\.(?=[{DIGIT}])|(?<=\b[A-Z])\.(?=[A-Z]\b))[{LETTER}{DIGIT}]+)*"
)
HYPHEN = lazy_regex(r"[-‐‑–.]")
LETTERS, DIGITS = lazy_regex(f"[{LETTER}]"), lazy_regex(f"[{DIGIT}]")
# A number with a unit: 5km, 10-20mg, 1990s, 3rd, 12V. D and G are no units: 3D, 5G.
UNIT = (
    r"(?i:[cdkmnpµμ]?m|[dmµμ]?l|[kmg]?hz|[kmg]?wh?|m?ah|[kmg]?pa|[kmµμn]?mol|[kmgt]?bp?s?|[kmgt]?bit|[km]?v"
    r"|[kmg]?ev|k?cal|k?da|db|ppm|ppb|rpm|bar|cc|ha|px|dpi|fps|ms|s|h|hrs?|min|sec|yrs?|wt|vol|x|am|pm|st|nd"
    r"|rd|th)|[kmµμn]?g|[A-CE-FH-Z]"
)
MEASURE = lazy_regex(rf"[{DIGIT}.-]+(?:{UNIT})")
# A number that counts an English word: 18-year-old, 10-fold, 3-dimensional.
COUNTED = lazy_regex(
    rf"[{DIGIT}.]+-(?:year|month|week|day|hour|minute|second|fold|step|point|item|way|stage|phase|level|layer"
    r"|degree|percent|dimension|factor|class|group|arm|lead)[a-z]*(?:-[a-z]+)?",
    re.IGNORECASE,
)
# Hangul and a number (코로나19), a capital and Hangul (X선).
NUMBERED = lazy_regex(r"(?<![가-힣])[가-힣]{2,}-?\d+(?![\d.,%A-Za-z])")
LETTERED = lazy_regex(r"(?<![A-Za-z0-9])[A-Z]-?(?=[가-힣])")
COUNTERS = frozenset(
    "년 월 일 시 분 초 명 개 회 차 세 살 원 대 건 번 위 층 배 쪽 권 편 장 종 주 인 호 형 급 등 점 만 억 천 "
    "백 년대 개월 시간 가지 단계 학년 퍼센트".split()
)
PREFIX = "XPN"
LEAST_ALONE = 3  # letters of a token of such a name that matches alone (covid, sars); in Hangul one fewer


def compounds(text: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the terms of several tokens as indices of their first and last token, in order of position.

    A term has no space. It has letters and digits (CO2, LiFePO4, H1N1, IL-6, SARS-CoV-2, 5-HT, 코로나19), a
    single letter and a word (X-ray, TNF-α, X선), or initials (U.S.A). Quantities (5km, 20년, 18-year-old) and
    words with a hyphen (real-time) do not count.

    Args:
        text: the analysed text, composed (NFC).
        tokens: its tokens in order of position. A term with one token only is left out.
    """
    rows: list[tuple[int, int]] = []
    by_start = sorted(range(len(tokens)), key=lambda place: tokens[place][2])
    starts = [tokens[place][2] for place in by_start]
    for start, end in sorted({*_chains(text), *_with_hangul(text, tokens)}):
        begun = by_start[bisect_left(starts, start) : bisect_left(starts, end)]
        inside = sorted(place for place in begun if tokens[place][3] <= end)
        if len({tokens[place][1] for place in inside}) > 1 and (not rows or rows[-1][1] < inside[0]):
            rows.append((inside[0], inside[-1]))
    return rows


def _chains(text: str) -> Iterator[tuple[int, int]]:
    for chain in CHAIN.finditer(text):
        written = chain.group()
        pieces = HYPHEN.split(written)
        if MEASURE.fullmatch(written) or COUNTED.fullmatch(written) or not LETTERS.search(written):
            continue
        lone = any(len(piece) == 1 and piece != "a" for piece in pieces)
        if DIGITS.search(written) or (len(pieces) > 1 and lone):
            yield chain.span()


def _with_hangul(text: str, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    starting = {token[2]: token for token in tokens}
    for found in NUMBERED.finditer(text):
        following = starting.get(found.end())
        if following is None or text[following[2] : following[3]] not in COUNTERS:
            yield found.span()
    for found in LETTERED.finditer(text):
        if following := starting.get(found.end()):  # a particle has no token
            yield found.start(), following[3]


def companion_patterns(tagged: Sequence[TaggedToken], units: Collection[Unit] = ()) -> dict[str, Pattern]:
    """Return the patterns of the tokens that do not match alone.

    A token that the question also has alone is left out. `units` are the terms of several tokens
    (`compounds`).
    """
    found: dict[str, Pattern] = {}
    free: set[str] = set()
    in_units: set[int] = set()  # places
    for first, last in units:
        tokens = [token for token, _ in tagged[first : last + 1]]
        pattern = tuple((token[1] - tokens[0][1], token[0]) for token in tokens)
        in_units.update(range(first, last + 1))
        found |= {token[0]: pattern for token in tokens if not _matches_alone(token[0])}
    ordered = sorted(enumerate(tagged), key=lambda pair: pair[1][0][1:3])
    token_before: Mapping[int, str] = {  # the token that ends where the token at this place starts
        place: first[0]
        for place, ((_, (first, _)), (_, (second, _))) in enumerate(pairwise(ordered), 1)
        if first[3] == second[2] and first[1] < second[1]
    }
    for place, (number, (token, tag)) in enumerate(ordered):
        term = token[0]
        if number in in_units:
            continue
        if is_syllable(term) and place in token_before:
            found.setdefault(term, ((0, token_before[place]), (1, term)))
        elif is_syllable(term) and tag == PREFIX and place + 1 in token_before:
            found.setdefault(term, ((0, term), (1, ordered[place + 1][1][0][0])))
        else:
            free.add(term)
    return {term: pattern for term, pattern in found.items() if term not in free}


def is_syllable(token: str) -> bool:
    """Check whether a token is a single Hangul syllable."""
    return len(token) == 1 and "가" <= token <= "힣"


def _matches_alone(token: str) -> bool:
    """Check whether a token of a name consists of enough letters to have a meaning alone."""
    return token.isalpha() and len(token) >= (LEAST_ALONE if token.isascii() else LEAST_ALONE - 1)
