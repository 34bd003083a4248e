"""A passage after its analysis, the input of every engine's writer."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from indexer.analysis.names import LONGEST_READ, Name, find_names
from indexer.analysis.packing import PassageTokens
from indexer.analysis.tokens import Analyzer, TaggedToken, Token, as_indexed


@dataclass(frozen=True, slots=True)
class AnalysedPassage:
    """The tokens of a passage, and the names in its text as (place of the first token, number of tokens).

    A place is the token's position or, if tokens share positions (compounds and their parts), its index.
    """

    tokens: PassageTokens
    names: tuple[Name, ...] = ()

    @classmethod
    def of(cls, title: str, text: str, title2: str, analyzer: Analyzer) -> "AnalysedPassage":
        """Analyse a passage as it is indexed: composed (NFC), the title before the text."""
        whole, title = as_indexed(title, text)
        tokens, tagged = _analysed(whole, analyzer)
        titles = analyzer.analyze(title) if text else tokens  # a space at the end changes no token
        fields = tokens, titles, analyzer.analyze(unicodedata.normalize("NFC", title2))
        packed = PassageTokens.pack(*fields)
        names = find_names(whole[:LONGEST_READ], tagged, title_end=len(title))
        if not packed.text.positions:
            names = [Name(tokens[first][1], length) for first, length in names]
        return cls(packed, tuple(names))


def _analysed(text: str, analyzer: Analyzer) -> tuple[list[Token], Sequence[TaggedToken]]:
    """Return the tokens of a text, and the tagged tokens of its beginning."""
    tagged = analyzer.tagged_tokens(text[:LONGEST_READ])
    if len(text) <= LONGEST_READ:
        return [token for token, _ in tagged], tagged
    tokens = analyzer.analyze(text)
    # Words before the cut may be analysed differently than in the whole text.
    alike = takewhile(lambda pair: pair[0] == pair[1][0], zip(tokens, tagged, strict=False))
    return tokens, [pair[1] for pair in alike]
