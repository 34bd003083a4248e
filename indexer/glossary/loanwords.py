"""Loanwords: Hangul words that transcribe English words, such as 리튬 and lithium, 그래핀 and graphene.

Both are written in one alphabet of sounds. A word is compared with the English words of a corpus that have
nearly the same consonants, by a weighted edit distance (Wagner & Fischer, JACM 21:1, 1974). Nearly any short
Korean word sounds like some English one (이론, iron), so a word must also look foreign: a table has ten times
the log odds of each syllable in loanwords against other nouns. Costs and thresholds were fitted on the
one-word terms of the general glossary.
"""

import csv
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Indel, Levenshtein

from indexer.analysis.tokens import Analyzer
from indexer.glossary.pairs import FINALS, FIRST_SYLLABLE

SYLLABLES, MEDIALS = 11_172, 21
SYLLABLE_ODDS = Path(__file__).with_name("loanword_syllables.tsv")
# The sounds of jamo, in Unicode's order; x is ㅓ, ㅡ has no sound. Loanwords use only seven finals.
INITIAL_SOUNDS = "g g n d d r m b b s s  j j c k t p h".split(" ")
MEDIAL_SOUNDS = "a e ya ye x e yx ye o wa we we yo u wx we wi yu  i i".split(" ")
FINAL_SOUNDS = {0: "", 1: "k", 4: "n", 8: "r", 16: "m", 17: "p", 19: "t", 21: "N"}
# The sounds of English spellings; other letters are their own sound.
SPELLINGS = dict(
    pair.split(":")
    for pair in (
        "tion:sxn sion:sxn ation:eisxn tious:sxs cious:sxs ture:cx age:eji ci:si ce:se cy:sy sci:si sce:se "
        "sch:sk ch:C tch:C sh:s c:k ck:k q:k qu:kw x:ks ph:p f:p v:b th:T z:Z gu:g gh:g ge:Ge gi:Gi gy:Gy "
        "dg:j ng:N nge:nje nk:Nk kn:n wh:w rh:r ee:i ea:i ie:i au:o aw:o oa:o oo:u ou:u ow:u ew:yu eu:yu "
        "ae:e oe:e ai:ei ay:ei"
    ).split()
)
SPELLING = re.compile("|".join(sorted(SPELLINGS, key=len, reverse=True)) + "|[a-z]")
REPEATED = re.compile(r"(.)\1+")
GLIDE = re.compile("(?<=[scj])y")
LONG_VOWEL = re.compile(r"([ai])([^aeiouxyw])e$")  # date 데이트, bite 바이트
VOWEL_R = re.compile(r"[eiou]r$|[eiu]r(?![aeiouxy])")  # sensor 센서
SILENT = re.compile(r"(?<=[aeiouxyw])r(?![aeiouxyr])|(?<=[^aeiouxy])e$")
VOWELS = frozenset("aeiouxy")
# Sounds that Korean writes in several ways, and vowels that it writes for another one.
HEARD = {"G": "gj", "C": "ckj", "T": "std", "Z": "jsz", "N": "n", "n": "N"}
NEAR_VOWELS = frozenset("xa xe xo xu ea ao au ax ie iy oa uo ou wu wo yi ye ey".split())
# Consonants of one class sound alike.
CLASSES = {letter: kind[0] for kind in ("pb", "tdTscjZCGz", "kg", "m", "nN", "r") for letter in kind}
TO_CLASSES = defaultdict[int, str | None](lambda: None, {ord(each): CLASSES[each] for each in CLASSES})
EXCHANGED = {"k": "t", "t": "k"}  # c, ch and g are ambiguous
SOUND_HEARD, NEAR_VOWEL, OTHER_VOWEL, SAME_CLASS, OTHER_SOUND = 0.06, 0.15, 0.5, 0.4, 1.0
SECOND_I, SECOND_VOWEL, SINGLE_VOWEL, BREATH = 0.2, 0.25, 0.3, 0.4  # sounds of one side only

