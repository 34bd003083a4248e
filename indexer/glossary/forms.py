"""The abbreviations of a corpus, and its English words with their sounds."""

from dataclasses import dataclass

from indexer.analysis.tokens import Analyzer
from indexer.files.schema import StoredPassage
from indexer.glossary.loanwords import MOST_WORDS, SpeltWord, spelt_words
from indexer.glossary.patterns.abbreviations import Abbreviation, Expanded, choose_long_forms
from indexer.glossary.patterns.brackets import PassageMentions
from indexer.glossary.sightings import Sightings
from indexer.glossary.vocabulary import WordCounts, commonest

MOST_EXPANDED = 300_000  # beyond them rare and early ones are dropped


@dataclass(frozen=True, slots=True)
class Forms:
    """The abbreviations of a corpus, and its most frequent English words."""

    abbreviations: tuple[Abbreviation, ...] = ()
    words: tuple[SpeltWord, ...] = ()


class FormMiner:
    """Collects the forms of a corpus; passages are added in corpus order, in one pass."""

    def __init__(self, analyzer: Analyzer, words: WordCounts) -> None:
        """Create a miner with the analyzer of the index; the caller counts `words`."""
        self._analyzer = analyzer
        self._expanded: Sightings[Expanded] = Sightings(MOST_EXPANDED)
        self._words = words
        self._paper = -1
        self._doc_id: str | None = None

    def add(self, passage: StoredPassage, mentions: PassageMentions) -> None:
        """Add the abbreviations that the brackets of a passage explain."""
        if passage.doc_id != self._doc_id:
            self._paper, self._doc_id = self._paper + 1, passage.doc_id
        for expanded in mentions.abbreviations:
            self._expanded.add(expanded, self._paper)

    def forms(self) -> Forms:
        """Return the abbreviations by their short forms, and the words, most passages first."""
        return Forms(
            tuple(choose_long_forms(self._expanded.items(), self._analyzer, self._words.counts)),
            tuple(spelt_words(commonest(self._words.counts, MOST_WORDS), self._analyzer)),
        )
