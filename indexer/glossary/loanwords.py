"""Loanwords: Hangul words that transcribe English words, such as 리튬 and lithium, 그래핀 and graphene.

The words of a corpus are found by their consonants first, then by the distance of all sounds. Nearly any
short Korean word sounds like some English one (이론, iron), so a word must also look foreign:
loanword_syllables.tsv contains ten times the log odds of each syllable in loanwords against other nouns. The
table and thresholds were fitted on 390 loanwords and names and 1,342 other nouns.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from indexer.analysis.tokens import Analyzer
from indexer.glossary.sounds import english_sound, hangul_sound, sound_distance
from indexer.glossary.transliteration import FINALS, FIRST_SYLLABLE, MEDIALS, SYLLABLES

SYLLABLE_ODDS = Path(__file__).with_name("loanword_syllables.tsv")
FINAL_CODES = (0, 1, 4, 8, 16, 17, 19, 21)  # order of the table's columns
SHORTEST = 2  # syllables
LONGEST = 20
# Minimal log odds of a foreign word: of two syllables, of more syllables.
FOREIGN_SHORT, FOREIGN = 40, 10
CLOSE_SHORT, CLOSE = 0.06, 0.075  # maximal distance
LONG, CLOSE_LONG = 4, 0.12  # minimal syllables and maximal distance if no other word is near
FAR = 0.2  # distances are not computed beyond this
MARGIN, WIDE_MARGIN = 0.015, 0.06  # minimal additional distance of the second-best word
RARITY = 0.002  # distance added for each halving of a word's passages
SAME_FAMILY = 0.7  # share of the shorter word common to two inflections
SHORTEST_WORD = 4
MOST_WORDS = 200_000
MOST_COMPARED = 50

# Consonants that loanwords exchange are one class; a key may differ by one class of the others.
CLASSES = dict(zip("pbBfvdDtTsZzjcCgGkmnNr", "PPPPPTTTTTTTTTTKKKMNNR", strict=True))
EXCHANGED = {"K": "T", "T": "K"}  # c, ch and g are ambiguous
SHORTEST_KEY_TO_VARY = 3
REPEATED = re.compile(r"(.)\1+")
# For a first comparison: classes of consonants, one class of sibilants, and one of vowels.
COARSE = str.maketrans(
    CLASSES | dict.fromkeys("szZjcC", "S") | dict.fromkeys("aeiouxY", "a") | dict.fromkeys("-REywh")
)


class SpeltWord(NamedTuple):
    """An English word of the corpus: key, sounds, token and number of passages."""

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
            yield SpeltWord(sound_key(sound), sound, word, tokens[0][0], count)


def loanword(korean: str, read: Callable[[Sequence[str]], Sequence[SpeltWord]]) -> SpeltWord | None:
    """Return the English word that a Hangul word sounds like; None if there is no clear candidate.

    `read` returns the words of the corpus for keys.
    """
    sound = hangul_sound(korean) if looks_foreign(korean) else None
    if sound is None:
        return None
    # Most frequent first, compared before others with the same classes.
    words = sorted(read(near_keys(sound_key(sound))), key=attrgetter("passages"), reverse=True)
    nearest = process.extract(
        _coarse(sound),
        [_coarse(word.sound) for word in words],
        scorer=Levenshtein.distance,
        limit=MOST_COMPARED,
    )
    compared = [(sound_distance(sound, words[place].sound, FAR), words[place]) for _, _, place in nearest]
    ranked = sorted(
        (distance - RARITY * word.passages.bit_length(), distance, word) for distance, word in compared
    )
    if not ranked:
        return None
    cost, distance, best = ranked[0]
    rival = next((other for other, _, word in ranked if not _same_family(best, word)), cost + WIDE_MARGIN)
    margin = rival - cost
    close = CLOSE_SHORT if len(korean) <= SHORTEST else CLOSE
    if len(korean) >= LONG and margin >= WIDE_MARGIN:
        close = CLOSE_LONG
    return best if distance <= close and margin >= MARGIN else None


def looks_foreign(korean: str) -> bool:
    """Check whether a word may be a loanword, by its length and syllables."""
    least = FOREIGN_SHORT if len(korean) <= SHORTEST else FOREIGN
    return SHORTEST <= len(korean) <= LONGEST and foreignness(korean) >= least


def _coarse(sound: str) -> str:
    return REPEATED.sub(r"\1", sound.translate(COARSE))


def foreignness(korean: str) -> int:
    """Return ten times the log odds of a word's syllables in loanwords."""
    syllables, finals = _syllable_odds()
    total = 0
    for place, character in enumerate(korean, 1):
        code = ord(character) - FIRST_SYLLABLE
        if not 0 <= code < SYLLABLES or code % FINALS not in FINAL_CODES:
            return -1_000
        initial, medial = divmod(code // FINALS, MEDIALS)
        total += syllables[initial][medial]
        total += finals[place == len(korean)][FINAL_CODES.index(code % FINALS)]
    return total


@lru_cache(maxsize=1)
def _syllable_odds() -> tuple[list[list[int]], list[list[int]]]:
    """Read the table: initials × medials, then the finals inside a word and at its end."""
    with SYLLABLE_ODDS.open(encoding="utf-8", newline="") as lines:
        rows = [row[1:] for row in csv.reader(lines, delimiter="\t") if row[0] not in {"initial", "final"}]
    odds = [[int(value) for value in row] for row in rows]
    return odds[:-2], odds[-2:]


def sound_key(sound: str) -> str:
    """Return the classes of the consonants, without repetitions."""
    return REPEATED.sub(r"\1", "".join(CLASSES.get(letter, "") for letter in sound))


def near_keys(key: str) -> list[str]:
    """Return a key and the keys of similar sounds: a class exchanged, added or dropped."""
    keys = {key}
    for place, kind in enumerate(key):
        if kind in EXCHANGED:
            keys.add(key[:place] + EXCHANGED[kind] + key[place + 1 :])
    if len(key) >= SHORTEST_KEY_TO_VARY:
        keys |= {key[:place] + key[place + 1 :] for place in range(len(key))}
        keys |= {key[:place] + kind + key[place:] for place in range(len(key) + 1) for kind in "PTKMNR"}
    return sorted({REPEATED.sub(r"\1", near) for near in keys})


def _same_family(word: SpeltWord, other: SpeltWord) -> bool:
    """Check for inflections of one word: same token, or mostly the same letters."""
    common = next(
        (place for place, (one, two) in enumerate(zip(word.word, other.word, strict=False)) if one != two),
        min(len(word.word), len(other.word)),
    )
    return word.token == other.token or common >= SAME_FAMILY * min(len(word.word), len(other.word))
