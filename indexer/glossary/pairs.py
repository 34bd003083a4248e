"""A glossary's entry, and in which language a term is."""

import re
from dataclasses import dataclass
from typing import Literal

Source = Literal["bracket", "keywords", "title"]

HANGUL = re.compile("[가-힣]")
LATIN = re.compile("[A-Za-zÀ-ÖØ-öø-ſ]")


@dataclass(frozen=True, slots=True)
class Pair:
    """A Korean and an English term that mean the same, with their tokens in the index's analysis.

    `count` is the number of papers the pair was seen in, `sources` where: bracket, keywords, title.
    """

    korean: str
    english: str
    korean_tokens: tuple[str, ...]
    english_tokens: tuple[str, ...]
    count: int
    sources: tuple[str, ...]


def term_language(term: str) -> Literal["ko", "en"] | None:
    """Tell a Korean term (some Hangul) from an English one (Latin letters only)."""
    if HANGUL.search(term):
        return "ko"
    return "en" if LATIN.search(term) else None
