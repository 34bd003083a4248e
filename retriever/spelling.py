"""Near spellings of a word that the index does not contain: typing errors, transliterations.

A typed word is compared with the written words of the corpus, not with stems. An ordinary word (of an English
dictionary, or a common noun of the Korean one) is never replaced: it is spelled correctly, and no paper
contains it. Only its other English spelling is tried (tumour, tumor).
"""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from gzip import decompress
from importlib.resources import files

from rapidfuzz import process
from rapidfuzz.distance import OSA

from indexer.forward.lexicon import Lexicon
from indexer.glossary.storage import Glossary

MAX_VARIANTS = 3
SHORTEST_LATIN, SHORTEST_HANGUL = 4, 3
LONG_LATIN = 8  # letters from which two errors are allowed
LEAST_SIMILARITY = 0.8  # of the letters (Hangul: jamo)
HANGUL = range(0xAC00, 0xD7A4)
PROPER_NOUN = "NNP"  # also the tag of Korean words that are not in the dictionary
# British and American spellings of a part of a word.
SPELLINGS = (
    ("our", "or"),
    ("ise", "ize"),
    ("isa", "iza"),
    ("isi", "izi"),
    ("yse", "yze"),
    ("ysi", "yzi"),
    ("tre", "ter"),
    ("bre", "ber"),
    ("ae", "e"),
    ("oe", "e"),
    ("ll", "l"),
    ("ogue", "og"),
    ("ence", "ense"),
)

Spelling = tuple[str, str]  # a word of the corpus, and its token


def near_spellings(
    word: str, token: str, lexicon: Lexicon | None, glossary: Glossary, *, tag: str = ""
) -> list[Spelling]:
    """Return the nearest words of the corpus for a word that the index does not contain.

    Empty for numbers and short words. An ordinary word has only its other English spellings.

    Args:
        word: as it is typed.
        token: as it is analysed.
        lexicon: of the index; None if its terms are unknown.
        glossary: of the index, with the English words of its passages.
        tag: the token's part of speech, if it is known.
    """
    if lexicon is None or not any(map(str.isalpha, token)):
        return []
    if ord(token[0]) in HANGUL:
        if len(token) < SHORTEST_HANGUL or tag not in {PROPER_NOUN, ""}:
            return []
        terms = [(term, term, passages) for term, passages in lexicon.starting_with(token[0])]
        return _nearest(token, terms, 2)
    word = word.lower()
    if len(word) < SHORTEST_LATIN:
        return []
    words = glossary.words_starting_with(word[0])
    if is_ordinary(word):
        tokens = {known.word: known.token for known in words}
        variants = [variant for variant in _other_spellings(word) if variant in tokens]
        return [(variant, tokens[variant]) for variant in variants[:MAX_VARIANTS]]
    errors = 2 if len(spelled(word)) >= LONG_LATIN else 1
    return _nearest(word, [(known.word, known.token, known.passages) for known in words], errors)


def _nearest(word: str, known: Sequence[tuple[str, str, int]], errors: int) -> list[Spelling]:
    """Return the words that differ in the fewest letters, by descending number of passages.

    `known` are words with their tokens and numbers of passages.
    """
    letters, spellings = spelled(word), [spelled(other) for other, _, _ in known]
    near = process.extract(letters, spellings, scorer=OSA.distance, score_cutoff=errors, limit=None)
    found = []
    for of_other, distance, place in near:
        other, token, passages = known[place]
        if other != word and 1 - distance / max(len(letters), len(of_other), 1) >= LEAST_SIMILARITY:
            found.append((distance, -passages, other, token))
    found.sort()
    nearest: dict[str, str] = {}
    for distance, _, other, token in found:
        if distance == found[0][0]:
            nearest.setdefault(token, other)
    return [(other, token) for token, other in nearest.items()][:MAX_VARIANTS]


def is_ordinary(word: str) -> bool:
    """Check whether an English dictionary has a word, given in small letters."""
    return word in _dictionary()


@cache
def _dictionary() -> frozenset[str]:
    """Load the dictionary for the first unknown word; `SpellChecker` itself takes four times as long."""
    packed = files("spellchecker").joinpath("resources", "en.json.gz").read_bytes()
    return frozenset(json.loads(decompress(packed)))


def _other_spellings(word: str) -> Iterator[str]:
    for pair in SPELLINGS:
        for own, other in (pair, pair[::-1]):
            place = word.find(own)
            while place >= 0:
                yield word[:place] + other + word[place + len(own) :]
                place = word.find(own, place + 1)


def spelled(term: str) -> str:
    """Convert a term to letters: Hangul as jamo, Latin without accents."""
    if term.isascii():
        return term
    decomposed = unicodedata.normalize("NFD", term)
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")
