"""Pairs of a glossary, and the language of a term."""

import re
from dataclasses import dataclass
from typing import Literal

Source = Literal["bracket", "keywords", "title", "user", "general"]
Target = Literal["ko", "en"]
Tokens = tuple[str, ...]

LONGEST_TERM = 80
LONGEST_TOKENS = 24

HANGUL = re.compile("[가-힣]")
LATIN = re.compile("[A-Za-zÀ-ÖØ-öø-ſ]")
# The innermost brackets, ASCII and full-width.
BRACKET = re.compile(r"[(（]([^()（）]{1,200})[)）]")


@dataclass(frozen=True, slots=True)
class Pair:
    """A Korean and an English term that mean the same, with their tokens in the index's analysis.

    `count` is the number of papers with the pair, `sources` its origins: bracket, keywords, title. A given
    pair has the source user or general, and count 0. `target` is the only language that it is looked up for,
    None for both.
    """

    korean: str
    english: str
    korean_tokens: tuple[str, ...]
    english_tokens: tuple[str, ...]
    count: int
    sources: tuple[str, ...]
    target: Target | None = None

    @property
    def has_tokens(self) -> bool:
        """Whether both terms have tokens after analysis, and not too many."""
        return all(0 < len(tokens) <= LONGEST_TOKENS for tokens in (self.korean_tokens, self.english_tokens))


def term_language(term: str) -> Target | None:
    """Return the language of a term: Korean (some Hangul) or English (Latin letters only)."""
    if HANGUL.search(term):
        return "ko"
    return "en" if LATIN.search(term) else None


def contains(tokens: Tokens, phrase: Tokens) -> bool:
    """Check whether the tokens contain a phrase without a gap."""
    size = len(phrase)
    return any(tokens[start : start + size] == phrase for start in range(len(tokens) - size + 1))
