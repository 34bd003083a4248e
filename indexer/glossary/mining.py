"""One pass over the stored passages, and what it saw put together into pairs."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer.analysis.tokens import Analyzer
from indexer.glossary.brackets import Mention, PassageMentions, PassageTexts, passage_mentions
from indexer.glossary.english_forms import is_english_term
from indexer.glossary.keywords import keyword_pairs
from indexer.glossary.pairs import (
    HANGUL,
    LONGEST_TERM,
    LONGEST_TOKENS,
    Pair,
    Source,
    term_language,
    term_tokens,
)
from indexer.glossary.sightings import Sighting, Sightings
from indexer.glossary.titles import TitlePair, title_links
from indexer.schema import StoredPassage

# The bounds on what is held in memory; beyond them the rare and early goes first.
MOST_MENTIONS = 1_000_000
MOST_TITLES = 50_000
LONGEST_TITLE = 1_000  # characters; a longer one is a text, whose words would all be linked with all others
# Another start of the Korean term is taken if it is seen with the same English in so many papers.
FEWEST_TO_CUT = 3
CUT_SHARE = 4
FEWEST_TO_EXTEND = 2
EXTEND_SHARE = 0.6

Tokens = tuple[str, ...]


@dataclass(slots=True)
class Entry:
    """What is known of a pair so far."""

    papers: set[int] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)
    written: Counter[tuple[str, str]] = field(default_factory=Counter)
    sure: bool = False


class GlossaryMiner:
    """Puts together the pairs of a corpus: from brackets, keyword lists in both languages, bilingual titles.

    Its passages are added in corpus order, in one pass; the outcome depends on nothing else. The analyzer
    should be the index's.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        """Begin with nothing seen."""
        self._analyzer = analyzer
        self._sightings: Sightings[Sighting] = Sightings(MOST_MENTIONS)
        self._titles: list[TitlePair] = []
        self._paper = -1
        self._doc_id: str | None = None

    def add(
        self,
        passage: StoredPassage,
        mentions: PassageMentions | None = None,
        paper: Mapping[str, Any] | None = None,
    ) -> None:
        """Note what a passage says.

        Its mentions are found here, and the paper's record is decoded, unless somebody has done so already.
        """
        if mentions is None:
            mentions = passage_mentions(texts_of(passage), self._analyzer)
        opening: tuple[Mention, ...] = ()
        if passage.doc_id != self._doc_id:
            self._paper, self._doc_id = self._paper + 1, passage.doc_id
            opening = mentions.title
        if paper := paper or passage.paper:
            for sighting in _keyword_sightings(_strings(paper.get("keywords"))):
                self._sightings.add(sighting, self._paper)
            if passage.title2 and len(self._titles) < MOST_TITLES:
                self._titles.extend(_title_pair(self._paper, passage.title, passage.title2))
        for mention in (*opening, *mentions.text, *mentions.title2):
            sighting = Sighting(mention.english, mention.candidates, "bracket", mention.sure)
            self._sightings.add(sighting, self._paper)

    def pairs(self) -> list[Pair]:
        """Return the pairs: most papers first, then by text."""
        return _Merger(self._analyzer).pairs(self._sightings, self._titles)


def mine_glossary(passages: Iterable[StoredPassage], analyzer: Analyzer) -> list[Pair]:
    """Mine the pairs of a corpus in one pass; see `GlossaryMiner`."""
    miner = GlossaryMiner(analyzer)
    for passage in passages:
        miner.add(passage)
    return miner.pairs()


def texts_of(passage: StoredPassage) -> PassageTexts:
    """Return what of a passage is analysed and mined."""
    terms = _strings((passage.paper or {}).get("keywords"))
    korean = frozenset(term.replace(" ", "") for term in terms if HANGUL.search(term))
    return PassageTexts(passage.title, passage.text, passage.title2, korean)


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _keyword_sightings(keywords: Sequence[str]) -> Iterator[Sighting]:
    for korean, english in keyword_pairs(keywords):
        if is_english_term(english):
            yield Sighting(english, (korean,), "keywords", sure=True)


def _title_pair(paper: int, title: str, title2: str) -> list[TitlePair]:
    if max(len(title), len(title2)) > LONGEST_TITLE:
        return []
    languages = term_language(title), term_language(title2)
    if languages == ("ko", "en"):
        return [TitlePair(paper, title, title2)]
    return [TitlePair(paper, title2, title)] if languages[1] == "ko" and languages[0] is not None else []


