"""Mining of bilingual terms in one pass over the stored passages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from indexer.analysis.tokens import Analyzer
from indexer.files.schema import StoredPassage
from indexer.glossary.merging import merged_pairs
from indexer.glossary.pairs import HANGUL, Pair, term_language
from indexer.glossary.patterns.brackets import Mention, PassageMentions, PassageTexts, passage_mentions
from indexer.glossary.patterns.english_terms import is_english_term
from indexer.glossary.patterns.titles import TitlePair, keyword_pairs
from indexer.glossary.sightings import Sighting, Sightings
from indexer.glossary.vocabulary import Frequencies, WordCounts

# Bounds on memory; beyond them rare and early items are dropped first.
MOST_MENTIONS = 1_000_000
MOST_TITLES = 50_000
LONGEST_TITLE = 1_000  # characters; a longer title is a text with too many word pairs


class GlossaryMiner:
    """Collects the pairs of a corpus from brackets, keyword lists in both languages and bilingual titles.

    Passages are added in corpus order, in one pass. The result is deterministic. Use the analyzer of the
    index.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        """Create a miner without passages."""
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
        """Add a passage.

        Its mentions and the record of its paper are computed here unless they are given.
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
            sighting = Sighting(mention.english, mention.candidates, "bracket", mention.sure, mention.rough)
            self._sightings.add(sighting, self._paper)

    def pairs(self, frequencies: Frequencies) -> list[Pair]:
        """Return the pairs: most papers first, then by text."""
        return merged_pairs(self._sightings, self._titles, self._analyzer, frequencies)


def mine_glossary(passages: Iterable[StoredPassage], analyzer: Analyzer) -> list[Pair]:
    """Mine the pairs of a corpus in one pass; see `GlossaryMiner`."""
    miner, words = GlossaryMiner(analyzer), WordCounts()
    for passage in passages:
        miner.add(passage)
        words.add(passage_text(passage))
    return miner.pairs(words.frequencies())


def texts_of(passage: StoredPassage) -> PassageTexts:
    """Return the parts of a passage to mine."""
    terms = _strings((passage.paper or {}).get("keywords"))
    korean = frozenset(term.replace(" ", "") for term in terms if HANGUL.search(term))
    return PassageTexts(passage.title, passage.text, passage.title2, korean)


def passage_text(passage: StoredPassage) -> str:
    """Return the titles and the text of a passage."""
    return f"{passage.title} {passage.text} {passage.title2}"


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
