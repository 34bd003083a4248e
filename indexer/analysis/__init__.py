"""Tokenization, identical for documents and queries.

The module and the dictionary of an analyzer are loaded when the analyzer is made.
"""

from typing import Literal, get_args

from base.errors import InvalidCall
from indexer.analysis.tokens import Analyzer, Token, lowercase
from indexer.analysis.user_dictionary import UserDictionary

Decompound = Literal["discard", "mixed", "none"]
ANALYZERS = ("bilingual", "korean", "english")
DECOMPOUND_MODES: tuple[Decompound, ...] = get_args(Decompound)


def make_analyzer(
    name: str, decompound: Decompound = "discard", dictionary: UserDictionary | None = None
) -> Analyzer:
    """Make the analyzer of that name; `decompound` is the mode for Korean compounds.

    Raises:
        InvalidCall: unknown analyzer or mode, or a user dictionary for an analyzer that does not support one.
    """
    if name not in ANALYZERS:
        raise InvalidCall(f"no analyzer {name!r}; there are {', '.join(ANALYZERS)}")
    if decompound not in DECOMPOUND_MODES:
        raise InvalidCall(f"no decompound mode {decompound!r}; there are {', '.join(DECOMPOUND_MODES)}")
    if dictionary and name == "english":
        raise InvalidCall("the english analyzer takes no user dictionary; bilingual and korean do")
    from indexer.analysis.english import EnglishAnalyzer, english_term

    if name == "english":
        return EnglishAnalyzer()
    from indexer.analysis.korean import KoreanAnalyzer

    return KoreanAnalyzer(name, decompound, dictionary, english_term if name == "bilingual" else lowercase)


__all__ = [
    "ANALYZERS",
    "DECOMPOUND_MODES",
    "Analyzer",
    "Decompound",
    "Token",
    "UserDictionary",
    "make_analyzer",
]
