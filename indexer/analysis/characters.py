"""Character properties used by Lucene's nori tokenizer, from Unicode tables.

nori reads UTF-16: the two surrogates of a character beyond the basic plane count as letters of no script.
"""

import unicodedata
from functools import lru_cache
from itertools import pairwise

import regex

# org.apache.lucene.analysis.ko.KoreanTokenizer.isPunctuation, by general category.
PUNCTUATION = frozenset("Zs Zl Zp Cc Cf Pd Ps Pe Pc Po Sm Sc Sk So Pi Pf".split())
INTERPUNCT = "ㆍ"  # a Hangul letter that nori treats as punctuation
# Scripts that continue a run of any other script.
SHARED_SCRIPTS = frozenset({"Common", "Inherited"})
SCRIPTS = (
    *("Common", "Inherited", "Latin", "Hangul", "Han", "Hiragana", "Katakana", "Greek", "Cyrillic"),
    *("Arabic", "Hebrew", "Devanagari", "Thai", "Armenian", "Georgian", "Bengali", "Tamil", "Telugu"),
)
SCRIPT_PATTERN = regex.compile("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in SCRIPTS))
# Chinese characters that the dictionary's character classes group into one unknown word.
CHINESE_NUMERALS = frozenset("一七万三九二五億兆八六十千四百")
BEYOND_FIRST_PLANE = 0xFFFF


@lru_cache(maxsize=1 << 14)
def is_punctuation(character: str) -> bool:
    """Check whether nori discards a token that starts with `character`."""
    if character == INTERPUNCT:
        return True
    return ord(character) <= BEYOND_FIRST_PLANE and unicodedata.category(character) in PUNCTUATION


@lru_cache(maxsize=1 << 14)
def script_of(character: str) -> str:
    """Return the script of `character`; for a rare script, its block of 256 code points."""
    if ord(character) > BEYOND_FIRST_PLANE:
        return "Surrogate"
    found = SCRIPT_PATTERN.match(character)
    return (found and found.lastgroup) or f"U+{ord(character) >> 8:02X}xx"


def unknown_run_end(text: str, start: int, stop: int) -> int:
    """Return the end of the unknown word that nori reads from `start`.

    A run contains characters of one script (Common and Inherited match any), either all or no punctuation,
    either all or no digits. A Chinese character that is not a numeral is a run by itself. `stop` limits the
    run.
    """
    first = text[start]
    if script_of(first) == "Han" and first not in CHINESE_NUMERALS:
        return start + 1
    script = script_of(first)
    punctuation = is_punctuation(first)
    digit = first.isdecimal()
    end = start + 1
    while end < stop:
        character = text[end]
        other = script_of(character)
        same_script = (
            other == script
            or script in SHARED_SCRIPTS
            or other in SHARED_SCRIPTS
            or unicodedata.category(character) == "Mn"
        )
        if not same_script or (other == "Han" and character not in CHINESE_NUMERALS):
            break
        if is_punctuation(character) != punctuation or character.isdecimal() != digit:
            break
        if script in SHARED_SCRIPTS and other not in SHARED_SCRIPTS:
            script = other
        end += 1
    return end


def split_points(text: str, size: int) -> list[tuple[int, int]]:
    """Split `text` into pieces of at most `size` characters, at white space if possible."""
    cuts = [0]
    while len(text) - cuts[-1] > size:
        window_end = cuts[-1] + size
        space = max(text.rfind(" ", cuts[-1] + 1, window_end), text.rfind("\n", cuts[-1] + 1, window_end))
        cuts.append(space if space > 0 else window_end)
    cuts.append(len(text))
    return list(pairwise(cuts))
