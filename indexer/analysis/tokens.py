"""What an analyzer makes of a text."""

import unicodedata
from typing import Protocol, TypeAlias

# (term, position, start, end): positions count from 0 and keep the gaps that dropped words leave;
# start and end are code points of the text as given.
Token: TypeAlias = tuple[str, int, int, int]
# (part of speech, start, end) of a word in the text as given.
TaggedWord: TypeAlias = tuple[str, int, int]
# A token with its part of speech (Sejong's tags); empty where the analyzer tells none.
TaggedToken: TypeAlias = tuple[Token, str]


def as_indexed(title: str, text: str) -> tuple[str, str]:
    """Return what is analysed of a passage: title and text in one, and the title alone, both composed (NFC).

    One place says so, for what is indexed and for what a ranking looks at again.
    """
    title, text = unicodedata.normalize("NFC", title), unicodedata.normalize("NFC", text)
    return f"{title} {text}" if title else text, title


class Analyzer(Protocol):
    """Turns a text into tokens; holds caches, and belongs to one thread at a time."""

    name: str
    decompound: str

    def analyze(self, text: str) -> list[Token]:
        """Return the tokens of `text` in order of position, stacked ones longest first."""
        ...

    def tagged_tokens(self, text: str) -> list[TaggedToken]:
        """Return the tokens that `analyze` gives, each with its part of speech."""
        ...

    def tagged_words(self, text: str) -> list[TaggedWord]:
        """Return the words of `text` with their parts of speech (Sejong's tags); none where it tells none."""
        ...