class _Merger:
    """Decides which Korean belongs to each English term, and merges what has the same tokens."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._entries: dict[tuple[Tokens, Tokens], Entry] = {}

    def pairs(self, sightings: Sightings[Sighting], titles: Sequence[TitlePair]) -> list[Pair]:
        groups: dict[Tokens, list[tuple[Sighting, array[int]]]] = {}
        for sighting, papers in sightings.items():
            groups.setdefault(self._tokens(sighting.english), []).append((sighting, papers))
        for english_tokens, group in groups.items():
            for sighting, korean, papers in _decide(group):
                self._add(
                    korean, sighting.english, english_tokens, papers, sighting.source, sure=sighting.sure
                )
        for link in title_links(titles, self._analyzer):
            tokens = self._tokens(link.english)
            self._add(link.korean, link.english, tokens, link.papers, "title", sure=True)
        self._confirm(titles)
        pairs = (
            self._pair(*key, entry) for key, entry in self._entries.items() if _is_believed(key[1], entry)
        )
        return sorted(
            pairs,
            key=lambda pair: (
                -pair.count,
                pair.korean,
                pair.english,
                pair.korean_tokens,
                pair.english_tokens,
            ),
        )

    def _tokens(self, text: str) -> Tokens:
        return tuple(token[0] for token in self._analyzer.analyze(text))

    def _add(
        self,
        korean: str,
        english: str,
        english_tokens: Tokens,
        papers: Iterable[int],
        source: Source,
        *,
        sure: bool,
    ) -> None:
        korean_tokens = self._korean_tokens(korean)
        if not korean_tokens or not 0 < len(english_tokens) <= LONGEST_TOKENS or len(english) > LONGEST_TERM:
            return
        entry = self._entries.setdefault((korean_tokens, english_tokens), Entry())
        before = len(entry.papers)
        entry.papers.update(papers)
        entry.sources.add(source)
        entry.written[korean, english] += max(1, len(entry.papers) - before)
        entry.sure |= sure

    def _korean_tokens(self, korean: str) -> Tokens:
        tokens = term_tokens(korean, self._analyzer) if len(korean) <= LONGEST_TERM else ()
        return tokens if len(tokens) <= LONGEST_TOKENS else ()

    def _confirm(self, titles: Sequence[TitlePair]) -> None:
        """Count the papers whose two titles hold the two sides of a pair."""
        by_korean: dict[Tokens, list[tuple[Tokens, Entry]]] = {}
        for (korean, english), entry in self._entries.items():
            by_korean.setdefault(korean, []).append((english, entry))
        longest = max(map(len, by_korean), default=0)
        for title in titles:
            korean, english = self._tokens(title.korean), self._tokens(title.english)
            for start in range(len(korean)):
                for end in range(start + 1, min(start + longest, len(korean)) + 1):
                    for phrase, entry in by_korean.get(korean[start:end], ()):
                        if _contains(english, phrase):
                            entry.papers.add(title.paper)
                            entry.sources.add("title")

    @staticmethod
    def _pair(korean_tokens: Tokens, english_tokens: Tokens, entry: Entry) -> Pair:
        (korean, english), _ = min(entry.written.items(), key=lambda item: (-item[1], item[0]))
        sources = tuple(sorted(entry.sources))
        return Pair(korean, english, korean_tokens, english_tokens, len(entry.papers), sources)


def _is_believed(english: Tokens, entry: Entry) -> bool:
    """Ask for a second witness where one is not enough; titles agree on a single word by chance."""
    seen = len(entry.papers) > 1 or len(entry.sources) > 1
    return entry.sure or (seen and (len(english) > 1 or "title" not in entry.sources))


def _contains(tokens: Tokens, phrase: Tokens) -> bool:
    size = len(phrase)
    return any(tokens[start : start + size] == phrase for start in range(len(tokens) - size + 1))


def _decide(group: "Sequence[tuple[Sighting, array[int]]]") -> "Iterator[tuple[Sighting, str, array[int]]]":
    """Choose the Korean of each sighting of one English term."""
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


def _choose(candidates: Sequence[str], counts: dict[str, int], listed: set[str]) -> str:
    """Take what a keyword list pairs with the English, then what more papers say, then the likeliest."""
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