SHORTEST, LONGEST, LONG = 2, 20, 4  # syllables
FOREIGN_SHORT, FOREIGN = 40, 10  # minimal log odds of a word of two syllables, of more
CLOSE_SHORT, CLOSE, CLOSE_LONG = 0.045, 0.055, 0.1  # maximal distance
FAR = 0.2  # distances are not computed beyond this
MARGIN, WIDE_MARGIN = 0.025, 0.06  # minimal additional distance of the second-best word
RARITY = 0.002  # distance added for each halving of a word's passages
SAME_FAMILY = 0.7  # share of the shorter word common to two inflections
SHORTEST_WORD = 4
MOST_WORDS, MOST_COMPARED = 200_000, 50
SHORTEST_KEY_TO_VARY = 3
FEWEST_CONSONANTS = 2


class SpeltWord(NamedTuple):
    """An English word of the corpus: consonants, sounds, word, token and number of passages."""

    key: str
    sound: str
    word: str
    token: str
    passages: int


def spelt_words(words: Sequence[tuple[str, int]], analyzer: Analyzer) -> Iterator[SpeltWord]:
    """Yield the words with exactly one token in the index."""
    for word, count in words:
        tokens = analyzer.analyze(word) if len(word) >= SHORTEST_WORD else []
        if len(tokens) == 1:
            sound = english_sound(word)
            yield SpeltWord(consonants(sound), sound, word, tokens[0][0], count)


def hangul_sound(word: str) -> str | None:
    """Return the sounds of a Hangul word; None if a syllable cannot be in a loanword."""
    sounds = []
    for character in word:
        if (sound := _syllable_sound(character)) is None:
            return None
        sounds.append(sound)
    return GLIDE.sub("", REPEATED.sub(r"\1", "".join(sounds)))


