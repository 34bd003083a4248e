"""Tokens of the terms of a pair, and the directions in which a pair is looked up."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from indexer.analysis.tokens import Analyzer
from indexer.glossary.pairs import HANGUL, Pair
from indexer.glossary.transliteration import FINALS, FIRST_SYLLABLE

SHORTEST_STEM = 2  # syllables of a term without its suffix
NOUN = "연구"  # a noun of one token


def term_tokens(term: str, analyzer: Analyzer) -> tuple[str, ...]:
    """Return the tokens of a term; none if the analysis drops a Korean word (거꾸로 학습 is not 학습)."""
    tokens = analyzer.analyze(term)
    if HANGUL.search(term):
        position = 0
        for word in term.split():
            start = term.index(word, position)
            position = start + len(word)
            if not any(token[2] < position and token[3] > start for token in tokens):
                return ()
    return tuple(token[0] for token in tokens)


def korean_tokens(term: str, analyzer: Analyzer) -> tuple[str, ...]:
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
    return "".join(tokens) == "".join(filter(str.isalnum, term.lower()))


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
