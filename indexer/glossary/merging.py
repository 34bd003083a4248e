"""Merging of sightings into pairs: each English term with its Korean term.

A pair has evidence: its papers, its sources, the frequencies of its words, and their spelling. Of
contradictory pairs of one term, the one with clearly more papers stays.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

from rapidfuzz.distance import OSA

from indexer.analysis.english import STOP_WORDS
from indexer.analysis.porter import porter_stem
from indexer.analysis.tokens import Analyzer
from indexer.glossary.given import general_stems
from indexer.glossary.pairs import HANGUL, LATIN, LONGEST_TERM, Pair, Source, Target, Tokens, contains
from indexer.glossary.patterns.english_terms import FORMULA, is_abbreviation, is_grammatical
from indexer.glossary.patterns.korean_side import sounds_alike
from indexer.glossary.patterns.titles import TitlePair, title_links
from indexer.glossary.sightings import Sighting, Sightings
from indexer.glossary.terms import korean_tokens, with_targets
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


CLEARLY_MORE = 2  # times as many papers
LETTERS_AN_ERROR = 4  # letters of a term per differing letter
MOST_ERRORS = 2
MOST_RIVALS = 50  # pairs of one term that are compared
LISTED: Source = "keywords"


class Side(NamedTuple):
    """One side of a pair; several pairs share the other side. `passages` is 0 for several words."""

    text: str
    tokens: Tokens
    pair: Pair
    passages: int


def without_rivals(pairs: Sequence[Pair], frequencies: Frequencies) -> list[Pair]:
    """Return the pairs without a contradictory pair that has more evidence."""
    by_term: dict[tuple[str, Tokens], list[Side]] = {}
    for pair in pairs:
        korean = Side(pair.korean, pair.korean_tokens, pair, frequencies.korean(pair.korean))
        english = Side(pair.english, pair.english_tokens, pair, frequencies.english(pair.english))
        by_term.setdefault(("ko", pair.korean_tokens), []).append(english)
        by_term.setdefault(("en", pair.english_tokens), []).append(korean)
    contradicted = {
        id(side.pair)
        for sides in by_term.values()
        for side, rival in permutations(sides[:MOST_RIVALS], 2)
        if _contradicts(rival, side)
    }
    return [pair for pair in pairs if id(pair) not in contradicted]


def _contradicts(rival: Side, side: Side) -> bool:
    """Check whether a rival has more evidence and differs by words at an end, or by one or two letters."""
    if LISTED in side.pair.sources:
        return False
    better = LISTED in rival.pair.sources or rival.pair.count >= CLEARLY_MORE * side.pair.count
    if better and (contains(rival.tokens, side.tokens) or contains(side.tokens, rival.tokens)):
        return True
    more = (rival.pair.count, rival.passages) > (side.pair.count, side.passages)
    return more and _is_near(rival.text.lower(), side.text.lower())


def _is_near(one: str, other: str) -> bool:
    """Check whether two terms differ by one or two letters, such as misspellings or misreadings."""
    errors = min(MOST_ERRORS, min(len(one), len(other)) // LETTERS_AN_ERROR)
    return one[0] == other[0] and 0 < OSA.distance(one, other, score_cutoff=errors) <= errors


# Papers with the same English term needed to choose another start of the Korean term.
FEWEST_TO_CUT = 3
CUT_SHARE = 2
FEWEST_TO_EXTEND = 2
EXTEND_SHARE = 0.6
LETTERS = re.compile("[a-z]+")
SEVERAL_WORDS = re.compile(r"\w[\s–-]+\w")


def merged_pairs(
    sightings: Sightings[Sighting],
    titles: Sequence[TitlePair],
    analyzer: Analyzer,
    frequencies: Frequencies,
) -> list[Pair]:
    """Return the pairs with enough evidence: most papers first, then by text."""
    merger = _Merger(analyzer)
    groups: dict[Tokens, list[tuple[Sighting, array[int]]]] = {}
    for sighting, papers in sightings.items():
        groups.setdefault(merger.tokens(sighting.english), []).append((sighting, papers))
    for english_tokens, group in groups.items():
        for sighting, korean, papers in _decide(group):
            merger.add(
                korean,
                sighting.english,
                english_tokens,
                papers,
                sighting.source,
                sure=sighting.sure,
                rough=sighting.rough,
            )
    for link in title_links(titles, analyzer):
        if not is_grammatical(link.english):
            tokens = merger.tokens(link.english)
            merger.add(link.korean, link.english, tokens, link.papers, "title", sure=True)
    merger.confirm(titles)
    believed = [
        pair for pair, found in merger.pairs() if is_believed(pair.korean, pair.english, found, frequencies)
    ]
    return sorted(
        with_targets(without_rivals(believed, frequencies)),
        key=lambda pair: (
            -pair.count,
            pair.korean,
            pair.english,
            pair.korean_tokens,
            pair.english_tokens,
        ),
    )


class _Merger:
    """Collects the evidence of each pair; pairs with the same tokens are one pair."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._found: dict[tuple[Tokens, Tokens], Evidence] = {}

    def tokens(self, text: str) -> Tokens:
        return tuple(token[0] for token in self._analyzer.analyze(text))

    def add(
        self,
        korean: str,
        english: str,
        english_tokens: Tokens,
        papers: Iterable[int],
        source: Source,
        *,
        sure: bool,
        rough: bool = False,
    ) -> None:
        """Add evidence, unless a term is too short, too long, or loses a part in the analysis."""
        if (
            max(len(korean), len(english)) > LONGEST_TERM
            or not is_long_enough(korean, english)
            or (is_abbreviation(english) and not STOP_WORDS.isdisjoint(LETTERS.findall(english.lower())))
        ):
            return
        tokens = korean_tokens(korean, self._analyzer)
        found = self._found.setdefault((tokens, english_tokens), Evidence())
        before = len(found.papers)
        found.papers.update(papers)
        found.sources.add(source)
        found.written[korean, english] += max(1, len(found.papers) - before)
        found.sure |= sure
        found.rough &= rough

    def confirm(self, titles: Sequence[TitlePair]) -> None:
        """Add the papers whose two titles contain the two sides of a pair."""
        by_korean: dict[Tokens, list[tuple[Tokens, Evidence]]] = {}
        for (korean, english), found in self._found.items():
            by_korean.setdefault(korean, []).append((english, found))
        longest = max(map(len, by_korean), default=0)
        for title in titles:
            korean, english = self.tokens(title.korean), self.tokens(title.english)
            for start in range(len(korean)):
                for end in range(start + 1, min(start + longest, len(korean)) + 1):
                    for phrase, found in by_korean.get(korean[start:end], ()):
                        if contains(english, phrase):
                            found.papers.add(title.paper)
                            found.sources.add("title")

    def pairs(self) -> Iterator[tuple[Pair, Evidence]]:
        """Yield each pair in its most frequent spelling, with its evidence.

        A term of several English words with one token (lock-in) is looked up from the Korean only.
        """
        for (korean_key, english_key), found in self._found.items():
            (korean, english), _ = min(found.written.items(), key=lambda item: (-item[1], item[0]))
            is_part = len(english_key) == 1 and SEVERAL_WORDS.search(english)
            target: Target | None = "en" if is_part else None
            sources = tuple(sorted(found.sources))
            pair = Pair(korean, english, korean_key, english_key, len(found.papers), sources, target)
            if pair.has_tokens:
                yield pair, found


