"""Sounds of Hangul words and English spellings in one alphabet, and their distance.

    폴리머 porimx, polymer porymeR; 스케줄링 s-kejurriN, scheduling skedurriN

Capitals are sounds of one side only: R a silent r (sensor, 센서), N ng, C ch, Z sh, T th, E a silent e, Y
아이, and B, G, D the finals ㅂ, ㄱ, ㅅ. The vowels are a, e, i, o, u, x (ㅓ) and - (ㅡ).
"""

import math
import re
import unicodedata
from functools import lru_cache

from indexer.glossary.transliteration import FINALS, FIRST_SYLLABLE, MEDIALS, SYLLABLES

# In the order of Unicode's conjoining jamo.
INITIAL_SOUNDS = "g g n d d r m b b s s  j j c k t p h".split(" ")
MEDIAL_SOUNDS = "a e ya ye x e yx ye o wa we we yo u wx we wi yu - -i i".split()
# Loanwords use only seven finals (the rules of 1986); a syllable with another final is not in a loanword.
FINAL_SOUNDS = {0: "", 1: "G", 4: "n", 8: "r", 16: "m", 17: "B", 19: "D", 21: "N"}
# English spelling to sound; the longest match counts.
SPELLINGS = {
    **dict.fromkeys(("tion", "sion", "cian"), "Zxn"),
    **dict.fromkeys(("tious", "cious"), "Zxs"),
    **dict.fromkeys(("cial", "tial"), "Zxl"),
    **dict.fromkeys(("ck", "cc", "c", "k", "q", "kk"), "k"),
    **dict.fromkeys(("ce", "sce", "se"), "se"),
    **dict.fromkeys(("sci", "ci", "si"), "si"),
    **dict.fromkeys(("cy", "sy"), "sy"),
    **dict.fromkeys(("s", "ss"), "s"),
    **dict.fromkeys(("ph", "f", "ff"), "f"),
    **dict.fromkeys(("g", "gg", "gu", "gh"), "g"),
    **dict.fromkeys(("j", "dg"), "j"),
    **dict.fromkeys(("rr", "rh"), "r"),
    **dict.fromkeys(("z", "zz"), "z"),
    **dict.fromkeys(("ee", "ea", "ie"), "i"),
    **dict.fromkeys(("au", "aw", "oa"), "o"),
    **dict.fromkeys(("oo", "ew"), "u"),
    **dict.fromkeys(("ou", "ow"), "ou"),
    **dict.fromkeys(("oe", "ae"), "e"),
    **dict.fromkeys(("gn", "kn", "nn"), "n"),
    **dict.fromkeys(("ch", "tch"), "C"),
    **{double * 2: double for double in "pbtdml"},
    "gy": "jy",
    "ge": "je",
    "gi": "ji",
    "nge": "nje",
    "ngi": "nji",
    "ng": "N",
    "nk": "Nk",
    "sch": "sk",
    "sh": "Z",
    "th": "T",
    "x": "ks",
    "qu": "kw",
    "wh": "w",
    "eu": "yu",
    "ture": "CxR",
    "sure": "jxR",
    "age": "aje",
    "ware": "wexR",
}
SPELLING = re.compile("|".join(sorted(SPELLINGS, key=len, reverse=True)) + "|[a-z]")
# An r without a following vowel and a final e are silent.
MUTE_R = re.compile(r"r(?![aeiouxy])")
REPEATED = re.compile(r"(.)\1+")
VOWELS = frozenset("aeiouxY-")
MUTE_E = "E"
SPELT_VOWELS = frozenset(f"y{MUTE_E}")
# Costs of substitutions, Korean sound first; other pairs are handled below.
COSTS = {
    "bv": 0.03, "bp": 0.4, "bf": 0.5, "bw": 0.6,
    "pf": 0.03, "pb": 0.4,
    "hf": 0.4, "hj": 0.5,
    "dt": 0.4, "dT": 0.4,
    "td": 0.4, "tT": 0.1,
    "sT": 0.25, "sz": 0.2, "sC": 0.4, "sZ": 0,
    "jd": 0.4, "jT": 0.3, "jt": 0.6, "jz": 0, "jC": 0.4, "jg": 0.4, "jZ": 0.4, "js": 0.3,
    "ct": 0.3, "cC": 0, "cj": 0.4, "cs": 0.6, "cZ": 0.5, "cz": 0.5,
    "gk": 0.4, "gj": 0.5, "gC": 0.6,
    "kg": 0.4, "kC": 0.3, "kc": 0, "kh": 0.6,
    "Bp": 0, "Bb": 0.1, "Bf": 0.4, "Bv": 0.4,
    "Gk": 0, "Gg": 0.1, "GC": 0.3,
    "Dt": 0, "Dd": 0.4, "DT": 0.2, "Ds": 0.5, "DC": 0.5, "DZ": 0.5,
    "Ng": 0.3, "Nn": 0.25, "Nj": 0.6,
    "nN": 0.2, "nm": 0.6, "nr": 1,
    "mn": 0.6,
    "rR": 0.5,
    "xR": 0.15, "xa": 0.2, "xe": 0.15, "xo": 0.15, "xu": 0.15, "xi": 0.35, "xE": 0.45, "xy": 0.5,
    "aR": 0.3, "ae": 0.4, "ao": 0.3, "ax": 0.2, "au": 0.2, "ai": 0.3, "ay": 0.3,
    "wv": 0.5, "wu": 0.1, "wo": 0.2,
    "ea": 0.1, "ei": 0.35, "eo": 0.5, "eu": 0.5, "ey": 0.5, "eE": 0.3,
    "ie": 0.2, "iy": 0, "ia": 0.4, "iE": 0.3, "iu": 0.5,
    "oa": 0.25, "ou": 0.4, "ox": 0.2, "oe": 0.5,
    "uo": 0.3, "uw": 0, "uy": 0.6,
    "Yi": 0.1, "Yy": 0.1, "Ya": 0.5, "Yu": 0.5,
    "-e": 0.4, "-i": 0.3, "-u": 0.2, "-o": 0.3, "-a": 0.4, "-E": 0, "-y": 0.4, "-x": 0.2,
    "yi": 0.1, "ye": 0.3, "yj": 0.3,
}  # fmt: skip
OTHER_VOWEL, OTHER_CONSONANT, OTHER_KIND = 0.6, 1.0, 1.2
# Insertions, sounds of the Korean side only: ㅡ between consonants, 이 after a sibilant, a glide, a second
# vowel.
ADDED = {"-": 0.05, "y": 0.15, "w": 0.25, "h": 0.8}
ADDED_I, ADDED_VOWEL, ADDED_SECOND_VOWEL = 0.1, 0.5, 0.4
# Deletions, sounds of the English side only.
DROPPED = {"E": 0.0, "R": 0.05, "e": 0.25, "h": 0.4, "w": 0.4, "y": 0.4, "g": 0.7, "p": 0.8}
DROPPED_VOWEL, DROPPED_SECOND_VOWEL = 0.4, 0.2


