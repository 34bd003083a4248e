"""The English words of a corpus, counted as its passages go by."""

import re
from collections import Counter

WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ſ]{2,40}")
MOST_COUNTED = 400_000


class WordCounts:
    """In how many passages each English word stands, in small letters; bounded.

    What is written in capitals (DNA, mRNA) is an abbreviation and no word; the first letter may be one.
    """

    def __init__(self, most: int = MOST_COUNTED) -> None:
        """Begin with none; of more than `most` words the half in fewest passages is forgotten."""
        self._most = most
        self.counts: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Count the words of a passage."""
        self.counts.update({word.lower() for word in WORD.findall(text) if word[1:].islower()})
        if len(self.counts) > self._most:
            self.counts = Counter(dict(self.commonest(self._most // 2)))

    def commonest(self, most: int) -> list[tuple[str, int]]:
        """Return words with their counts: most passages first, then by word."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:most]
