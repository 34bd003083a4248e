"""A glossary's entry, and in which language a term is."""

import re
from dataclasses import dataclass
from typing import Literal

from indexer.analysis.tokens import Analyzer

Source = Literal["bracket", "keywords", "title", "user", "general"]
Target = Literal["ko", "en"]

LONGEST_TERM = 80
LONGEST_TOKENS = 24

HANGUL = re.compile("[가-힣]")
LATIN = re.compile("[A-Za-zÀ-ÖØ-öø-ſ]")
# The innermost brackets, ASCII and full-width.
BRACKET = re.compile(r"[(（]([^()（）]{1,200})[)）]")


@dataclass(frozen=True, slots=True)
class Pair:
    """A Korean and an English term that mean the same, with their tokens in the index's analysis.

    `count` is the number of papers the pair was seen in, `sources` where: bracket, keywords, title. One that
    was given is of the source user or general, and counted in no paper. `target` is the only language that it
    is looked up for, None for both.
    """

    korean: str
    english: str
    korean_tokens: tuple[str, ...]
    english_tokens: tuple[str, ...]
    count: int
    sources: tuple[str, ...]
    target: Target | None = None


def term_language(term: str) -> Target | None:
    """Tell a Korean term (some Hangul) from an English one (Latin letters only)."""
    if HANGUL.search(term):
        return "ko"
    return "en" if LATIN.search(term) else None


def term_tokens(term: str, analyzer: Analyzer) -> tuple[str, ...]:
    """Return a term's tokens; of a Korean one none if a whole word is dropped: 거꾸로 학습 is not 학습."""
    tokens = analyzer.analyze(term)
    if HANGUL.search(term):
        position = 0
        for word in term.split():
            start = term.index(word, position)
            position = start + len(word)
            if not any(token[2] < position and token[3] > start for token in tokens):
                return ()
    return tuple(token[0] for token in tokens)
