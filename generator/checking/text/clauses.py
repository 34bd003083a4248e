"""Sentences and clauses of a text with their tokens.

"Yield rose, while costs fell" has two clauses, so that "costs rose" is compared with the second one.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from generator.checking.text.quantities import Quantity, quantities
from indexer.analysis.tokens import Analyzer, TaggedWord, Token
from indexer.corpora.chunking import split_sentences
from indexer.glossary.pairs import HANGUL

# Ends of clauses, except for Korean verbs, whose endings the analysis finds.
BREAK = re.compile(
    r"(?<![\d%℃])[,]\s|,\s(?![\d-])|[;:—]\s|\s[–-]\s|\b(?:while|whereas|but|although|though|yet|because|unless|however|until|when|where)\b",
    re.IGNORECASE,
)
LATIN = re.compile("[A-Za-z]")
PRONOUN = re.compile(r"\s*(?:(?:It|They|This|These|That|Those)\b|(?:이는|이들은|이것은|그것은|이로써) )")
KOREAN_ENDINGS = ("고", "며", "나", "만", "데", "면서", "면", "자", "므로", "니")
AUXILIARY = ("있", "싶", "나서", "보니")
SENTENCE_START = re.compile(r"(?:[.!?:;]\s+|[\"“(『「]\s*)$")
Item = TypeVar("Item")


def starting_in(
    items: Sequence[Item], start_of: Callable[[Item], int], start: int, end: int
) -> Sequence[Item]:
    """Return the items that start in a span; items are in the order of their starts."""
    first = bisect_left(items, start, key=start_of)
    return items[first : bisect_left(items, end, first, key=start_of)]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause with its span in the text, its tokens, and the number of its sentence."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    sentence: int


@dataclass(frozen=True)
class Text:
    """A text with its tokens, clauses and quantities."""

    text: str
    tokens: tuple[Token, ...]
    clauses: tuple[Clause, ...]
    quantities: tuple[Quantity, ...]
    tagged: tuple[TaggedWord, ...] = ()  # of a text with Hangul

    @cached_property
    def korean(self) -> bool:
        """Whether the text is Korean, and not English with a few terms in Hangul."""
        return bool(self.tagged) and 2 * len(HANGUL.findall(self.text)) > len(LATIN.findall(self.text))

    def words_of(self, clause: Clause) -> str:
        """Return the text of a clause."""
        return self.text[clause.start : clause.end]

    def quantities_in(self, start: int, end: int) -> Sequence[Quantity]:
        """Return the quantities that start in a span."""
        return starting_in(self.quantities, _start_of_quantity, start, end)

    def in_quantity(self, token: Token) -> bool:
        """Return True if a token is part of a number or of its unit."""
        place = bisect_right(self.quantities, token[2], key=_start_of_quantity) - 1
        return place >= 0 and token[2] < self.quantities[place].unit_end

    def tokens_around(self, place: int) -> tuple[Token, ...]:
        """Return the tokens of the clause at a position; none in a text without tokens."""
        starts = [clause.start for clause in self.clauses]
        return self.clauses[max(0, bisect_right(starts, place) - 1)].tokens if starts else ()

    @cached_property
    def sentences(self) -> dict[int, tuple[int, int, set[str]]]:
        """Start, end and terms of each sentence, by its number.

        A sentence that starts with a pronoun also has the terms of the previous sentence.
        """
        found: dict[int, tuple[int, int, set[str]]] = {}
        for clause in self.clauses:
            if clause.sentence in found:
                begin, _, words = found[clause.sentence]
            else:
                begin, words = clause.start, set()
                if PRONOUN.match(self.text, begin) and clause.sentence - 1 in found:
                    words = found[clause.sentence - 1][2]
            found[clause.sentence] = begin, clause.end, words | terms_of(clause.tokens)
        return found

    @cached_property
    def sentences_of_quantities(self) -> list[int]:
        """The sentence number of each quantity."""
        starts = [clause.start for clause in self.clauses]
        places = [max(0, bisect_right(starts, quantity.start) - 1) for quantity in self.quantities]
        return [self.clauses[place].sentence if self.clauses else 0 for place in places]


def read_text(text: str, analyzer: Analyzer) -> Text:
    """Split a text into sentences and clauses."""
    tokens = tuple(analyzer.analyze(text))
    tagged = analyzer.tagged_words(text) if HANGUL.search(text) else []
    breaks = sorted({match.end() for match in BREAK.finditer(text)} | set(_verb_endings(text, tagged)))
    clauses = []
    for number, (begin, end) in enumerate(split_sentences(text)):
        edges = [begin, *starting_in(breaks, int, begin + 1, end), end]
        for start, stop in pairwise(edges):
            if here := starting_in(tokens, start_of_token, start, stop):
                clauses.append(Clause(start, stop, tuple(here), number))
    return Text(text, tokens, tuple(clauses), tuple(quantities(text)), tuple(tagged))


def start_of_token(token: Token) -> int:
    """Return the start of a token in its text."""
    return token[2]


def _start_of_quantity(quantity: Quantity) -> int:
    return quantity.start


def _verb_endings(text: str, tagged: Sequence[TaggedWord]) -> Iterator[int]:
    """Yield the ends of Korean verbs that end a clause: 낮았고, 높으며."""
    for tag, start, end in tagged:
        after = text[end : end + 4].lstrip(" ,")
        if (
            tag.rpartition("+")[2] == "EC"
            and text[start:end].endswith(KOREAN_ENDINGS)
            and text[end : end + 1] in {" ", ","}
            and not after.startswith(AUXILIARY)
        ):
            yield end


def terms_of(tokens: Sequence[Token]) -> set[str]:
    """Return the distinct terms of tokens."""
    return {token[0] for token in tokens}


def opens_sentence(text: str, start: int) -> bool:
    """Return True if a word is the first of its sentence, where a capital letter has no meaning."""
    return start <= 1 or bool(SENTENCE_START.search(text[max(0, start - 5) : start]))
