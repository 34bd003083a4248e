"""The normal form in which texts and questions are analysed; stored texts stay as they are.

| written | analysed as |
|---|---|
| naïve, Müller, Łódź, ﬁeld, straße | naive, Muller, Lodz, field, strasse |
| ＡＩ, CO₂, m², ㎏, Ⅲ, 𝑥 | AI, CO2, m2, kg, III, x |
| soft hyphens, zero-width characters, marks of direction | nothing |
| 1,000 | 1000 |
| C++, C#, F# | cpp, csharp, fsharp |
| 女性 (Korean analyzers) | 여성 |

Superscripts after a digit (10⁶) or a longer word, fractions, trademark signs and Hangul letters are kept.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from indexer.analysis.hanja import HANJA, read_hanja
from indexer.analysis.tokens import Token

LETTERS = str.maketrans(
    dict(
        pair.split(":")
        for pair in "ß:ss ẞ:SS æ:ae Æ:AE œ:oe Œ:OE ø:o Ø:O đ:d Đ:D ð:d Ð:D þ:th Þ:Th ł:l Ł:L ħ:h ı:i".split()
    )
)
MARKED = "\u00c0-\u024f\u1e00-\u1eff"  # Latin letters beyond ASCII
MARKS = "\u0300-\u036f"
INVISIBLE = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
COMPATIBLE = (  # with a compatible form in Unicode; no fractions, trademark signs and letters of Hangul
    "\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u2070-\u209c\u2100-\u2115\u2119-\u211e\u2124-\u2149"
    "\u2160-\u217f\u2460-\u24ea\u3220-\u325f\u3280-\u33ff\ufb00-\ufb06\uffe0-\uffe6\U0001d400-\U0001d7ff"
)
FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # to ASCII
LONGEST_UNIT = 3  # letters before a raised digit: m², cm³
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
SIGNS = {",": "", "+": "p", "#": "sharp"}  # within a number, or behind the letter of a language
EDITS = re.compile(  # each alternative starts with a set of characters, which is searched fastest
    rf"[1-9](?<![0-9.,][0-9])[0-9]{{0,2}}(?:,[0-9]{{3}})+(?!,?[0-9])"
    rf"|[+#](?<=[A-Za-z].)(?<![^\W_][A-Za-z].)(?:(?<=\+)\+|(?<=#))(?![A-Za-z0-9+#])"
    rf"|[{MARKS}](?<=[A-Za-z{MARKED}].)[{MARKS}]*|[{RAISED}]+|[{MARKED}{INVISIBLE}{COMPATIBLE}]|[{HANJA}]+"
)
# Two quick searches: most texts have none of these characters, and no comma between digits.
EDITED = re.compile(rf"[+#\uff01-\uff5e{MARKED}{MARKS}{INVISIBLE}{COMPATIBLE}{HANJA}]")
COMMA = re.compile("[0-9],[0-9]")
HANJA_LETTER = re.compile(f"[{HANJA}]")
REMOVED = re.compile(f"[{INVISIBLE}{MARKS}]")


class NormalForm(NamedTuple):
    """A text in its normal form; `places` are its characters' places in the given text, None if unchanged."""

    text: str
    places: list[int] | None = None

    def given_spans(self, tokens: list[Token]) -> list[Token]:
        """Return tokens of the normal form with their spans in the given text."""
        places = self.places
        if places is None:
            return tokens
        return [(term, position, places[start], places[end - 1] + 1) for term, position, start, end in tokens]


def normal_form(text: str, *, hanja: bool) -> NormalForm:
    """Return the normal form of a composed text (NFC); `hanja` reads Hanja as Hangul."""
    if not EDITED.search(text) and not COMMA.search(text):
        return NormalForm(text)
    text = text.translate(FULL_WIDTH)
    characters, in_place = list(text), True
    for edit in EDITS.finditer(text):
        start, end = edit.span()
        if hanja or not HANJA_LETTER.match(text, start):
            edited = [*_edited(edit[0], text[max(0, start - LONGEST_UNIT - 1) : start])]
            characters[start:end] = edited
            in_place = in_place and all(len(each) == 1 for each in edited)
    normal = "".join(characters)
    if in_place:
        return NormalForm(normal)
    return NormalForm(normal, [place for place, each in enumerate(characters) for _ in each])


def _edited(written: str, before: str) -> Iterable[str]:
    """Return the new text of each character of an edit; `before` is the end of the text before it."""
    first = written[0]
    if first.isascii():
        return [SIGNS.get(each, each) for each in written]
    if HANJA_LETTER.match(first):
        return read_hanja(before + written)[len(before) :]
    if first in RAISED and (before[-1:].isdecimal() or (len(before) > LONGEST_UNIT and before.isalpha())):
        return written  # 10⁶, and the note of a word
    return map(fold, written)


@lru_cache(1 << 12)
def fold(character: str) -> str:
    """Return the compatible form of a character, without the marks of Latin letters."""
    if REMOVED.match(character):
        return ""
    decomposed = unicodedata.normalize("NFKD", character).translate(LETTERS)
    if unicodedata.combining(decomposed[-1]) and not decomposed[0].isspace():
        decomposed = "".join(each for each in decomposed if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", decomposed)
