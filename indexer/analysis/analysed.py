"""A passage after its analysis: what every engine indexes of it."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from indexer.analysis.names import LONGEST_READ, Name, find_names
from indexer.analysis.packing import PassageTokens
from indexer.analysis.tokens import Analyzer, TaggedToken, Token, as_indexed

LATIN = "SL"  # the tag of a Latin word


@dataclass(frozen=True, slots=True)
class AnalysedPassage:
    """The tokens of a passage, and the names in its text: the place of the first token, and the length.

    A place is a token's position; where tokens share positions (compounds beside their parts), its index.
    """

    tokens: PassageTokens
    names: tuple[Name, ...] = ()

    @classmethod
    def of(cls, title: str, text: str, title2: str, analyzer: Analyzer) -> "AnalysedPassage":
        """Analyse a passage as it is indexed: composed (NFC), the title before the text."""
        whole, title = as_indexed(title, text)
        tokens, tagged = _analysed(whole, analyzer)
        fields = tokens, analyzer.analyze(title), analyzer.analyze(unicodedata.normalize("NFC", title2))
        packed = PassageTokens.pack(*fields)
        names = find_names(whole[:LONGEST_READ], tagged, title_end=len(title))
        if not packed.text.positions:
            names = [Name(tokens[first][1], length) for first, length in names]
        return cls(packed, tuple(names))


def _analysed(text: str, analyzer: Analyzer) -> tuple[list[Token], Sequence[TaggedToken]]:
    """Return the tokens of a text, and those of its beginning with their parts of speech."""
    if text.isascii():  # no part of speech decides about a name, and to tag words takes longer
        tokens = analyzer.analyze(text)
        return tokens, [(token, LATIN) for token in tokens if token[3] <= LONGEST_READ]
    if len(text) <= LONGEST_READ:
        tagged = analyzer.tagged_tokens(text)
        return [token for token, _ in tagged], tagged
    tokens, tagged = analyzer.analyze(text), analyzer.tagged_tokens(text[:LONGEST_READ])
    # The words before the cut may be read otherwise than in the whole text.
    alike = takewhile(lambda pair: pair[0] == pair[1][0], zip(tokens, tagged, strict=False))
    return tokens, [pair[1] for pair in alike]
