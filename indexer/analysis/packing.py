"""Packed tokens: compact strings for storage and for transfer between processes, fast to decode."""

import re
import unicodedata
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from operator import add, sub
from typing import NamedTuple, Self

from indexer.analysis.tokens import Token, as_indexed

GAP = "."  # a position without a term; every analyzer drops this punctuation
TERM_SEPARATOR = "\x1f"
# The offsets of a token are one character if it starts at most MOST_APART after the end of the previous token
# and its length differs by at most MOST_LONGER from its term's; the nearest get an ASCII character. All other
# offsets are "~start,end;".
MOST_APART, MOST_LONGER = 120, 7
NEAR_CODES, FAR_CODES = range(ord(" "), ord("~")), 256
ENCODED = {
    (apart, longer): chr(NEAR_CODES[code] if code < len(NEAR_CODES) else FAR_CODES + code)
    for code, (apart, longer) in enumerate(
        product(range(MOST_APART + 1), range(-MOST_LONGER, MOST_LONGER + 1))
    )
}
APART = {code: apart for (apart, _), code in ENCODED.items()}
LONGER = {code: longer for (_, longer), code in ENCODED.items()}
ESCAPE = "~"
OFFSET = re.compile(r"~[^;]+;|.")


class PackedTokens(NamedTuple):
    """The tokens of one text, in three strings.

    Usually `terms` is a line of words, one for each position, GAP for a position without a term. If terms
    share a position or contain a space, `terms` is joined by separators and `positions` is not empty.
    """

    terms: str = ""
    positions: str = ""
    offsets: str = ""

    @classmethod
    def pack(cls, tokens: Sequence[Token]) -> Self:
        """Pack tokens in order."""
        words = [GAP] * (tokens[-1][1] + 1 if tokens else 0)
        for term, position, _, _ in tokens:
            words[position] = term
        line = " ".join(words)
        offsets = _packed_offsets(tokens)
        if len(words) - words.count(GAP) == len(tokens) and line.split() == words:
            return cls(line, "", offsets)
        terms = TERM_SEPARATOR.join([token[0] for token in tokens])
        return cls(terms, " ".join([str(token[1]) for token in tokens]), offsets)

    def is_whole(self) -> bool:
        """Check whether each term has an offset, and a position if positions are stored."""
        words = self.words()
        terms = len(words) if self.positions else len(words) - words.count(GAP)
        escaped = ESCAPE in self.offsets
        offsets = len(OFFSET.findall(self.offsets)) if escaped else len(self.offsets)
        return terms == offsets and (not self.positions or self.positions.count(" ") + 1 == terms)

    def words(self) -> list[str]:
        """Return the terms in order; a line of words has GAP for each position without a term."""
        if self.positions:
            return self.terms.split(TERM_SEPARATOR)
        return self.terms.split(" ") if self.terms else []

    def unpack(self) -> Iterator[tuple[str, int]]:
        """Return (term, position) in order."""
        if self.positions:
            return zip(self.words(), map(int, self.positions.split()), strict=True)
        return iter([(word, position) for position, word in enumerate(self.words()) if word != GAP])

    def tokens(self) -> list[Token]:
        """Unpack the tokens."""
        spans = self._spans([term for term, _ in self.unpack()])
        return [(*token, *span) for token, span in zip(self.unpack(), spans, strict=True)]

    def places(self, wanted: Container[str]) -> list[tuple[int, int, str]]:
        """Return (start, end, term) of the wanted terms, in token order."""
        terms = [term for term, _ in self.unpack()]
        if not any(term in wanted for term in terms):
            return []
        found = zip(terms, self._spans(terms), strict=True)
        return [(start, end, term) for term, (start, end) in found if term in wanted]

    def _spans(self, terms: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield start and end of each token, given the terms."""
        if ESCAPE in self.offsets:
            return self._escaped_spans(terms)
        lengths = list(map(add, map(len, terms), map(LONGER.__getitem__, self.offsets)))
        ends = list(accumulate(map(add, map(APART.__getitem__, self.offsets), lengths)))
        return zip(map(sub, ends, lengths), ends, strict=True)

    def _escaped_spans(self, terms: Sequence[str]) -> Iterator[tuple[int, int]]:
        end = 0
        for term, code in zip(terms, OFFSET.findall(self.offsets), strict=True):
            if len(code) > 1:
                start, end = map(int, code[1:-1].split(","))
            else:
                start = end + APART[code]
                end = start + len(term) + LONGER[code]
            yield start, end


def _packed_offsets(tokens: Sequence[Token]) -> str:
    codes: list[str] = []
    last = 0
    for term, _, start, end in tokens:
        codes.append(ENCODED.get((start - last, end - start - len(term))) or f"~{start},{end};")
        last = end
    return "".join(codes)


@dataclass(frozen=True, slots=True)
class PassageTokens:
    """The tokens of a passage, unpacked on demand."""

    strings: tuple[str, ...] = ()  # of text, title and title2, three each; without trailing empty ones

    @classmethod
    def pack(cls, *fields: Sequence[Token]) -> Self:
        """Pack the tokens of text, title and title2; trailing ones are optional."""
        return cls.of_packed(*map(PackedTokens.pack, fields))

    @classmethod
    def of_packed(cls, *fields: PackedTokens) -> Self:
        """Join the packed tokens of text, title and title2; trailing ones are optional."""
        strings = [part for packed in fields for part in packed]
        while strings and not strings[-1]:
            strings.pop()
        return cls(tuple(strings))

    @classmethod
    def of(cls, title: str, text: str, title2: str, analyze: Callable[[str], Sequence[Token]]) -> Self:
        """Analyse a passage as it is indexed: composed (NFC), the title before the text."""
        whole, title = as_indexed(title, text)
        return cls.pack(analyze(whole), analyze(title), analyze(unicodedata.normalize("NFC", title2)))

    @property
    def layout(self) -> tuple[str, ...]:
        """Positions and offsets of text, title and title2, without trailing empty ones."""
        strings = [part for start in range(0, len(self.strings), 3) for part in self.strings[start + 1 :][:2]]
        while strings and not strings[-1]:
            strings.pop()
        return tuple(strings)

    @classmethod
    def of_layout(cls, terms: Sequence[str], layout: Sequence[str]) -> Self:
        """Join the terms of text, title and title2 with their layout; ValueError if they do not fit."""
        strings = [*layout, *[""] * (2 * len(terms) - len(layout))]
        fields = [PackedTokens(line, *strings[2 * at : 2 * at + 2]) for at, line in enumerate(terms)]
        if not all(packed.is_whole() for packed in fields):
            raise ValueError("the tokens of a passage are damaged")
        return cls.of_packed(*fields)

    @property
    def text(self) -> PackedTokens:
        """The tokens of title and text together."""
        return PackedTokens(*self.strings[:3])

    @property
    def title(self) -> PackedTokens:
        """The tokens of the title."""
        return PackedTokens(*self.strings[3:6])

    @property
    def title2(self) -> PackedTokens:
        """The tokens of the paper's title in the other language, stored with its first passage."""
        return PackedTokens(*self.strings[6:9])
