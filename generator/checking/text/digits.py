"""Digits of every script as ASCII digits: ⁸⁴ %, ⑨⑨, ８５, ٩٩ and 𝟗𝟗 are numbers too."""

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache

# All digits from the first one on, without backtracking: thousands of digits are read once.
DIGITS = r"(?<!\d)(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d++)?|\d*+\.\d++|\d++)"


def decimal_of(number: str) -> Decimal:
    """Return the value of digits: 1,046 and 1046.0 are equal."""
    return Decimal(number.replace(",", ""))


_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"
# A footnote, an exponent or an index follows its word without a space; a number does not.
_ATTACHED = re.compile(rf"(?<=[^\s(\[{_RAISED}])[{_RAISED}]++")
# ① and ② number the items of a list, unless a unit or another digit follows.
_CIRCLED = r"\u2460-\u2473\u2474-\u2487\u24ea-\u24ff\u2776-\u2793"
_ITEM = re.compile(rf"(?<![{_CIRCLED}\d])[{_CIRCLED}](?!\s?(?:[{_CIRCLED}\d%％]|per\s?cent|퍼센트|프로))")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def with_ascii_digits(text: str) -> str:
    """Return a text of the same length with ASCII digits in place of the digits of other scripts.

    Full-width percent signs, stops and commas become ASCII too. Superscripts after a word or a number (cm²,
    10⁶, footnotes) and the circled numbers of a list are unchanged.
    """
    if text.isascii():
        return text
    kept = {
        place
        for found in (_ATTACHED, _ITEM)
        for match in found.finditer(text)
        for place in range(*match.span())
    }
    return _NOT_ASCII.sub(lambda match: match[0] if match.start() in kept else _ascii(match[0]), text)


@lru_cache(maxsize=4096)
def _ascii(character: str) -> str:
    """Return the ASCII digit or sign of the same meaning, or the character itself."""
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain in {"%", ",", "."} else character
