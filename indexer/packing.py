"""Tokens in a form that is quick to hand from process to process, and on to the engine."""

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

from indexer.analysis.tokens import Token

GAP = "␣"  # where no term stands; punctuation to every analyzer, so none makes a term of it
SEPARATOR = "\x1f"


class PackedTokens(NamedTuple):
    """Terms in one string; offsets are left out, an index does not hold them.

    As a rule they are a line of words, one a position, GAP where a position has none. Terms that share a
    position or hold a space stand between separators, and their positions in a buffer beside them.
    """

    terms: str
    positions: bytes = b""

    @classmethod
    def pack(cls, tokens: Sequence[Token]) -> Self:
        """Pack tokens in their order."""
        words = [GAP] * (tokens[-1][1] + 1 if tokens else 0)
        for term, position, _, _ in tokens:
            words[position] = term
        line = " ".join(words)
        if len(words) - words.count(GAP) == len(tokens) and line.split() == words:
            return cls(line)
        positions = array("I", [token[1] for token in tokens])
        return cls(SEPARATOR.join([token[0] for token in tokens]), positions.tobytes())

    def unpack(self) -> Iterator[tuple[str, int]]:
        """Give back (term, position) in order."""
        if not self.positions:
            words = enumerate(self.terms.split())
            return ((word, position) for position, word in words if word != GAP)
        positions = array("I")
        positions.frombytes(self.positions)
        return zip(self.terms.split(SEPARATOR), positions, strict=True)
