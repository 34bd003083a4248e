"""What a glossary file holds of a corpus beside pairs: its abbreviations, and its English words by sound."""

from dataclasses import dataclass

from indexer.analysis.tokens import Analyzer
from indexer.glossary.abbreviations import Abbreviation, Expanded, choose_long_forms
from indexer.glossary.brackets import PassageMentions
from indexer.glossary.loanwords import MOST_WORDS, SpeltWord, spelt_words
from indexer.glossary.sightings import Sightings
from indexer.glossary.vocabulary import WordCounts
from indexer.schema import StoredPassage

MOST_EXPANDED = 300_000  # of which the rare and early are forgotten first


@dataclass(frozen=True, slots=True)
class Forms:
    """The abbreviations of a corpus, and its commonest English words."""

    abbreviations: tuple[Abbreviation, ...] = ()
    words: tuple[SpeltWord, ...] = ()


class FormMiner:
    """Collects the forms of a corpus, whose passages are added in its order, in one pass."""

    def __init__(self, analyzer: Analyzer) -> None:
        """Begin with nothing seen; the analyzer should be the index's."""
        self._analyzer = analyzer
        self._expanded: Sightings[Expanded] = Sightings(MOST_EXPANDED)
        self._words = WordCounts()
        self._paper = -1
        self._doc_id: str | None = None

    def add(self, passage: StoredPassage, mentions: PassageMentions) -> None:
        """Note the words of a passage, and the abbreviations that its brackets mention."""
        if passage.doc_id != self._doc_id:
            self._paper, self._doc_id = self._paper + 1, passage.doc_id
        for expanded in mentions.abbreviations:
            self._expanded.add(expanded, self._paper)
        self._words.add(f"{passage.title} {passage.text} {passage.title2}")

    def forms(self) -> Forms:
        """Return what was seen: abbreviations by their short forms, words most passages first."""
        return Forms(
            tuple(choose_long_forms(self._expanded.items(), self._analyzer, self._words.counts)),
            tuple(spelt_words(self._words.commonest(MOST_WORDS), self._analyzer)),
        )
