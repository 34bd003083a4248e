"""Korean numerals in words and with multipliers, and Chinese numerals.

구십구 퍼센트, 삼점일 배, 이천삼백 명, 9만 4천, 세 배, 사흘, 三千四百; not 구조 분석 or 이천 주민.
"""

import re
from decimal import Decimal

from base.patterns import lazy_regex
from generator.checking.text.digits import DIGITS, decimal_of
from generator.checking.text.units import PARTICLE

DIGIT_VALUES = {each: value for value, each in enumerate("영일이삼사오육칠팔구")} | {"공": 0, "륙": 6}
SMALL = {"십": 10, "백": 100, "천": 1_000}
LARGE = {"만": 10**4, "억": 10**8, "조": 10**12}
NO_NUMBERS = frozenset({"만일", "천사", "만사", "백사", "천이", "천구", "백구", "오일"})  # ordinary words
_LONGER_WORDS = "백일해|삼백초|백일초|천일초|천일주|사백주"  # an illness, plants, spirits
# Places and words that are numbers only before an unmistakable counter: 이천 명, but not 이천 사람.
HOMOGRAPHS = frozenset({"이천", "사천", "구천", "일만", "이만", "오만", "천만"})
MONEY = f"(?:원(?!인)(?:권|대|어치)?|달러)(?:{PARTICLE})"  # not the first syllable of 원장, 원리
_D = f"[{''.join(DIGIT_VALUES)}]"
_UNITS = f"퍼센트|프로(?:{PARTICLE})|개월|포인트"
_MEASURES = "킬로|밀리|센티|제곱|미터|그램|리터|헥타르|[%℃°]"
_PLAIN = f"(?:명|건|개[국소사교]?|마리|년[대도생]?|시간|권)(?:{PARTICLE})"
_OTHERS = (
    "(?:자|편|곳|해|주|일|분|초|배|차례|번|회|점|쪽|그루|대|도|톤급?|종|가지|가구|세대|사람|학급)"
    f"(?:{PARTICLE})|[a-zµ]{{1,3}}(?![a-z])"
)
# Counted nouns. One syllable is a number only before _UNITS: not in 이 사람, 일 년, 사 분.
_COUNTED = f"{_UNITS}|{_MEASURES}|{MONEY}|{_PLAIN}|{_OTHERS}"
EXACT = lazy_regex(rf"\s?(?:{_UNITS})")
UNMISTAKABLE = lazy_regex(rf"\s?(?:{_UNITS}|{_MEASURES}|{MONEY}|{_PLAIN})")
OF_MONEY = lazy_regex(rf"\s?{MONEY}")
SINO_KOREAN = lazy_regex(
    rf"(?<![가-힣\d])(?<!\d\s)(?!{_LONGER_WORDS})"
    rf"(?:(?P<number>(?:{_D}|[십백천만억조]){{2,24}}+)(?:점(?P<decimals>{_D}{{1,6}}+))?(?=\s?(?:{_COUNTED}))"
    rf"|(?P<one>{_D})(?:점(?P<tenths>{_D}{{1,6}}+))?(?=\s?(?:{_UNITS}))"
    rf"|(?P<pointed>{_D})점(?P<places>{_D}{{1,6}}+)(?=\s?(?:{_COUNTED}))"
    rf"|(?P<bare>[백천만])(?=\s(?:{_PLAIN}|[자편곳회](?:{PARTICLE}))))"
)
# Not a part of a word: 三國, 十字架. A single numeral is as often a word.
_OF_CHINESE = dict(
    zip(
        "〇零一二兩两三四五六七八九十百千萬万億亿兆",
        "영영일이이이삼사오육칠팔구십백천만만억억조",
        strict=True,
    )
)
CHINESE = lazy_regex(
    rf"(?<![㐀-鿿])[{''.join(_OF_CHINESE)}]{{2,24}}+(?=[人名個个件年月日歲岁回頁页%％]|(?![㐀-鿿]))"
)
_GROUP = lazy_regex(rf"({_D})?([십백천])")
# 3천억, 9만 4천, 1만 2,000: a multiplier with the digits after it.
KOREAN_LARGE = lazy_regex(
    rf"(?:{DIGITS}(?:천|백)?(?:만|억|조(?=\s?(?:원|달러|\d)))\s?)+(?:{DIGITS}(?:천|백)?)?|{DIGITS}(?:천|백)(?![가-힣]*성)"
)
KOREAN_PART = lazy_regex(rf"({DIGITS})(천|백)?(만|억|조)?")
KOREAN_MULTIPLIER = {"십": 10, "백": 100, "천": 1_000, "만": 10**4, "억": 10**8, "조": 10**12}
# 만 원, 천만 달러: multipliers that are multiplied with each other.
KOREAN_BARE = lazy_regex(rf"(?<![가-힣\d])(?<!\d\s)[십백천만억조]{{1,40}}+(?=\s?{MONEY})")
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
ABOVE_FOUR = "|".join("다섯 여섯 일곱 여덟 아홉".split())  # need no counter
KOREAN_WORDS = lazy_regex(
    rf"(?<![가-힣])({'|'.join(NATIVE_TENS)})?({'|'.join(NATIVE)})?(?=\s?(?:{COUNTERS}))"
    rf"|(?<![가-힣])({'|'.join(NATIVE_TENS)})?({ABOVE_FOUR}|(?<=[가-힣])[두한세네])?(?= [가-힣])"
)
DAYS = {"하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "이레": 7, "열흘": 10, "보름": 15}
DAY_WORDS = lazy_regex(rf"(?<![가-힣])(?:{'|'.join(DAYS)})(?:{PARTICLE})")  # not 하루키, 보름달
# 3분의 2, 삼분의 일.
SINO_DIGITS = dict(zip("일이삼사오육칠팔구십", range(1, 11), strict=True))
KOREAN_FRACTION = lazy_regex(
    rf"({DIGITS}|(?<![가-힣])[{''.join(SINO_DIGITS)}])\s?분의\s?({DIGITS}|[{''.join(SINO_DIGITS)}](?![가-힣]{{3}}))"
)
KOREAN_AND_A_HALF = lazy_regex(
    rf"(?:(?<![가-힣])([한두세네일이삼사오])|({DIGITS}))\s?(년|달|개월|시간|주|배) ?반(?![가-힣]{{2}})"
)


def sino_korean_value(match: re.Match[str]) -> Decimal | None:
    """Return the value of a match of SINO_KOREAN; None if the syllables are no number, as in 사이."""
    whole = match["number"] or match["one"] or match["pointed"] or match["bare"]
    if _is_word(whole, match.string, match.end()):
        return None
    exact = len(whole) == 1 or bool(EXACT.match(match.string, match.end()))
    value = _whole(whole, exact=exact)
    if value is None:
        return None
    decimals = match["decimals"] or match["tenths"] or match["places"]
    digits = "".join(str(DIGIT_VALUES[each]) for each in decimals or "")
    return Decimal(f"{value}.{digits}") if digits else Decimal(value)


def chinese_value(numeral: str) -> int | None:
    """Return the value of a match of CHINESE; None if it is no number."""
    return _whole("".join(_OF_CHINESE[each] for each in numeral), exact=True)


def _is_word(syllables: str, text: str, end: int) -> bool:
    """Return True if the syllables of a number are an ordinary word before this text: 구조 분석."""
    if syllables in HOMOGRAPHS:
        return not UNMISTAKABLE.match(text, end)
    if syllables[1:] == "조":  # 일조, 사조, 구조, 백조
        return not OF_MONEY.match(text, end)
    return syllables in NO_NUMBERS


def _whole(text: str, *, exact: bool) -> int | None:
    if all(each in DIGIT_VALUES for each in text):  # digit by digit: 구구 퍼센트
        return int("".join(str(DIGIT_VALUES[each]) for each in text)) if exact else None
    if text[0] in "억조" or not {"영", "공"}.isdisjoint(text):
        return None
    total, rest = 0, text
    for name, factor in reversed(LARGE.items()):
        head, found, tail = rest.partition(name)
        if found:
            value = _below_ten_thousand(head) if head else 1
            if value is None:
                return None
            total, rest = total + value * factor, tail
    below = _below_ten_thousand(rest) if rest else 0
    return None if below is None else total + below


def _below_ten_thousand(text: str) -> int | None:
    total, place, least = 0, 0, 10_000
    while match := _GROUP.match(text, place):
        factor = SMALL[match[2]]
        if factor >= least:
            return None
        total, least, place = total + DIGIT_VALUES.get(match[1] or "일", 1) * factor, factor, match.end()
    if place == len(text):
        return total
    last = text[place:]
    return total + DIGIT_VALUES[last] if last in DIGIT_VALUES else None


def large_value(text: str) -> Decimal:
    """Return the value of a match of KOREAN_LARGE."""
    total = Decimal(0)
    for digits, small, large in KOREAN_PART.findall(text):
        value = decimal_of(digits) * KOREAN_MULTIPLIER.get(small, 1)
        total += value * KOREAN_MULTIPLIER.get(large, 1)
    return total