@lru_cache(SYLLABLES)
def _syllable_sound(character: str) -> str | None:
    code = ord(character) - FIRST_SYLLABLE
    if not 0 <= code < SYLLABLES or code % FINALS not in FINAL_SOUNDS:
        return None
    initial, medial = divmod(code // FINALS, MEDIALS)
    return INITIAL_SOUNDS[initial] + MEDIAL_SOUNDS[medial] + FINAL_SOUNDS[code % FINALS]


def english_sound(word: str) -> str:
    """Return the sounds of an English word from its spelling."""
    letters = unicodedata.normalize("NFD", word.lower())
    sound = "".join(SPELLINGS.get(found, found) for found in SPELLING.findall(letters))
    sound = LONG_VOWEL.sub(
        lambda found: ("ei" if found[1] == "a" else "ai") + found[2], REPEATED.sub(r"\1", sound)
    )
    return REPEATED.sub(r"\1", SILENT.sub("", VOWEL_R.sub("x", sound)).replace("l", "r"))


def consonants(sound: str) -> str:
    """Return the classes of the consonants, without repetitions."""
    return REPEATED.sub(r"\1", sound.translate(TO_CLASSES))


@lru_cache(1 << 10)
def _english_consonants(term: str) -> str:
    return consonants(english_sound(term))


def consonant_similarity(korean: str, english: str) -> float:
    """Return how alike the consonants of two terms are, from 0 to 1: 산살바도르, San Salvador."""
    sound = hangul_sound("".join(korean.split()))
    sides = consonants(sound or ""), _english_consonants(english)
    if min(map(len, sides)) < FEWEST_CONSONANTS or sides[0][0] != sides[1][0]:
        return 0.0
    return Indel.normalized_similarity(*sides)


def find_loanword(korean: str, read: Callable[[Sequence[str]], Sequence[SpeltWord]]) -> SpeltWord | None:
    """Return the English word that a Hangul word sounds like; None if there is no clear candidate.

    `read` returns the words of the corpus for classes of consonants.
    """
    sound = hangul_sound(korean) if looks_foreign(korean) else None
    if sound is None:
        return None
    words = sorted(read(_near_keys(consonants(sound))), key=lambda word: (-word.passages, word))
    sounds = [word.sound for word in words]
    nearest = process.extract(sound, sounds, scorer=Levenshtein.distance, limit=MOST_COMPARED)
    compared = [(sound_distance(sound, words[place].sound, FAR), words[place]) for _, _, place in nearest]
    ranked = sorted((far - RARITY * word.passages.bit_length(), far, word) for far, word in compared)
    if not ranked:
        return None
    cost, distance, best = ranked[0]
    rival = next((other for other, _, word in ranked if not _is_same_family(best, word)), math.inf)
    close = CLOSE_SHORT if len(korean) <= SHORTEST else CLOSE
    if len(korean) >= LONG and rival - cost >= WIDE_MARGIN:
        close = CLOSE_LONG
    return best if distance <= close and rival - cost >= MARGIN else None


def _near_keys(key: str) -> list[str]:
    """Return a key and the keys with a class exchanged, added or dropped."""
    places = range(len(key))
    keys = {key}
    keys |= {key[:place] + EXCHANGED.get(key[place], key[place]) + key[place + 1 :] for place in places}
    if len(key) >= SHORTEST_KEY_TO_VARY:
        keys |= {key[:place] + key[place + 1 :] for place in places}
        keys |= {key[:place] + kind + key[place:] for place in (*places, len(key)) for kind in "ptkmnr"}
    return sorted({REPEATED.sub(r"\1", near) for near in keys})


def _is_same_family(word: SpeltWord, other: SpeltWord) -> bool:
    """Check for inflections of one word: same token, or mostly the same letters."""
    shorter = min(len(word.word), len(other.word))
    first = max(1, math.ceil(SAME_FAMILY * shorter))
    return word.token == other.token or word.word[:first] == other.word[:first]


def sound_distance(korean: str, english: str, far: float = math.inf) -> float:
    """Return the edit distance of two strings of sounds, divided by their mean length.

    Infinite beyond `far`.
    """
    length = (len(korean) + len(english)) / 2
    dropped = [_gap(english, place) for place in range(len(english))]
    row = [sum(dropped[:place]) for place in range(len(english) + 1)]
    for place, sound in enumerate(korean):
        added = _gap(korean, place)
        above, row = row, [row[0] + added]
        for index, other in enumerate(english):
            row.append(
                min(
                    above[index] + _exchange(sound, other), above[index + 1] + added, row[-1] + dropped[index]
                )
            )
        if min(row) > far * length:
            return math.inf
    return row[-1] / length if length else 0.0


def _exchange(sound: str, other: str) -> float:
    if sound == other:
        return 0.0
    if sound in HEARD.get(other, ""):
        return SOUND_HEARD
    if sound in VOWELS and other in VOWELS:
        return NEAR_VOWEL if sound + other in NEAR_VOWELS else OTHER_VOWEL
    is_near = sound in CLASSES and CLASSES[sound] == CLASSES.get(other)
    return SAME_CLASS if is_near else OTHER_SOUND


def _gap(sounds: str, place: int) -> float:
    sound = sounds[place]
    if sound not in VOWELS:
        return BREATH if sound in "hw" else OTHER_SOUND
    if place == 0 or sounds[place - 1] not in VOWELS:
        return SINGLE_VOWEL
    return SECOND_I if sound in "iy" else SECOND_VOWEL


def looks_foreign(korean: str) -> bool:
    """Check whether a word may be a loanword, by its length and syllables."""
    least = FOREIGN_SHORT if len(korean) <= SHORTEST else FOREIGN
    return SHORTEST <= len(korean) <= LONGEST and _foreignness(korean) >= least


def _foreignness(korean: str) -> int:
    """Return ten times the log odds of a word's syllables in loanwords."""
    syllables, finals = _syllable_odds()
    columns, total = list(FINAL_SOUNDS), 0
    for place, character in enumerate(korean, 1):
        code = ord(character) - FIRST_SYLLABLE
        if not 0 <= code < SYLLABLES or code % FINALS not in FINAL_SOUNDS:
            return -1_000
        initial, medial = divmod(code // FINALS, MEDIALS)
        total += syllables[initial][medial] + finals[place == len(korean)][columns.index(code % FINALS)]
    return total


@lru_cache(maxsize=1)
def _syllable_odds() -> tuple[list[list[int]], list[list[int]]]:
    """Read the table: initials by medials, then the finals inside a word and at its end."""
    with SYLLABLE_ODDS.open(encoding="utf-8", newline="") as lines:
        rows = [row[1:] for row in csv.reader(lines, delimiter="\t") if row[0] not in {"initial", "final"}]
    odds = [[int(value) for value in row] for row in rows]
    return odds[:-2], odds[-2:]
