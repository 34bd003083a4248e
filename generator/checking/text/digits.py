"""Digits."""

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache

# All digits or none, from the first one on: thousands of them are read once.
DIGITS = r"(?<!\d)(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d++)?|\d*+\.\d++|\d++)"


def decimal_of(number: str) -> Decimal:
    """Return the value of digits: 1,046 and 1046.0 are the same."""
    return Decimal(number.replace(",", ""))


_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"
# A footnote, an exponent or an index follows its word without a space; a number does not.
_ATTACHED = re.compile(rf"(?<=[^\s(\[{_RAISED}])[{_RAISED}]++")
# ① and ② count the parts of a list, unless a unit or another digit follows.
_CIRCLED = r"\u2460-\u2473\u2474-\u2487\u24ea-\u24ff\u2776-\u2793"
_ITEM = re.compile(rf"(?<![{_CIRCLED}\d])[{_CIRCLED}](?!\s?(?:[{_CIRCLED}\d%％]|per\s?cent|퍼센트|프로))")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def with_ascii_digits(text: str) -> str:
    """Return a text of the same length in which the digits of other scripts are ASCII digits.

    So are full-width percent signs, stops and commas. Superscripts behind a word or a number stay as they are
    (cm², 10⁶, footnotes), and so do the circled numbers of a list.
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
    """Return the ASCII digit or sign of the same meaning; the character itself where there is none."""
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain in {"%", ",", "."} else character