def _decide(group: "Sequence[tuple[Sighting, array[int]]]") -> "Iterator[tuple[Sighting, str, array[int]]]":
    """Yield each sighting of one English term with its chosen Korean and its papers."""
    support: dict[str, set[int]] = {}
    listed: set[str] = set()
    for sighting, papers in group:
        for candidate in sighting.candidates:
            support.setdefault(_squeezed(candidate), set()).update(papers)
        if sighting.source == "keywords":
            listed.add(_squeezed(sighting.candidates[0]))
    counts = {candidate: len(papers) for candidate, papers in support.items()}
    for sighting, papers in group:
        yield sighting, _choose(sighting.candidates, counts, listed), papers


def _choose(candidates: Sequence[str], counts: Mapping[str, int], listed: set[str]) -> str:
    """Choose the candidate in a keyword list, otherwise the most frequent, otherwise the likeliest."""
    best = max(
        (candidate for candidate in candidates if _squeezed(candidate) in listed), key=len, default=None
    )
    if best is not None:
        return best
    best = candidates[0]
    for rival in candidates[1:]:
        seen, needed = counts[_squeezed(rival)], counts[_squeezed(best)]
        longer = len(rival) > len(best) and seen >= max(FEWEST_TO_EXTEND, EXTEND_SHARE * needed)
        shorter = len(rival) < len(best) and seen >= max(FEWEST_TO_CUT, CUT_SHARE * needed)
        if longer or shorter:
            best = rival
    return best


def _squeezed(term: str) -> str:
    return term.replace(" ", "")
