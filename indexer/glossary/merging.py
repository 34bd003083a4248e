"""Merging of sightings into pairs: each English term with its Korean term."""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

from indexer.analysis.english import STOP_WORDS
from indexer.analysis.tokens import Analyzer
from indexer.glossary.evidence import Evidence, is_believed, is_long_enough
from indexer.glossary.pairs import LONGEST_TERM, Pair, Source, Target, Tokens, contains
from indexer.glossary.patterns.english_terms import is_abbreviation, is_grammatical
from indexer.glossary.patterns.titles import TitlePair, title_links
from indexer.glossary.rivals import without_rivals
from indexer.glossary.sightings import Sighting, Sightings
from indexer.glossary.terms import korean_tokens, with_targets
from indexer.glossary.vocabulary import Frequencies

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
