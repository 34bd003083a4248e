"""One analysis chain for mixed Korean and English text: nori's, then English stop words and stemming."""

from indexer.analysis import Decompound
from indexer.analysis.english import english_term
from indexer.analysis.korean import KoreanAnalyzer
from indexer.analysis.user_dictionary import UserDictionary


class BilingualAnalyzer(KoreanAnalyzer):
    """The Korean chain followed by English stop words and stemming."""

    name = "bilingual"

    def __init__(self, decompound: Decompound = "discard", dictionary: UserDictionary | None = None) -> None:
        """Open the dictionary and an optional user dictionary."""
        super().__init__(decompound, english_term, dictionary)
