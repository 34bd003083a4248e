"""Pairs of a glossary: a Korean and an English term, their tokens, and the directions of their lookup."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from indexer.analysis.normal_form import normal_form
from indexer.analysis.tokens import Analyzer

Source = Literal["bracket", "keywords", "user", "general"]
Target = Literal["ko", "en"]
Tokens = tuple[str, ...]

LONGEST_TERM = 80
LONGEST_TOKENS = 24
FIRST_SYLLABLE, FINALS = 0xAC00, 28  # of Unicode's Hangul syllables; the finals of each initial and medial
NOUN = "연구"  # a noun of one token

HANGUL = re.compile("[가-힣]")
LATIN = re.compile("[A-Za-zÀ-ÖØ-öø-ſ]")
# The innermost brackets, ASCII and full-width.
BRACKET = re.compile(r"[(（]([^()（）]{1,200})[)）]")
QUOTES = " \t\n\"'“”‘’.,"  # around the parts of a bracket


class Sighting(NamedTuple):
    """A pair as written, and the kind of its evidence; one unsure passage is not enough."""

    korean: str
    english: str
    kind: Literal["keywords", "bracket", "unsure"] = "bracket"


@dataclass(frozen=True, slots=True)
class Pair:
    """A Korean and an English term that mean the same, with their tokens in the index's analysis.

    `count` is the number of passages with the pair, `sources` its origins: bracket, keywords. A given pair
    has the source user or general, and count 0. `target` is the only language that it is looked up for,
    None for both.
    """

    korean: str
    english: str
    korean_tokens: Tokens
    english_tokens: Tokens
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


def term_tokens(term: str, analyzer: Analyzer) -> Tokens:
    """Return the tokens of a term; none if the analysis drops a Korean word (거꾸로 학습 is not 학습)."""
    tokens = analyzer.analyze(term)
    if HANGUL.search(term):
        for word in re.finditer(r"\S+", term):
            if not any(token[2] < word.end() and token[3] > word.start() for token in tokens):
                return ()
    return tuple(token[0] for token in tokens)


def korean_tokens(term: str, analyzer: Analyzer) -> Tokens:
    """Return the tokens of a Korean term.

    The term is analysed alone, as an object (비만을), word by word and after a noun (연구 이주). The fewest
    tokens that keep all letters are returned; if none do, those of the term alone.
    """
    alone = term_tokens(term, analyzer)
    if not term or (len(alone) == 1 and spell(alone, term)):
        return alone
    ends_open = (ord(term[-1]) - FIRST_SYLLABLE) % FINALS == 0
    as_object = term_tokens(term + ("를" if ends_open else "을"), analyzer)
    by_word = tuple(token for word in term.split() for token in term_tokens(word, analyzer))
    behind_noun = term_tokens(f"{NOUN} {term}", analyzer)[1:]
    whole = [tokens for tokens in (alone, as_object, by_word, behind_noun) if spell(tokens, term)]
    return min(whole, key=len, default=alone)


def spell(tokens: Sequence[str], term: str) -> bool:
    """Check whether the tokens cover all letters and digits of a term."""
    return "".join(tokens) == "".join(filter(str.isalnum, normal_form(term, hanja=True).text.lower()))
