"""Pairs mined from a corpus: keyword lists in both languages, originals in brackets.

The mentions of a passage are counted by pair and kind, and the counts of several parts of a corpus add up.
Pairs and abbreviations are chosen from the counts when a version is published.
"""

import json
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar
from zlib import compress, decompress

from indexer.analysis.tokens import Analyzer
from indexer.files.schema import StoredPassage
from indexer.glossary.abbreviations import Abbreviation, Expanded, choose_long_forms, expanded_abbreviations
from indexer.glossary.brackets import bracketed_terms
from indexer.glossary.loanwords import MOST_WORDS, SpeltWord, spelt_words
from indexer.glossary.pairs import (
    LONGEST_TERM,
    Pair,
    Sighting,
    Tokens,
    korean_tokens,
    term_language,
)

WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ſ]{2,40}")
MOST_COUNTED = 1_000_000  # different items of a kind; beyond them the rarer half is dropped
LONGEST_LIST = 60  # keywords
FEWEST_UNSURE = 3  # passages with a pair whose Korean side may be incomplete


class Mentions(NamedTuple):
    """The evidence of a passage; each item counts once."""

    pairs: tuple[Sighting, ...] = ()
    abbreviations: tuple[Expanded, ...] = ()


def find_mentions(passage: StoredPassage, analyzer: Analyzer) -> Mentions:
    """Return what a passage mentions; later passages of a paper repeat its title."""
    paper = passage.paper
    parts = [passage.text] if paper is None else [passage.text, passage.title, passage.title2]
    keywords: Any = (paper or {}).get("keywords")
    listed = [each for each in keywords if isinstance(each, str)] if isinstance(keywords, list) else []
    pairs = [Sighting(*pair, "keywords") for pair in keyword_pairs(listed)]
    pairs += (found for part in parts for found in bracketed_terms(part, analyzer))
    short_enough = (pair for pair in pairs if max(len(pair.korean), len(pair.english)) <= LONGEST_TERM)
    forms = (found for part in parts for found in expanded_abbreviations(part))
    return Mentions(tuple(dict.fromkeys(short_enough)), tuple(dict.fromkeys(forms)))


def keyword_pairs(keywords: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs (Korean, English) of a list with a recognisable order, otherwise nothing.

    The languages alternate, or all terms of one language precede the same number of the other.
    """
    terms = [keyword.strip() for keyword in keywords if keyword.strip()]
    half, odd = divmod(len(terms), 2)
    if odd or half > LONGEST_LIST // 2:
        return []
    for first, second in ((terms[::2], terms[1::2]), (terms[:half], terms[half:])):
        for korean, english in ((first, second), (second, first)):
            if {*map(term_language, korean)} == {"ko"} and {*map(term_language, english)} == {"en"}:
                return list(zip(korean, english, strict=True))
    return []


Item = TypeVar("Item", bound=Hashable)


def commonest(counts: "Mapping[Item, int]", most: int) -> list[tuple[Item, int]]:
    """Return items with their counts: highest counts first, then in their own order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]


def _prune(counts: "Counter[Item]") -> None:
    if len(counts) > MOST_COUNTED:
        kept = dict(commonest(counts, MOST_COUNTED // 2))
        counts.clear()
        counts.update(kept)


class Evidence:
    """The counted mentions of a corpus, with its English words in small letters.

    Words with a capital after the first letter (DNA, mRNA) are abbreviations, and not counted as words.
    """

    def __init__(self) -> None:
        """Create evidence without passages."""
        self.pairs: Counter[Sighting] = Counter()
        self.abbreviations: Counter[Expanded] = Counter()
        self.words: Counter[str] = Counter()

    def add(self, passage: StoredPassage, mentions: Mentions) -> None:
        """Count the mentions and the words of a passage."""
        for counts, items in self._items(passage, mentions):
            counts.update(items)
            _prune(counts)

    def remove(self, passage: StoredPassage, mentions: Mentions) -> None:
        """Subtract the mentions and the words of a passage that was counted."""
        for counts, items in self._items(passage, mentions):
            counts.subtract(items)
            for item in items:
                if counts[item] <= 0:
                    del counts[item]

    def _items(
        self, passage: StoredPassage, mentions: Mentions
    ) -> "list[tuple[Counter[Any], Sequence[Hashable]]]":
        words = WORD.findall(f"{passage.title} {passage.text} {passage.title2}")
        return [
            (self.pairs, mentions.pairs),
            (self.abbreviations, mentions.abbreviations),
            (self.words, list({word.lower() for word in words if word[1:].islower()})),
        ]

    def packed(self) -> bytes:
        """Return the counts for a file."""
        tables = [
            [[*item, count] for item, count in counts.items()] for counts in (self.pairs, self.abbreviations)
        ]
        return compress(json.dumps([*tables, self.words], ensure_ascii=False).encode(), 1)

    @classmethod
    def unpacked(cls, data: bytes) -> Self:
        """Read the counts of `packed`."""
        evidence = cls()
        pairs, abbreviations, words = json.loads(decompress(data))
        evidence.pairs.update({Sighting(*item): count for *item, count in pairs})
        evidence.abbreviations.update({Expanded(*item): count for *item, count in abbreviations})
        evidence.words.update(words)
        return evidence

    def choose_pairs(self, analyzer: Analyzer) -> list[Pair]:
        """Return the pairs with enough evidence: most passages first, then by text.

        Pairs with the same tokens are one pair, in its most frequent spelling.
        """
        by_tokens: dict[tuple[Tokens, Tokens], list[Sighting]] = {}
        for seen in self.pairs:
            sides = korean_tokens(seen.korean, analyzer), tuple(t[0] for t in analyzer.analyze(seen.english))
            by_tokens.setdefault(sides, []).append(seen)
        pairs = [
            pair
            for sides, group in by_tokens.items()
            if (pair := _chosen(sides, {seen: self.pairs[seen] for seen in group})) and pair.has_tokens
        ]
        return sorted(pairs, key=lambda pair: (-pair.count, pair.korean, pair.english, pair.korean_tokens))

    def choose_abbreviations(self, analyzer: Analyzer) -> list[Abbreviation]:
        """Return the abbreviations with their most frequent long forms."""
        return choose_long_forms(self.abbreviations, analyzer, self.words)

    def choose_words(self, analyzer: Analyzer) -> list[SpeltWord]:
        """Return the words in most passages, with their sounds."""
        return list(spelt_words(commonest(self.words, MOST_WORDS), analyzer))


def _chosen(sides: tuple[Tokens, Tokens], counts: dict[Sighting, int]) -> Pair | None:
    """Return the pair of spellings with the same tokens; None without enough evidence."""
    by_kind, written = Counter[str](), Counter[tuple[str, str]]()
    for (korean, english, kind), count in counts.items():
        by_kind[kind] += count
        written[korean, english] += count
    if set(by_kind) == {"unsure"} and by_kind["unsure"] < FEWEST_UNSURE:
        return None
    (korean, english), _ = commonest(written, 1)[0]
    sources = {"bracket" if kind == "unsure" else kind for kind in by_kind}
    return Pair(korean, english, *sides, max(by_kind.values()), tuple(sorted(sources)))
