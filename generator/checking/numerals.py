"""Numbers as they are written: in digits with multipliers, in words, as fractions, ordinals and months."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from math import prod
from typing import NamedTuple

from generator.checking.units import PARTICLE, Unit, unit_of

# All digits or none, from the first one on: thousands of them are read once.
DIGITS = r"(?<!\d)(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d++)?|\d*+\.\d++|\d++)"
# Not those of cm3, H2S, KS27; of 2e5 there are two.
NUMBER = re.compile(rf"(?:(?<![A-Za-z])|(?<=\d[Ee]))(?<!\d[.,]){DIGITS}")
# 1.2.3, of a version or a date, is neither 1.2 nor 1.23.
DOTTED = re.compile(r"(?<![A-Za-z\d.])\d++(?:\.\d++){2,}+")
# 3천억, 9만 4천, 1만 2,000: what follows a multiplier belongs to it.
KOREAN_LARGE = re.compile(
    rf"(?:{DIGITS}(?:천|백)?(?:만|억|조(?=\s?(?:원|달러|\d)))\s?)+(?:{DIGITS}(?:천|백)?)?|{DIGITS}(?:천|백)(?![가-힣]*성)"
)
KOREAN_PART = re.compile(rf"({DIGITS})(천|백)?(만|억|조)?")
KOREAN_MULTIPLIER = {"십": 10, "백": 100, "천": 1_000, "만": 10**4, "억": 10**8, "조": 10**12}
# 만 원, 천만 달러; each multiplies the next.
KOREAN_BARE = re.compile(r"(?<![가-힣\d])(?<!\d\s)[십백천만억조]{1,40}+(?=\s?(?:원|달러))")
ENGLISH_LARGE = re.compile(rf"({DIGITS})[\s-]?(hundred|thousand|million|billion|trillion)\b")
ENGLISH_MULTIPLIER = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
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
ENGLISH_WORDS = re.compile(
    rf"\b(?:{_BELOW_1000}[\s-](?:million|billion)\b(?:{_THEN}{_BELOW_MILLION}{_LARGER})?|{_BELOW_MILLION})"
)
A_PERIOD = re.compile(r"\ban?(?= (?:year|month|week|day|hour|minute)\b)")
ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 1
    )
} | {word: value for value, word in enumerate("첫째 둘째 셋째 넷째 다섯째 여섯째 일곱째 여덟째".split(), 1)}
ORDINAL = re.compile(rf"\b(?:{'|'.join(ORDINALS)})")
MONTHS = "January February March April May June July August September October November December".split()
MONTH = re.compile(
    rf"\b(?:{'|'.join(month for month in MONTHS if month not in {'May', 'March'})})\b"
    r"|(?<=[a-z] )\b(?:May|March)\b(?= \d|[,.;)]| and | to )"
)
NATIVE = {
    **{word: value for value, word in enumerate("하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열".split(), 1)},
    "한": 1,
    "두": 2,
    "세": 3,
    "네": 4,
    "석": 3,
    "넉": 4,
}
NATIVE_TENS = {"열": 10, "스물": 20, "스무": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60}
COUNTERS = "|".join(
    "명 달 건 곳 배 마리 주 살 시간 개월 개 번 차례 편 그루 대 쌍 해 가지 사람 쪽 종 차 "
    "학급 학교 나라 집단 군 기".split()
)
ABOVE_FOUR = "|".join("다섯 여섯 일곱 여덟 아홉".split())  # these need no counter behind them
KOREAN_WORDS = re.compile(
    rf"(?<![가-힣])({'|'.join(NATIVE_TENS)})?({'|'.join(NATIVE)})?(?=\s?(?:{COUNTERS}))"
    rf"|(?<![가-힣])({'|'.join(NATIVE_TENS)})?({ABOVE_FOUR}|(?<=[가-힣])[두한세네])?(?= [가-힣])"
)
DAYS = {"하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "이레": 7, "열흘": 10, "보름": 15}
DECADE = re.compile(r"\b(?:decade|century)\b")
DAY_WORDS = re.compile(rf"(?<![가-힣])(?:{'|'.join(DAYS)})(?:{PARTICLE})")  # no 하루키, 보름달
# 3분의 2; two thirds, three-quarters.
KOREAN_FRACTION = re.compile(rf"({DIGITS})\s?분의\s?({DIGITS})")
PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "tenth": 10}
ENGLISH_FRACTION = re.compile(rf"\b({'|'.join(ONES[:9])})[\s-](third|quarter|fifth|sixth|tenth)s?\b")
HALF = re.compile(r"\b(?:half|halv(?:e|es|ed|ing))\b|절반|반으로")
DOUBLE = re.compile(
    r"\b(?:twice|doubl(?:e|es|ed|ing)|twofold)\b|\b(?:thrice|tripl(?:e|es|ed|ing)|threefold)\b|갑절|곱절",
)
# Small numbers in words are rhetoric as often as counts.
LEAST_IN_WORDS = 4
SHARE, TIMES = unit_of("%"), unit_of("times")


class Numeral(NamedTuple):
    """A number where it stands; `demanded` is False for what its source need not say too."""

    value: Decimal
    start: int
    end: int
    demanded: bool = True
    unit: Unit | None = None


def plain(number: str) -> Decimal:
    """Return the value of digits: 1,046 and 1046.0 are the same."""
    return Decimal(number.replace(",", ""))


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the numbers of a text, the longer ways of writing first: a part of one may be yielded again."""
    lowered = text.lower()
    if len(lowered) != len(text):  # as of İ
        lowered = text
    for pattern, numeral in WAYS:
        for match in pattern.finditer(text if pattern is MONTH else lowered):
            if found := numeral(match):
                yield found


