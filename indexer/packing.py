"""Analysed tokens as text: quick to hand from process to process, to store beside a passage, to read."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple, Self

from indexer.analysis.tokens import Token, as_indexed

GAP = "."  # a position without a term; punctuation to every analyzer, so none makes a term of it
TERM_SEPARATOR = "\x1f"
# An offset is one character where the token begins at most so far behind the end of the one before and is at
# most so much longer or shorter than its term, an ASCII one where it begins near; any other is "~start,end;".
MOST_APART, MOST_LONGER = 120, 7
NEAR_CODES, FAR_CODES = range(ord(" "), ord("~")), 256
ENCODED = {
    (apart, longer): chr(NEAR_CODES[code] if code < len(NEAR_CODES) else FAR_CODES + code)
    for code, (apart, longer) in enumerate(
        product(range(MOST_APART + 1), range(-MOST_LONGER, MOST_LONGER + 1))
    )
}
DECODED = {code: pair for pair, code in ENCODED.items()}
OFFSET = re.compile(r"~[^;]+;|.")


class PackedTokens(NamedTuple):
    """The tokens of one text, in three strings.

    As a rule `terms` is a line of words, one a position, GAP where a position has none. Terms that share a
    position or hold a space stand between separators instead, and their `positions` beside them.
    """

    terms: str = ""
    positions: str = ""
    offsets: str = ""

    @classmethod
    def pack(cls, tokens: Sequence[Token]) -> Self:
        """Pack tokens in their order."""
        words = [GAP] * (tokens[-1][1] + 1 if tokens else 0)
        for term, position, _, _ in tokens:
            words[position] = term
        line = " ".join(words)
        offsets = _packed_offsets(tokens)
        if len(words) - words.count(GAP) == len(tokens) and line.split() == words:
            return cls(line, "", offsets)
        terms = TERM_SEPARATOR.join([token[0] for token in tokens])
        return cls(terms, " ".join([str(token[1]) for token in tokens]), offsets)

    def words(self) -> list[str]:
        """Return the terms in order, with GAP for each position that has none where they are a line."""
        if self.positions:
            return self.terms.split(TERM_SEPARATOR)
        return self.terms.split(" ") if self.terms else []

    def unpack(self) -> Iterator[tuple[str, int]]:
        """Return (term, position) in order."""
        if self.positions:
            return zip(self.words(), map(int, self.positions.split()), strict=True)
        return ((word, position) for position, word in enumerate(self.words()) if word != GAP)

    def tokens(self) -> list[Token]:
        """Return the tokens that were packed."""
        codes = self.offsets if "~" not in self.offsets else OFFSET.findall(self.offsets)
        found: list[Token] = []
        end = 0
        for (term, position), code in zip(self.unpack(), codes, strict=True):
            if len(code) > 1:
                start, end = map(int, code[1:-1].split(","))
            else:
                apart, longer = DECODED[code]
                start = end + apart
                end = start + len(term) + longer
            found.append((term, position, start, end))
        return found


def _packed_offsets(tokens: Sequence[Token]) -> str:
    codes: list[str] = []
    last = 0
    for term, _, start, end in tokens:
        codes.append(ENCODED.get((start - last, end - start - len(term))) or f"~{start},{end};")
        last = end
    return "".join(codes)


class PassageTokens(NamedTuple):
    """The tokens of a passage: of title and text in one, of the title, of the title in the other language."""

    text: PackedTokens = PackedTokens()
    title: PackedTokens = PackedTokens()
    title2: PackedTokens = PackedTokens()

    @classmethod
    def of(cls, title: str, text: str, title2: str, analyze: Callable[[str], Sequence[Token]]) -> Self:
        """Analyse a passage as it is indexed: composed (NFC), the title before the text."""
        whole, title = as_indexed(title, text)
        texts = (whole, title, unicodedata.normalize("NFC", title2))
        return cls(*(PackedTokens.pack(analyze(part)) for part in texts))

    def strings(self) -> list[str]:
        """Return all as a flat list of strings, empty ones at its end left out."""
        flat = [*self.text, *self.title, *self.title2]
        while flat and not flat[-1]:
            flat.pop()
        return flat

    @classmethod
    def from_strings(cls, flat: Sequence[str]) -> Self:
        """Read what `strings` returned."""
        parts = (*flat, *[""] * (9 - len(flat)))
        return cls(PackedTokens(*parts[:3]), PackedTokens(*parts[3:6]), PackedTokens(*parts[6:9]))
