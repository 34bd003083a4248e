"""Transliteration check of a Korean and an English word: 다윈 and Darwin, 센서 and sensor.

Both words are converted to consonant classes; vowels, h, w, y, voicing and aspiration are ignored.
"""

import re
from functools import lru_cache

FIRST_SYLLABLE = 0xAC00
SYLLABLES = 11_172
MEDIALS, FINALS = 21, 28
# Classes: K T P S (sibilants and affricates) M N R; "-" for none. In the order of Unicode's conjoining jamo.
INITIAL_CLASSES = "KKNTTRMPPSS-SSSKTP-"
FINAL_CLASSES = "-KKKNNNTRRRRRRRRMPPTTNTTKTP-"
# Spelling to class; longer spellings are tried first.
CLASS_OF = {
    **dict.fromkeys("sch tch ch sh tz ts ce ci cy s z j ç".split(), "S"),
    **dict.fromkeys("ck c k g q".split(), "K"),
    **dict.fromkeys("th d t".split(), "T"),
    **dict.fromkeys("ph b p f v".split(), "P"),
    **dict.fromkeys("ng n ñ".split(), "N"),
    **dict.fromkeys("l r".split(), "R"),
    "m": "M",
    "x": "KS",
}
SPELLING = re.compile("|".join(sorted(CLASS_OF, key=len, reverse=True)))
REPEATED = re.compile(r"(.)\1+")
# Shorter strings match by chance.
SURE_CONSONANTS = 2
SOUNDS_ALIKE = 0.7
SOUNDS_MUCH_ALIKE = 0.8
SOUNDS_THE_SAME = 0.85


@lru_cache(maxsize=1 << 14)
def sounds_like(korean: str, english: str, share: float = SOUNDS_ALIKE) -> bool:
    """Compare the consonants: twice the longest common subsequence by the total number, at least `share`."""
    left, right = _korean_consonants(korean), _english_consonants(english)
    if min(len(left), len(right)) < SURE_CONSONANTS:
        return left == right != "" and len(korean) <= len(english) and share < SOUNDS_THE_SAME
    total = len(left) + len(right)
    return left[0] == right[0] and 2 * _common_subsequence(left, right) >= share * total


def _korean_consonants(word: str) -> str:
    classes = []
    for character in word:
        code = ord(character) - FIRST_SYLLABLE
        if 0 <= code < SYLLABLES:
            classes.append(INITIAL_CLASSES[code // (MEDIALS * FINALS)] + FINAL_CLASSES[code % FINALS])
    return REPEATED.sub(r"\1", "".join(classes).replace("-", ""))


def _english_consonants(word: str) -> str:
    return REPEATED.sub(r"\1", "".join(CLASS_OF[found] for found in SPELLING.findall(word.lower())))


def _common_subsequence(left: str, right: str) -> int:
    lengths = [0] * (len(right) + 1)
    for one in left:
        diagonal = 0
        for index, other in enumerate(right, 1):
            above = lengths[index]
            lengths[index] = diagonal + 1 if one == other else max(above, lengths[index - 1])
            diagonal = above
    return lengths[-1]