def _korean_fraction(match: re.Match[str]) -> Numeral | None:
    parts = plain(match[1])
    return Numeral(plain(match[2]) / parts * 100, *match.span(), unit=SHARE) if parts else None


def _english_fraction(match: re.Match[str]) -> Numeral:
    value = Decimal(WORD_VALUES[match[1]]) / PARTS[match[2]]
    return Numeral(value * 100, *match.span(), demanded=False, unit=SHARE)


def _english_words(match: re.Match[str]) -> Numeral:
    value = below = 0
    for word in re.findall("[a-z]+", match[0]):
        below += WORD_VALUES.get(word, 0)
        if word == "hundred":
            below *= 100
        elif word in ENGLISH_MULTIPLIER:
            value, below = value + below * ENGLISH_MULTIPLIER[word], 0
    value += below
    return Numeral(Decimal(value), *match.span(), demanded=value >= LEAST_IN_WORDS)


def _dotted(match: re.Match[str]) -> Numeral:
    whole, *parts = match[0].split(".")
    return Numeral(Decimal(f"{whole}.{''.join(part.zfill(9) for part in parts)}"), *match.span())


def _korean_bare(match: re.Match[str]) -> Numeral:
    return Numeral(Decimal(prod(KOREAN_MULTIPLIER[each] for each in match[0])), *match.span())


def _korean_words(match: re.Match[str]) -> Numeral | None:
    value = NATIVE_TENS.get(match[1] or match[3] or "", 0) + NATIVE.get(match[2] or match[4] or "", 0)
    return Numeral(Decimal(value), *match.span(), demanded=value >= LEAST_IN_WORDS) if value else None


def _double(match: re.Match[str]) -> Numeral:
    three = match[0].startswith(("thr", "tri"))
    return Numeral(Decimal(3 if three else 2), *match.span(), demanded=False, unit=TIMES)


def _korean_large(text: str) -> Decimal:
    total = Decimal(0)
    for digits, small, large in KOREAN_PART.findall(text):
        value = plain(digits) * KOREAN_MULTIPLIER.get(small, 1)
        total += value * KOREAN_MULTIPLIER.get(large, 1)
    return total


# In the order in which they are tried.
WAYS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Numeral | None]], ...] = (
    (KOREAN_FRACTION, _korean_fraction),
    (ENGLISH_FRACTION, _english_fraction),
    (KOREAN_LARGE, lambda m: Numeral(_korean_large(m[0]), m.start(), m.start() + len(m[0].rstrip()))),
    (ENGLISH_LARGE, lambda m: Numeral(plain(m[1]) * ENGLISH_MULTIPLIER[m[2]], *m.span())),
    (KOREAN_BARE, _korean_bare),
    (DOTTED, _dotted),
    (NUMBER, lambda m: Numeral(plain(m[0]), *m.span())),
    (ENGLISH_WORDS, _english_words),
    (A_PERIOD, lambda m: Numeral(Decimal(1), *m.span(), demanded=False)),
    (KOREAN_WORDS, _korean_words),
    (DAY_WORDS, lambda m: Numeral(Decimal(DAYS[m[0]]), *m.span(), demanded=False, unit=unit_of("days"))),
    (MONTH, lambda m: Numeral(Decimal(MONTHS.index(m[0]) + 1), *m.span(), unit=unit_of("월"))),
    (
        DECADE,
        lambda m: Numeral(
            Decimal(10 if m[0] == "decade" else 100), *m.span(), demanded=False, unit=unit_of("years")
        ),
    ),
    (ORDINAL, lambda m: Numeral(Decimal(ORDINALS[m[0]]), *m.span(), demanded=False)),
    (HALF, lambda m: Numeral(Decimal(50), *m.span(), demanded=False, unit=SHARE)),
    (DOUBLE, _double),
)
