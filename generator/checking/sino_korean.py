"""Sino-Korean numbers in words: 구십구 퍼센트, 삼점일 배, 이천삼백 명, 천 자."""

import re
from decimal import Decimal

DIGITS = {each: value for value, each in enumerate("영일이삼사오육칠팔구")} | {"공": 0, "륙": 6}
SMALL = {"십": 10, "백": 100, "천": 1_000}
LARGE = {"만": 10**4, "억": 10**8, "조": 10**12}
WORDS = frozenset({"만일", "천사", "만사", "백사", "천만"})  # ordinary words
_D = f"[{''.join(DIGITS)}]"
_UNITS = "퍼센트|프로(?!그|젝|토|파|필)|개월|포인트"
# Counted nouns. One syllable is a number only before _UNITS: not in 이 사람, 일 년, 사 분.
_COUNTED = (
    f"{_UNITS}|명|자(?![가-힣]{{2}})|건|개|편|곳|마리|년|해|주|일|시간|분|초|배|차례|번|회|점|쪽|권|그루|대(?!상|부|학|한)|원|달러|도"
    "|[%℃°]|[a-zµ]{1,3}(?![a-z])|킬로|미터|그램|톤|리터|헥타르|밀리|센티|종|가지|가구|세대|사람|학급"
)
SINO_KOREAN = re.compile(
    rf"(?<![가-힣\d])(?:(?P<number>(?:{_D}|[십백천만억조]){{2,24}}+)(?:점(?P<decimals>{_D}{{1,6}}+))?(?=\s?(?:{_COUNTED}))"
    rf"|(?P<one>{_D})(?:점(?P<tenths>{_D}{{1,6}}+))?(?=\s?(?:{_UNITS}))"
    rf"|(?P<pointed>{_D})점(?P<places>{_D}{{1,6}}+)(?=\s?(?:{_COUNTED}))"
    rf"|(?P<bare>[백천만])(?=\s(?:명|자|건|개|편|곳|마리|년|시간|회|권)(?![가-힣]{{2}})))"
)
_GROUP = re.compile(rf"({_D})?([십백천])")


def sino_korean_value(match: re.Match[str]) -> Decimal | None:
    """Return the value of a match of SINO_KOREAN; None where the syllables make no number, as in 사이."""
    whole = match["number"] or match["one"] or match["pointed"] or match["bare"]
    exact = len(whole) == 1 or bool(re.match(rf"\s?(?:{_UNITS})", match.string[match.end() :]))
    value = _whole(whole, exact=exact)
    if value is None:
        return None
    decimals = match["decimals"] or match["tenths"] or match["places"]
    digits = "".join(str(DIGITS[each]) for each in decimals or "")
    return Decimal(f"{value}.{digits}") if digits else Decimal(value)


def _whole(text: str, *, exact: bool) -> int | None:
    if text[0] in "억조" or text in WORDS:
        return None
    if all(each in DIGITS for each in text):  # digit by digit: 구구 퍼센트
        return int("".join(str(DIGITS[each]) for each in text)) if exact else None
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
        total, least, place = total + DIGITS.get(match[1] or "일", 1) * factor, factor, match.end()
    if place == len(text):
        return total
    last = text[place:]
    return total + DIGITS[last] if last in DIGITS else None
