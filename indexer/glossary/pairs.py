"""A glossary's entry, and in which language a term is."""

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

    @property
    def has_tokens(self) -> bool:
        """Whether the analysis leaves something of both terms, and not too much."""
        return all(0 < len(tokens) <= LONGEST_TOKENS for tokens in (self.korean_tokens, self.english_tokens))


def term_language(term: str) -> Target | None:
    """Tell a Korean term (some Hangul) from an English one (Latin letters only)."""
    if HANGUL.search(term):
        return "ko"
    return "en" if LATIN.search(term) else None


def contains(tokens: Tokens, phrase: Tokens) -> bool:
    """Return True if the tokens contain a phrase without a gap."""
    size = len(phrase)
    return any(tokens[start : start + size] == phrase for start in range(len(tokens) - size + 1))
