"""Pairs of a glossary: a Korean and an English term, their tokens, and the directions of their lookup."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from indexer.analysis.normal_form import normal_form
from indexer.analysis.tokens import Analyzer

Source = Literal["bracket", "keywords", "user", "general"]
Target = Literal["ko", "en"]
Tokens = tuple[str, ...]

LONGEST_TERM = 80
LONGEST_TOKENS = 24
SHORTEST_STEM = 2  # syllables of a term without its suffix
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

    The term is analysed alone, as an object (비만을) and word by word, and the fewest complete tokens are
    returned. If all analyses drop a part, the term itself is returned if it is a token after a noun (연구
    이주).
    """
    tokens = term_tokens(term, analyzer)
    if not term or (len(tokens) == 1 and spell(tokens, term)):
        return tokens
    ends_open = (ord(term[-1]) - FIRST_SYLLABLE) % FINALS == 0
    as_object = term_tokens(term + ("를" if ends_open else "을"), analyzer)
    by_word = tuple(token for word in term.split() for token in term_tokens(word, analyzer))
    readings = (tokens, as_object, by_word) if spell(tokens, term) else (as_object,)
    whole = [reading for reading in readings if spell(reading, term)]
    if whole:
        return min(whole, key=len)
    behind_noun = term_tokens(f"{NOUN} {term}", analyzer)[1:]
    return behind_noun if behind_noun == (term,) else tokens


def spell(tokens: Sequence[str], term: str) -> bool:
    """Check whether the tokens cover all letters and digits of a term."""
    return "".join(tokens) == "".join(filter(str.isalnum, normal_form(term, hanja=True).text.lower()))


def with_targets(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield the pairs, split by direction if the only token is a part of a Korean term.

    The token 혈압 of 고혈압 would match questions about blood pressure. Such a pair is looked up from English
    by the token, and from Korean by the whole term. A term may lose a suffix (타당성) unless the token is the
    term of another pair.
    """
    pairs = list(pairs)
    whole = {
        pair.korean_tokens[0]
        for pair in pairs
        if pair.korean_tokens == (pair.korean,) and pair.target != "ko"
    }
    for pair in pairs:
        tokens = pair.korean_tokens
        is_part = len(tokens) == 1 and not spell(tokens, pair.korean)
        if not is_part or (_is_stem(tokens[0], pair.korean) and tokens[0] not in whole):
            yield pair
            continue
        if pair.target != "en":
            yield replace(pair, target="ko")
        if pair.target != "ko" and " " not in pair.korean:
            yield replace(pair, korean_tokens=(pair.korean,), target="en")


def _is_stem(token: str, term: str) -> bool:
    """Check whether a term is a token with a suffix or a nominal ending: 타당성, 돌봄 of 돌보."""
    is_long_enough = len(token) >= SHORTEST_STEM
    return is_long_enough and (token == term[:-1] or (len(token) == len(term) and token[:-1] == term[:-1]))
