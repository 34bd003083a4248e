"""Formulas and names of several tokens that are one term: CO2, PM2.5, covid-19, GPT-4, X-ray.

Their tokens mean little alone: the 2 of CO2 is in most passages.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from indexer.analysis.tokens import Token

LETTER = "A-Za-zÀ-ÖØ-öø-ſͰ-Ͽ"
DIGIT = "0-9₀-₉⁰¹²³⁴-⁹"
# Letters and digits without a space. A hyphen joins any of them; a period joins digits (PM2.5) or initials.
CHAIN = re.compile(
    rf"[{LETTER}{DIGIT}]+"
    rf"(?:(?:[-‐‑–]|(?<=[{DIGIT}])\.(?=[{DIGIT}])|(?<=\b[A-Z])\.(?=[A-Z]\b))[{LETTER}{DIGIT}]+)*"
)
HYPHEN = re.compile(r"[-‐‑–.]")
LETTERS, DIGITS = re.compile(f"[{LETTER}]"), re.compile(f"[{DIGIT}]")
# A number with a unit: 5km, 10-20mg, 1990s, 3rd, 12V. D and G are no units: 3D, 5G.
UNIT = (
    r"(?i:[cdkmnpµμ]?m|[dmµμ]?l|[kmg]?hz|[kmg]?wh?|m?ah|[kmg]?pa|[kmµμn]?mol|[kmgt]?bp?s?|[kmgt]?bit|[km]?v"
    r"|[kmg]?ev|k?cal|k?da|db|ppm|ppb|rpm|bar|cc|ha|px|dpi|fps|ms|s|h|hrs?|min|sec|yrs?|wt|vol|x|am|pm|st|nd"
    r"|rd|th)|[kmµμn]?g|[A-CE-FH-Z]"
)
MEASURE = re.compile(rf"[{DIGIT}.-]+(?:{UNIT})")
# A number that counts an English word: 18-year-old, 10-fold, 3-dimensional.
COUNTED = re.compile(
    rf"[{DIGIT}.]+-(?:year|month|week|day|hour|minute|second|fold|step|point|item|way|stage|phase|level|layer"
    r"|degree|percent|dimension|factor|class|group|arm|lead)[a-z]*(?:-[a-z]+)?",
    re.IGNORECASE,
)
# Hangul and a number (코로나19), a capital and Hangul (X선).
NUMBERED = re.compile(r"(?<![가-힣])[가-힣]{2,}-?\d+(?![\d.,%A-Za-z])")
LETTERED = re.compile(r"(?<![A-Za-z0-9])[A-Z]-?(?=[가-힣])")
COUNTERS = frozenset(
    "년 월 일 시 분 초 명 개 회 차 세 살 원 대 건 번 위 층 배 쪽 권 편 장 종 주 인 호 형 급 등 점 만 억 천 "
    "백 년대 개월 시간 가지 단계 학년 퍼센트".split()
)


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
