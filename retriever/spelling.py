"""Near spellings of a token that the index does not hold: typing errors, transliterations, accents."""

import asyncio
import unicodedata
from collections.abc import Iterable

from rapidfuzz.distance import OSA

from retriever.engines import Engine

# Terms looked through for one token; they share its first letter or syllable.
LOOKED_THROUGH = 50_000
MOST_VARIANTS = 3
SHORTEST_LATIN, SHORTEST_HANGUL = 4, 3
LONG_LATIN = 8  # letters from which two errors are allowed
LEAST_SIMILARITY = 0.8  # of the letters (Hangul: jamo)
VARIANT_WEIGHT = 0.8  # of a near spelling beside the word itself
HANGUL = range(0xAC00, 0xD7A4)


async def near_spellings(token: str, engine: Engine) -> list[str]:
    """Return the index's terms nearest to `token` by letters (Hangul by jamo), the nearest class only.

    Empty for numbers and for words too short to tell an error from another word.
    """
    hangul = ord(token[0]) in HANGUL
    if not any(map(str.isalpha, token)) or len(token) < (SHORTEST_HANGUL if hangul else SHORTEST_LATIN):
        return []
    errors = 2 if hangul or len(spelled(token)) >= LONG_LATIN else 1
    terms = await engine.terms_near(token, LOOKED_THROUGH)
    # Comparing so many terms would block the event loop for too long.
    return await asyncio.to_thread(_nearest, token, terms, errors)


def _nearest(token: str, terms: Iterable[tuple[str, int]], errors: int) -> list[str]:
    """Return the terms that differ from `token` in the fewest letters, of equals the frequent first."""
    letters = spelled(token)
    found: list[tuple[int, int, str]] = []
    for term, frequency in terms:
        other = spelled(term)
        distance = OSA.distance(letters, other, score_cutoff=errors)
        if term != token and distance <= errors and _similar(distance, letters, other):
            found.append((distance, -frequency, term))
    found.sort()
    return [term for distance, _, term in found[:MOST_VARIANTS] if distance == found[0][0]]


def spelled(term: str) -> str:
    """Write a term in letters: Hangul as jamo, Latin without accents."""
    decomposed = unicodedata.normalize("NFD", term)
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")


def _similar(distance: int, one: str, other: str) -> bool:
    return distance == 0 or 1 - distance / max(len(one), len(other)) >= LEAST_SIMILARITY
