"""One chain for Korean and English in one sentence: nori's, then English stop words and stems."""

from indexer.analysis import Decompound
from indexer.analysis.english import english_term
from indexer.analysis.korean import KoreanAnalyzer
from indexer.analysis.user_dictionary import UserDictionary


class BilingualAnalyzer(KoreanAnalyzer):
    """The Korean chain with English stop words dropped and what remains stemmed."""

    name = "bilingual"

    def __init__(self, decompound: Decompound = "discard", dictionary: UserDictionary | None = None) -> None:
        """Open the dictionary, with one of the user's."""
        super().__init__(decompound, english_term, dictionary)
