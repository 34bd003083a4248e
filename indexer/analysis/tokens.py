"""What an analyzer makes of a text."""

from typing import Protocol, TypeAlias

# (term, position, start, end): positions count from 0 and keep the gaps that dropped words leave;
# start and end are code points of the text as given.
Token: TypeAlias = tuple[str, int, int, int]


class Analyzer(Protocol):
    """Turns a text into tokens; holds caches, and belongs to one thread at a time."""

    name: str
    decompound: str

    def analyze(self, text: str) -> list[Token]:
        """Return the tokens of `text` in order of position, stacked ones longest first."""
        ...
