"""Keys of known items: the authors, journal, title and DOI of a paper in one form for index and question.

Case, accents, punctuation and the order of a name's parts do not matter: "Jang, Boram", "boram jang" and
"Jang" have a key in common, and so have "B. Jang" and "Boram Jang". A name in Hangul is one word.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import permutations

from indexer.analysis.normal_form import normal_form
from indexer.corpora.names import IN_BRACKETS
from indexer.corpora.normal_forms import identifier, normal_title

MAX_WORDS = 6  # of a name with keys for its parts
MIN_TITLE_WORDS = 3  # before a colon, for a second key
WITHIN_WORD = re.compile(r"(?<=\w)['’ʼ‐-](?=\w)")
WORD = re.compile(r"[^\W\d_]+")
HANGUL_SPACE = re.compile(r"(?<=[가-힣])\s+(?=[가-힣])")


def author_key(name: str) -> str:
    """Return the key of a whole name or of a part of one."""
    return _author_key(_words(name))


def journal_key(journal: str) -> str:
    """Return the key of a journal's whole name."""
    return "journal:" + _letters(journal)


def title_key(title: str) -> str:
    """Return the key of a title, or of its part before a colon."""
    return "title:" + blake2b(_letters(title).encode(), digest_size=8).hexdigest()


def doi_key(doi: str) -> str:
    """Return the key of a DOI or arXiv id, with or without resolver."""
    return "doi:" + (identifier(doi) or doi.strip().casefold())


KEYS = {"authors": author_key, "journal": journal_key, "doi": doi_key}


def exact_terms(field: str, values: Sequence[str]) -> tuple[str, list[str]]:
    """Return the field of the index, and its terms, for a condition on a field: names are found by keys."""
    if field in KEYS:
        return "keys", [KEYS[field](value) for value in values]
    return field, list(values)


def paper_keys(
    authors: Iterable[str], titles: Iterable[str], journal: str, identifiers: Iterable[str]
) -> tuple[str, ...]:
    """Return the keys of a paper; of `identifiers` only DOIs and arXiv ids."""
    found = list(author_keys(authors))
    for title in filter(_letters, titles):
        main = title.split(":")[0]
        found += [title_key(title)] + ([title_key(main)] if len(main.split()) >= MIN_TITLE_WORDS else [])
    found += [doi_key(text) for text in identifiers if identifier(text)]
    found += [journal_key(journal)] if _letters(journal) else []
    return tuple(dict.fromkeys(found))


def author_keys(authors: Iterable[str]) -> Iterator[str]:
    """Yield the keys of each author: of the whole name, of its form in brackets, and of parts of these."""
    for author in authors:
        parts = (IN_BRACKETS.sub(" ", _normal(author)), *IN_BRACKETS.findall(_normal(author)))
        for name in (author, *(part.replace("-", " ") for part in parts)):
            if words := _words(name):
                yield _author_key(words)
        for part in parts:
            yield from map(_author_key, _parts_of_name(_words(part)))


def _author_key(words: Iterable[str]) -> str:
    return "author:" + " ".join(sorted(words))


def _parts_of_name(words: list[str]) -> Iterator[Sequence[str]]:
    """Yield the words of a name, its pairs of words, those with an initial, and the whole name."""
    if len(words) in range(2, MAX_WORDS + 1):
        yield from ((word,) for word in words if len(word) > 1)
        for one, other in permutations(words, 2):
            yield from ((one, other), (one[0], other))
    if words:
        yield words


def _words(name: str) -> list[str]:
    return WORD.findall(HANGUL_SPACE.sub("", WITHIN_WORD.sub("", _normal(name).casefold())))


def _letters(text: str) -> str:
    return normal_title(_normal(text))


def _normal(text: str) -> str:
    return normal_form(unicodedata.normalize("NFC", text), hanja=True).text
