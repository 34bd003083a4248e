"""Text to tokens, alike for what is indexed and what is asked."""

from collections.abc import Callable

from indexer.analysis.bilingual import BilingualAnalyzer
from indexer.analysis.english import EnglishAnalyzer
from indexer.analysis.korean import DECOMPOUND_MODES, Decompound, KoreanAnalyzer
from indexer.analysis.tokens import Analyzer, Token
from indexer.analysis.user_dictionary import UserDictionary
from indexer.errors import InvalidCall

ANALYZERS: dict[str, Callable[[Decompound, UserDictionary | None], Analyzer]] = {
    "bilingual": BilingualAnalyzer,
    "korean": lambda decompound, dictionary: KoreanAnalyzer(decompound, dictionary=dictionary),
    "english": lambda _decompound, _dictionary: EnglishAnalyzer(),
}


def make_analyzer(
    name: str, decompound: Decompound = "discard", dictionary: UserDictionary | None = None
) -> Analyzer:
    """Make the analyzer of that name; `decompound` says what becomes of Korean compounds.

    Raises:
        InvalidCall: no analyzer or mode of that name, or a user's dictionary for one that has none.
    """
    if name not in ANALYZERS:
        raise InvalidCall(f"no analyzer {name!r}; there are {', '.join(ANALYZERS)}")
    if decompound not in DECOMPOUND_MODES:
        raise InvalidCall(f"no decompound mode {decompound!r}; there are {', '.join(DECOMPOUND_MODES)}")
    if dictionary and name == "english":
        raise InvalidCall("the english analyzer takes no dictionary of one's own; bilingual and korean do")
    return ANALYZERS[name](decompound, dictionary)


__all__ = [
    "ANALYZERS",
    "DECOMPOUND_MODES",
    "Analyzer",
    "Decompound",
    "Token",
    "UserDictionary",
    "make_analyzer",
]
