"""Sentences and clauses of a text as terms, so that what is said in one is compared with the right other."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from generator.checking.quantities import Quantity, quantities
from indexer.analysis.tokens import Analyzer, TaggedWord, Token
from indexer.chunking import split_sentences
from indexer.glossary.pairs import HANGUL
from indexer.glossary.storage import Glossary

# Where a clause ends, but for Korean verbs, whose endings are told by the analysis.
BREAK = re.compile(
    r"[,;:—]\s|\s[–-]\s|\b(?:while|whereas|but|although|though|yet|because|unless|however|until|when|where)\b",
    re.IGNORECASE,
)
KOREAN_ENDINGS = ("고", "며", "나", "만", "데", "면서", "면", "자", "므로", "니")
AUXILIARY = ("있", "싶", "나서", "보니")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: its span in the text, its tokens, and the number of its sentence."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    sentence: int


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its tokens, cut into clauses."""

    text: str
    tokens: tuple[Token, ...]
    clauses: tuple[Clause, ...]
    quantities: tuple[Quantity, ...]

    def words_of(self, clause: Clause) -> str:
        """Return the clause as written."""
        return self.text[clause.start : clause.end]


def read_text(text: str, analyzer: Analyzer) -> Text:
    """Cut a text into sentences and these into clauses."""
    tokens = tuple(analyzer.analyze(text))
    tagged = analyzer.tagged_words(text) if HANGUL.search(text) else []
    breaks = {match.end() for match in BREAK.finditer(text)} | set(_verb_endings(text, tagged))
    clauses = []
    for number, (begin, end) in enumerate(split_sentences(text)):
        edges = [begin, *sorted(edge for edge in breaks if begin < edge < end), end]
        for start, stop in pairwise(edges):
            held = tuple(token for token in tokens if start <= token[2] < stop)
            if held:
                clauses.append(Clause(start, stop, held, number))
    return Text(text, tokens, tuple(clauses), tuple(quantities(text)))


def _verb_endings(text: str, tagged: Sequence[TaggedWord]) -> Iterator[int]:
    for tag, start, end in tagged:
        behind = text[end : end + 4].lstrip(" ,")
        if (
            tag.rpartition("+")[2] == "EC"
            and text[start:end].endswith(KOREAN_ENDINGS)
            and text[end : end + 1] in {" ", ","}
            and not behind.startswith(AUXILIARY)
        ):
            yield end


def terms_of(tokens: Sequence[Token]) -> set[str]:
    """Return the distinct terms of tokens."""
    return {token[0] for token in tokens}


class Bridge:
    """Which terms of another text a token stands for: itself, and across languages the glossary's."""

    def __init__(self, tokens: Sequence[Token], glossary: Glossary) -> None:
        """Look up all tokens of a sentence at once."""
        words = [token[0] for token in tokens]
        self._others: dict[tuple[int, int], set[frozenset[str]]] = {}
        self._own: dict[tuple[int, int], tuple[str, ...]] = {}
        for match in glossary.translations(words):
            span = tokens[match.start][2], tokens[match.end - 1][3]
            self._others.setdefault(span, set()).add(frozenset(match.other_tokens))
            self._own[span] = tuple(words[match.start : match.end])

    def found(self, held: set[str]) -> list[bool]:
        """Tell for each term that the glossary knows whether it stands among `held`, in either language."""
        return [
            held.issuperset(self._own[span]) or any(held.issuperset(other) for other in others)
            for span, others in self._others.items()
        ]

    def shared(self, tokens: Sequence[Token], held: AbstractSet[str]) -> int:
        """Count the terms of these tokens that stand among `held`, in either language."""
        found = {token[0] for token in tokens if token[0] in held and not token[0].isdigit()}
        translated: set[int] = set()  # where the tokens start
        if tokens:
            begin, end = tokens[0][2], tokens[-1][3]
            for (start, stop), others in self._others.items():
                if begin <= start and stop <= end and any(held >= other for other in others):
                    # A term of several words counts as so many.
                    inside = [token for token in tokens if start <= token[2] < stop]
                    translated |= {token[2] for token in inside if token[0] not in held}
        return len(found) + len(translated)