@lru_cache(maxsize=1 << 12)
def hangul_sound(word: str) -> str | None:
    """Return the sounds of a Hangul word; None if a syllable cannot be in a loanword."""
    sounds = []
    for character in word:
        code = ord(character) - FIRST_SYLLABLE
        if not 0 <= code < SYLLABLES or code % FINALS not in FINAL_SOUNDS:
            return None
        initial, medial = divmod(code // FINALS, MEDIALS)
        sounds.append(INITIAL_SOUNDS[initial] + MEDIAL_SOUNDS[medial] + FINAL_SOUNDS[code % FINALS])
    return "".join(sounds).replace("rr", "r").replace("ai", "Y")


def english_sound(word: str) -> str:
    """Return the sounds of an English word from its spelling."""
    letters = unicodedata.normalize("NFD", word.lower())
    sound = "".join(SPELLINGS.get(found, found) for found in SPELLING.findall(letters))
    sound = MUTE_R.sub("R", REPEATED.sub(r"\1", sound)).replace("l", "r")
    if sound.endswith("e") and any(letter in VOWELS for letter in sound[:-1]):
        return sound[:-1] + MUTE_E
    return sound


def sound_distance(korean: str, english: str, far: float = math.inf) -> float:
    """Return the edit distance of two strings of sounds, divided by their mean length.

    A weighted edit distance (Wagner & Fischer, JACM 21:1, 1974); infinite beyond `far`.
    """
    length = (len(korean) + len(english)) / 2
    row = [0.0]
    for index, other in enumerate(english):
        row.append(row[-1] + _dropped(other, english[index - 1 : index]))
    for place, sound in enumerate(korean):
        added = _added(sound, korean[place - 1 : place] if place else "")
        above, row = row, [row[0] + added]
        for index, other in enumerate(english, 1):
            dropped = _dropped(other, english[index - 2 : index - 1] if index > 1 else "")
            row.append(
                min(
                    above[index - 1] + _exchanged(sound, other),
                    above[index] + added,
                    row[-1] + dropped,
                )
            )
        if min(row) > far * length:
            return math.inf
    return row[-1] / length


def _exchanged(sound: str, other: str) -> float:
    if sound == other:
        return 0.0
    cost = COSTS.get(sound + other)
    if cost is not None:
        return cost
    vowels = sound in VOWELS, other in VOWELS or other in SPELT_VOWELS
    return OTHER_KIND if vowels[0] != vowels[1] else OTHER_VOWEL if vowels[0] else OTHER_CONSONANT


def _added(sound: str, before: str) -> float:
    if sound in ADDED:
        return ADDED[sound]
    if sound not in VOWELS:
        return 1.0
    if sound == "i" and before and before in "sjce":
        return ADDED_I
    return ADDED_SECOND_VOWEL if before in VOWELS and before else ADDED_VOWEL


def _dropped(sound: str, before: str) -> float:
    if sound in DROPPED:
        return DROPPED[sound]
    if sound not in VOWELS:
        return 1.0
    return DROPPED_SECOND_VOWEL if before and before in VOWELS else DROPPED_VOWEL
