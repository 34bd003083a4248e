"""The words of a corpus and their numbers of passages."""

import re
from collections import Counter

from indexer.analysis.porter import porter_stem

WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ſ]{2,40}")
LONGEST_BEGINNING = 3  # counted syllables of a Hangul word, as particles are unknown
BEGINNING = re.compile(rf"(?<![가-힣])[가-힣]{{2,{LONGEST_BEGINNING}}}")
ALL_COUNTED, ONE_IN = 1_000, 8  # passages; after them Hangul is counted in one of eight
MOST_COUNTED = 400_000


class WordCounts:
    """The number of passages of each word, at most `most` words.

    English words are counted in lower case. Words with a capital after the first letter (DNA, mRNA) are
    abbreviations and counted separately. Of Hangul words the first syllables are counted.
    """

    def __init__(self, most: int = MOST_COUNTED) -> None:
        """Create empty counts; the rarer half is dropped if there are more than `most` words."""
        self._most = most
        self.counts: Counter[str] = Counter()
        self.abbreviations: Counter[str] = Counter()
        self.beginnings: Counter[str] = Counter()
        self.passages = self.sampled = 0

    def add(self, text: str) -> None:
        """Count the words of a passage."""
        words = set(WORD.findall(text))
        ordinary = {word for word in words if word[1:].islower()}
        self.counts.update({word.lower() for word in ordinary})
        self.abbreviations.update(words - ordinary)
        if self.passages < ALL_COUNTED or self.passages % ONE_IN == 0:
            self.sampled += 1
            beginnings = set() if text.isascii() else set(BEGINNING.findall(text))
            self.beginnings.update(beginnings | {beginning[:2] for beginning in beginnings})
        self.passages += 1
        for counted in (self.counts, self.abbreviations, self.beginnings):
            if len(counted) > self._most:
                kept = dict(commonest(counted, self._most // 2))
                counted.clear()
                counted.update(kept)

    def frequencies(self) -> "Frequencies":
        """Return the frequencies of the words so far."""
        return Frequencies(self)


class Frequencies:
    """The numbers of passages of a corpus that contain a word."""

    def __init__(self, words: WordCounts) -> None:
        """Create frequencies from counts."""
        self._words = words
        self._stems: Counter[str] | None = None

    def korean(self, word: str) -> int:
        """Return the estimated number of passages with a Korean word, including particles and compounds.

        0 if it is unknown: for several words, and for a word longer than the counted syllables.
        """
        words = self._words
        return words.beginnings[word] * words.passages // max(1, words.sampled)

    def english(self, word: str) -> int:
        """Return the number of passages with an English word; 0 for several words."""
        return self._words.counts[word.lower()] + self._words.abbreviations[word]

    def stem(self, word: str) -> int:
        """Return the sum of the numbers of passages of all forms of an English word."""
        if self._stems is None:
            self._stems = Counter()
            for form, count in self._words.counts.items():
                self._stems[porter_stem(form)] += count
        return self._stems[porter_stem(word)]


def commonest(counts: "Counter[str]", most: int) -> list[tuple[str, int]]:
    """Return words with their counts: most passages first, then by word."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]
