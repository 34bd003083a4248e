"""Text to tokens, alike for what is indexed and what is asked."""

from collections.abc import Callable

from indexer.analysis.bilingual import BilingualAnalyzer
from indexer.analysis.english import EnglishAnalyzer
from indexer.analysis.korean import DECOMPOUND_MODES, Decompound, KoreanAnalyzer
from indexer.analysis.tokens import Analyzer, Token
from indexer.errors import InvalidCall

ANALYZERS: dict[str, Callable[[Decompound], Analyzer]] = {
    "bilingual": BilingualAnalyzer,
    "korean": KoreanAnalyzer,
    "english": lambda _: EnglishAnalyzer(),
}


def make_analyzer(name: str, decompound: Decompound = "discard") -> Analyzer:
    """Make the analyzer of that name; `decompound` says what becomes of Korean compounds.

    Raises:
        InvalidCall: no analyzer or mode of that name.
    """
    if name not in ANALYZERS:
        raise InvalidCall(f"no analyzer {name!r}; there are {', '.join(ANALYZERS)}")
    if decompound not in DECOMPOUND_MODES:
        raise InvalidCall(f"no decompound mode {decompound!r}; there are {', '.join(DECOMPOUND_MODES)}")
    return ANALYZERS[name](decompound)


__all__ = ["ANALYZERS", "DECOMPOUND_MODES", "Analyzer", "Decompound", "Token", "make_analyzer"]
