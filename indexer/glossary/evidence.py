"""Evidence for a pair: its papers, its sources, the frequencies of its words, and their spelling."""

import re
from collections import Counter
from dataclasses import dataclass, field

from indexer.analysis.porter import porter_stem
from indexer.glossary.given import general_stems
from indexer.glossary.pairs import HANGUL, LATIN
from indexer.glossary.patterns.english_terms import FORMULA, is_abbreviation
from indexer.glossary.patterns.korean_side import sounds_alike
from indexer.glossary.vocabulary import Frequencies

FEWEST_LETTERS = 2
# Of 1,064 pairs 4 in 5 were right, but only 1 in 4 if one side is in more than 15 times as many passages as
# the other.
MOST_TIMES = 15
SHORTEST_MISREAD = 5  # letters of a possibly misread word
LATIN_WORD = re.compile("[a-z]+")


@dataclass(slots=True)
class Evidence:
    """The evidence for one pair; `sure` means that a single paper suffices.

    `rough` means that all of its texts may contain misread letters.
    """

    papers: set[int] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)
    written: Counter[tuple[str, str]] = field(default_factory=Counter)
    sure: bool = False
    rough: bool = True


def is_long_enough(korean: str, english: str) -> bool:
    """Check that each side has two letters: two syllables, two Latin letters or a formula (5G)."""
    return len(HANGUL.findall(korean)) >= FEWEST_LETTERS and (
        len(LATIN.findall(english)) >= FEWEST_LETTERS or FORMULA.fullmatch(english) is not None
    )


def is_believed(korean: str, english: str, found: Evidence, frequencies: Frequencies) -> bool:
    """Check that there is enough evidence for a pair, and none against it."""
    papers = len(found.papers)
    several = papers > 1 or len(found.sources) > 1
    if not found.sure and (not several or (" " not in english and "title" in found.sources)):
        return False  # a single word may be in both titles by chance
    if len(found.sources) > 1 or sounds_alike(korean, english):
        return True
    if found.rough and papers == 1 and may_be_misread(english, frequencies):
        return False
    return not is_unequal(korean, english, papers, frequencies)


def is_unequal(korean: str, english: str, papers: int, frequencies: Frequencies) -> bool:
    """Check whether one side is too frequent to have the meaning of the other: 원고, licensee.

    The accepted ratio of frequencies grows with the number of papers that give the pair.
    """
    sides = frequencies.korean(korean), frequencies.english(english)
    return max(sides) > MOST_TIMES * papers * max(min(sides), papers)


def may_be_misread(english: str, frequencies: Frequencies) -> bool:
    """Check that no other passage and no general pair contains a word of the term."""
    return not is_abbreviation(english) and any(
        len(word) >= SHORTEST_MISREAD
        and frequencies.stem(word) <= 1
        and porter_stem(word) not in general_stems()
        for word in LATIN_WORD.findall(english.lower())
    )
