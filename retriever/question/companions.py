"""Tokens of a question that match only next to the tokens they belong to.

A single Hangul syllable directly after another token is a suffix or the rest of a compound (항생 + 제), and
a prefix is directly before its word (비 + 선형). Alone, such a syllable matches words of any meaning, so it
matches only next to that token, as in the question. The numbers and short words of a formula or of a name
with digits (CO2, covid-19) match only in the whole name.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from indexer.analysis.tokens import TaggedToken
from indexer.glossary.storage import Unit
from retriever.queries.boolean import Pattern

PREFIX = "XPN"
LEAST_ALONE = 3  # letters of a token of such a name that matches alone (covid, sars); in Hangul one fewer


def companion_patterns(tagged: Sequence[TaggedToken], units: Collection[Unit] = ()) -> dict[str, Pattern]:
    """Return the patterns of the tokens that do not match alone.

    A token that the question also has alone is left out. `units` are the terms of several tokens
    (`compounds`).
    """
    found: dict[str, Pattern] = {}
    free: set[str] = set()
    in_units: set[int] = set()  # places
    for first, last in units:
        tokens = [token for token, _ in tagged[first : last + 1]]
        pattern = tuple((token[1] - tokens[0][1], token[0]) for token in tokens)
        in_units.update(range(first, last + 1))
        found |= {token[0]: pattern for token in tokens if not _matches_alone(token[0])}
    ordered = sorted(enumerate(tagged), key=lambda pair: pair[1][0][1:3])
    token_before: Mapping[int, str] = {  # the token that ends where the token at this place starts
        place: first[0]
        for place, ((_, (first, _)), (_, (second, _))) in enumerate(pairwise(ordered), 1)
        if first[3] == second[2] and first[1] < second[1]
    }
    for place, (number, (token, tag)) in enumerate(ordered):
        term = token[0]
        if number in in_units:
            continue
        if is_syllable(term) and place in token_before:
            found.setdefault(term, ((0, token_before[place]), (1, term)))
        elif is_syllable(term) and tag == PREFIX and place + 1 in token_before:
            found.setdefault(term, ((0, term), (1, ordered[place + 1][1][0][0])))
        else:
            free.add(term)
    return {term: pattern for term, pattern in found.items() if term not in free}


def is_syllable(token: str) -> bool:
    """Return whether a token is a single Hangul syllable."""
    return len(token) == 1 and "가" <= token <= "힣"


def _matches_alone(token: str) -> bool:
    """Return whether a token of a name has enough letters, and nothing else, to mean something alone."""
    return token.isalpha() and len(token) >= (LEAST_ALONE if token.isascii() else LEAST_ALONE - 1)
