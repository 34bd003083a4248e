"""Tokens of a text, and the analyzer protocol."""

import unicodedata
from typing import Protocol, TypeAlias

# (term, position, start, end): positions count from 0 and keep the gaps of dropped words; start and end are
# code point offsets in the given text.
Token: TypeAlias = tuple[str, int, int, int]
# A token with its part of speech (Sejong tags); empty if the analyzer has none.
TaggedToken: TypeAlias = tuple[Token, str]


def as_indexed(title: str, text: str) -> tuple[str, str]:
    """Return the analysed texts of a passage: title and text together, and the title, both composed (NFC).

    Shared by indexing and re-ranking.
    """
    title, text = unicodedata.normalize("NFC", title), unicodedata.normalize("NFC", text)
    return f"{title} {text}" if title else text, title


def lowercase(term: str) -> str:
    """Lowercase each code point, as Lucene does (İ becomes i): the length never changes."""
    if term.isascii():
        return term.lower()
    return "".join(char.lower()[0] for char in term)


class Analyzer(Protocol):
    """Turns a text into tokens. Threads may share it."""

    name: str
    decompound: str

    def analyze(self, text: str) -> list[Token]:
        """Return the tokens of `text` in order of position, longest first at the same position."""
        ...

    def tagged_tokens(self, text: str) -> list[TaggedToken]:
        """Return the tokens of `analyze` with their parts of speech."""
        ...
