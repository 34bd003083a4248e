"""Numbers as written: digits, words, fractions, shares, multiples, ordinals and months.

"1.4 million", "thirty-six", "two thirds", "six in ten", "twice", 3.4k, 절반, 열두.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from math import prod
from typing import NamedTuple

from base.patterns import lazy_regex
from generator.checking.text.digits import DIGITS, decimal_of
from generator.checking.text.korean_numerals import (
    CHINESE,
    COUNTERS,
    DAY_WORDS,
    DAYS,
    KOREAN_AND_A_HALF,
    KOREAN_BARE,
    KOREAN_FRACTION,
    KOREAN_LARGE,
    KOREAN_MULTIPLIER,
    KOREAN_WORDS,
    NATIVE,
    NATIVE_TENS,
    SINO_DIGITS,
    SINO_KOREAN,
    chinese_value,
    large_value,
    sino_korean_value,
)
from generator.checking.text.units import Unit, unit_of

# Not the digits of cm3, H2S, KS27; 2e5 has two numbers.
NUMBER = lazy_regex(rf"(?:(?<![A-Za-z])|(?<=\d[Ee]))(?<!\d[.,]){DIGITS}")
# A version or a date: 1.2.3 differs from 1.2 and from 1.23.
DOTTED = lazy_regex(r"(?<![A-Za-z\d.])\d++(?:\.\d++){2,}+")
ENGLISH_LARGE = lazy_regex(rf"({DIGITS})[\s-]?(hundred|thousand|million|billion|trillion)\b")
ENGLISH_MULTIPLIER = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
# 3.4k, 5M rows; not a temperature (300K) or a concentration (5M NaCl).
SUFFIXED = lazy_regex(rf"(?<![A-Za-z])(?<!\d[.,])({DIGITS})(k|bn|[KMB](?=[ -][a-z]+s\b))(?![A-Za-z0-9])")
SUFFIXES = {"k": 1_000, "K": 1_000, "M": 10**6, "B": 10**9, "bn": 10**9}
ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
WORD_VALUES = {word: value for value, word in enumerate(ONES, 1)} | {
    word: value for value, word in zip(range(20, 100, 10), TENS, strict=True)
}
_BELOW_100 = rf"(?:(?:{'|'.join(TENS)})(?:[\s-](?:{'|'.join(ONES[:9])}))?|(?:{'|'.join(reversed(ONES))}))\b"
_THEN = r"[\s-](?:and\s)?"
_BELOW_1000 = rf"{_BELOW_100}(?:[\s-]hundred\b(?:{_THEN}{_BELOW_100}(?![\s-]hundred))?)?"
_LARGER = r"(?![\s-](?:thousand|million|billion))"
_BELOW_MILLION = rf"{_BELOW_1000}(?:[\s-]thousand\b(?:{_THEN}{_BELOW_1000}{_LARGER})?)?"
_POINT = rf"(?:\spoint((?:[\s-](?:zero|oh|{'|'.join(ONES[:9])})\b)+))?"
ENGLISH_WORDS = lazy_regex(
    rf"\b(?:{_BELOW_1000}[\s-](?:million|billion)\b(?:{_THEN}{_BELOW_MILLION}{_LARGER})?|{_BELOW_MILLION}"
    rf"|zero(?=\spoint)){_POINT}"
)
DOZEN = lazy_regex(rf"\b(?:(half a)|(an?|{'|'.join(ONES)}|{DIGITS})) dozen\b")
A_PERIOD = lazy_regex(r"\ban?(?= (?:year|month|week|day|hour|minute)\b)")
ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 1
    )
} | {word: value for value, word in enumerate("첫째 둘째 셋째 넷째 다섯째 여섯째 일곱째 여덟째".split(), 1)}
ORDINAL = lazy_regex(rf"\b(?:{'|'.join(ORDINALS)})(?!s\b)")
MONTHS = "January February March April May June July August September October November December".split()
MONTH = lazy_regex(
    rf"\b(?:{'|'.join(month for month in MONTHS if month not in {'May', 'March'})})\b"
    r"|(?<=[a-z] )\b(?:May|March)\b(?= \d|[,.;)]| and | to )"
)
DECADE = lazy_regex(r"\b(?:decade|century)\b")
# Shares: six in ten, one out of every four, six hens in ten were; 열 중 여섯, 10명 중 6명.
MOST_OF_A_SHARE = 100
SMALL_WORDS = WORD_VALUES | NATIVE | NATIVE_TENS | {"a hundred": 100, "one hundred": 100, "백": 100}
_SMALL = (
    rf"(?<![\d.,])\d{{1,3}}(?![\d.,]*\d)|\b(?:a hundred|one hundred|{'|'.join([*TENS, *reversed(ONES)])})\b"
)
_SMALL_DIGITS = r"(?<![\d.,])\d{1,3}(?![\d.,]*\d)"
_PERIOD_OR_UNIT = r"(?!\s?[%℃°]| (?:year|month|week|day|hour|minute|second|per\s?cent)|-)"
_FINITE = r"(?= (?:was|were|is|are|has|have|had|did|do|does|could|can|got|went|remained|\w+ed)\b|\s?[,.;)]|$)"
N_IN_M = lazy_regex(
    rf"(?P<part>{_SMALL}) (?P<noun>[a-z-]{{1,20}} ){{0,2}}(?P<of>in|out of)(?: every)? (?P<whole>{_SMALL})"
    rf"{_PERIOD_OR_UNIT}(?(noun){_FINITE})"
)
_NATIVE = rf"(?:{'|'.join(sorted(NATIVE_TENS, key=len, reverse=True))}|{'|'.join(NATIVE)}|백)"
_SMALL_KOREAN = rf"{_SMALL_DIGITS}|(?<![가-힣]){_NATIVE}"
M_OF_WHICH_N = lazy_regex(
    rf"(?P<whole>{_SMALL_KOREAN})\s?(?:{COUNTERS})?\s?(?P<of>중|가운데)(?:에서?)?\s?"
    rf"(?P<part>{_SMALL_KOREAN})(?=\s?(?:{COUNTERS})|[이가은는에]|\s|$)"
)
PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_PARTS = "|".join(part for part in PARTS if part != "half")
ENGLISH_FRACTION = lazy_regex(
    rf"\b({'|'.join(ONES[:9])})[\s-]({_PARTS})s?\b"
    rf"|\b(?:(?<=by )|(?<=to )|(?<=than )|(?<=about )|(?<=nearly )|(?<=almost ))an? ({_PARTS})\b"
    rf"|\ban? ({_PARTS}) (?=of|less|more|fewer|lower|higher|smaller|larger)"
)
VULGAR_FRACTION = lazy_regex(rf"({DIGITS})?\s?([¼½¾⅐-⅞])")
ENCLOSED = lazy_regex(
    r"[\u2469-\u2473\u247d-\u2487\u3251-\u325f\u32b1-\u32bf](?=\s?(?:[%％]|per\s?cent|퍼센트))"
)
# Not the first half of a year and not a half-life.
HALF = lazy_regex(
    r"(?<!first )(?<!second )(?<!other )(?<!latter )(?<!latter-)\bhalf\b(?!-li| an? )|\bhalv(?:e|es|ed|ing)\b"
    r"|절반|반으로|반감(?=[되하시])"
)
DOUBLE = lazy_regex(
    r"\btwice\b(?! (?:daily|weekly|monthly|a|an|per|each|every|in)\b)|\bdoubl(?:e|es|ed|ing)\b(?!-)"
    r"|\btwofold\b|갑절|곱절|배증"
)
TRIPLE = lazy_regex(
    r"\b(?:thrice|tripl(?:e|es|ed|ing)|treble[sd]?|threefold)\b(?! (?:therapy|regimen|test)\b)"
)
QUADRUPLE = lazy_regex(r"\b(?:quadrupl(?:es|ed|ing)|fourfold)\b")
_PERIODS = "years?|months?|weeks?|days?|hours?|minutes?|점"
# A year and a half, two and a half years; 한 달 반, 1년 반.
AND_A_HALF = lazy_regex(rf"\b({'|'.join(ONES)}|an?|{DIGITS})(?: ({_PERIODS}))? and a half\b")
HALF_A_PERIOD = lazy_regex(r"\bhalf an? (hour|year|day|month|week|minute)\b")
A_HALF = Decimal("0.5")
# Smaller numbers in words are rhetorical as often as they are counts.
LEAST_IN_WORDS = 4
SHARE, TIMES = unit_of("%"), unit_of("times")


class Numeral(NamedTuple):
    """A number and its span in the text.

    `required` is False for numbers that a passage need not contain unless a unit follows: three groups, but
    not three years. `multiple` marks words for a share or a factor: half, two thirds, doubled.
    """

    value: Decimal
    start: int
    end: int
    required: bool = True
    unit: Unit | None = None
    multiple: bool = False
    shown: str = ""


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the numbers of a text, the longer forms first; a part of a number may be yielded again."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter like İ has two in lower case
        lowered = text
    yield from shares_in_words(lowered)
    for pattern, numeral in WAYS:
        for match in pattern.finditer(text if pattern in CASED else lowered):
            if found := numeral(match):
                yield found


def shares_in_words(text: str) -> Iterator[Numeral]:
    """Yield the share of "six in ten" or 열 중 여섯, at its preposition, and its two numbers.

    A passage need not contain the two numbers of a share.
    """
    for pattern in (N_IN_M, M_OF_WHICH_N):
        for match in pattern.finditer(text):
            part, whole = _value(match["part"], SMALL_WORDS), _value(match["whole"], SMALL_WORDS)
            if part < whole <= MOST_OF_A_SHARE:
                share = part / whole * 100
                yield Numeral(share, *match.span("of"), unit=SHARE, multiple=True, shown=match[0])
                yield Numeral(part, *match.span("part"), required=False)
                yield Numeral(whole, *match.span("whole"), required=False)


def _value(number: str, words: Mapping[str, int]) -> Decimal:
    """Return the value of digits or of a word; 1 for "a" and "an"."""
    return decimal_of(number) if number[-1].isdigit() else Decimal(words.get(number, 1))


def _korean_fraction(match: re.Match[str]) -> Numeral | None:
    parts, part = (_value(number, SINO_DIGITS) for number in match.groups())
    return _share(part / parts, match) if parts else None


def _english_fraction(match: re.Match[str]) -> Numeral:
    of = match[2] or match[3] or match[4]
    return _share(Decimal(WORD_VALUES[match[1] or "one"]) / PARTS[of], match)


def _share(value: Decimal, match: re.Match[str]) -> Numeral:
    return Numeral(value * 100, *match.span(), unit=SHARE, multiple=True)


def _vulgar_fraction(match: re.Match[str]) -> Numeral:
    part = Decimal(str(round(unicodedata.numeric(match[2]), 6)))
    return Numeral(decimal_of(match[1]) + part, *match.span()) if match[1] else _share(part, match)


def _and_a_half(match: re.Match[str]) -> Numeral:
    return Numeral(_value(match[1], WORD_VALUES) + A_HALF, *match.span(), unit=unit_of(match[2] or ""))


def _half_a_period(match: re.Match[str]) -> Numeral:
    return Numeral(A_HALF, *match.span(), unit=unit_of(match[1]))


def _korean_and_a_half(match: re.Match[str]) -> Numeral:
    whole = decimal_of(match[2]) if match[2] else Decimal(SINO_DIGITS.get(match[1], 0) or NATIVE[match[1]])
    return Numeral(whole + A_HALF, *match.span(), unit=unit_of(match[3]))


def _times(value: int) -> Callable[[re.Match[str]], Numeral]:
    return lambda match: Numeral(Decimal(value), *match.span(), unit=TIMES, multiple=True)


def _dozen(match: re.Match[str]) -> Numeral:
    count = match[2] or "a"
    dozens = (
        A_HALF
        if match[1]
        else decimal_of(count)
        if count[0].isdigit()
        else Decimal(WORD_VALUES.get(count, 1))
    )
    return Numeral(dozens * 12, *match.span())


def _chinese(match: re.Match[str]) -> Numeral | None:
    value = chinese_value(match[0])
    return None if value is None else Numeral(Decimal(value), *match.span())


def _sino_korean(match: re.Match[str]) -> Numeral | None:
    value = sino_korean_value(match)
    return None if value is None else Numeral(value, *match.span(), required=value >= LEAST_IN_WORDS)


def _english_words(match: re.Match[str]) -> Numeral:
    value = below = 0
    whole, _, decimals = match[0].partition(" point")
    for word in re.findall("[a-z]+", whole):
        below += WORD_VALUES.get(word, 0)
        if word == "hundred":
            below *= 100
        elif word in ENGLISH_MULTIPLIER:
            value, below = value + below * ENGLISH_MULTIPLIER[word], 0
    digits = "".join(str(WORD_VALUES.get(word, 0)) for word in re.findall("[a-z]+", decimals))
    number = Decimal(f"{value + below}.{digits}" if digits else value + below)
    return Numeral(number, *match.span(), required=number >= LEAST_IN_WORDS or bool(digits))


def _dotted(match: re.Match[str]) -> Numeral:
    whole, *parts = match[0].split(".")
    return Numeral(Decimal(f"{whole}.{''.join(part.zfill(9) for part in parts)}"), *match.span())


def _korean_bare(match: re.Match[str]) -> Numeral:
    return Numeral(Decimal(prod(KOREAN_MULTIPLIER[each] for each in match[0])), *match.span())


def _korean_words(match: re.Match[str]) -> Numeral | None:
    value = NATIVE_TENS.get(match[1] or match[3] or "", 0) + NATIVE.get(match[2] or match[4] or "", 0)
    return Numeral(Decimal(value), *match.span(), required=value >= LEAST_IN_WORDS) if value else None


CASED = frozenset({MONTH, SUFFIXED})  # patterns with capital letters
# In the order in which they are tried.
WAYS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Numeral | None]], ...] = (
    (AND_A_HALF, _and_a_half),
    (HALF_A_PERIOD, _half_a_period),
    (KOREAN_AND_A_HALF, _korean_and_a_half),
    (VULGAR_FRACTION, _vulgar_fraction),
    (ENCLOSED, lambda m: Numeral(Decimal(int(unicodedata.numeric(m[0]))), *m.span())),
    (KOREAN_FRACTION, _korean_fraction),
    (ENGLISH_FRACTION, _english_fraction),
    (KOREAN_LARGE, lambda m: Numeral(large_value(m[0]), m.start(), m.start() + len(m[0].rstrip()))),
    (ENGLISH_LARGE, lambda m: Numeral(decimal_of(m[1]) * ENGLISH_MULTIPLIER[m[2]], *m.span())),
    (SUFFIXED, lambda m: Numeral(decimal_of(m[1]) * SUFFIXES[m[2]], *m.span())),
    (DOZEN, _dozen),
    (CHINESE, _chinese),
    (KOREAN_BARE, _korean_bare),
    (SINO_KOREAN, _sino_korean),
    (DOTTED, _dotted),
    (NUMBER, lambda m: Numeral(decimal_of(m[0]), *m.span())),
    (ENGLISH_WORDS, _english_words),
    (A_PERIOD, lambda m: Numeral(Decimal(1), *m.span(), required=False)),
    (KOREAN_WORDS, _korean_words),
    (DAY_WORDS, lambda m: Numeral(Decimal(DAYS[m[0]]), *m.span(), required=False, unit=unit_of("days"))),
    (MONTH, lambda m: Numeral(Decimal(MONTHS.index(m[0]) + 1), *m.span(), unit=unit_of("월"))),
    (
        DECADE,
        lambda m: Numeral(
            Decimal(10 if m[0] == "decade" else 100), *m.span(), required=False, unit=unit_of("years")
        ),
    ),
    (ORDINAL, lambda m: Numeral(Decimal(ORDINALS[m[0]]), *m.span(), required=False)),
    (HALF, lambda m: _share(A_HALF, m)),
    (DOUBLE, _times(2)),
    (TRIPLE, _times(3)),
    (QUADRUPLE, _times(4)),
)
