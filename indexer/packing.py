"""Tokens in a form that is quick to hand from process to process."""

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

from indexer.analysis.tokens import Token

SEPARATOR = "\x1f"


class PackedTokens(NamedTuple):
    """Terms in one string and positions in one buffer; offsets are left out, an index does not hold them."""

    terms: str
    positions: bytes

    @classmethod
    def pack(cls, tokens: Sequence[Token]) -> Self:
        """Pack tokens in their order."""
        positions = array("I", [token[1] for token in tokens])
        return cls(SEPARATOR.join([token[0] for token in tokens]), positions.tobytes())

    def unpack(self) -> Iterator[tuple[str, int]]:
        """Give back (term, position) in order."""
        if not self.positions:
            return iter(())
        positions = array("I")
        positions.frombytes(self.positions)
        return zip(self.terms.split(SEPARATOR), positions, strict=True)
