"""Titles, texts and DOIs in the form in which they are compared."""

import re
import unicodedata
from functools import lru_cache

from indexer.corpora.seen_characters import IN_WORDS, SEEN, as_in_words

NOT_A_LETTER = re.compile(r"[\W_]+")
DIGITS = re.compile(r"\d+")
ASCII = bytes(range(128))
ASCII_NO_LETTERS = bytes(code for code in ASCII if not chr(code).isalnum())
ASCII_LOWERCASE = bytes(range(256)).lower()
ASCII_UNSEEN = bytes(code for code in ASCII if not as_in_words(chr(code)))
ASCII_IN_WORDS = bytes(ord(as_in_words(chr(code).lower()) or " ") for code in ASCII) + bytes(128)
# A number and the beginning of the word behind it, within a clause: 24 and pl of "24 plots".
NUMBER = re.compile(r"(\d+(?:[.,]\d+)*)[^\w.,:;!?()\[\]]{0,5}([^\W\d_]{0,2})")
READ_CHARACTERS = 8_000  # of a text; of these, those that are not seen are dropped
COMPARED_CHARACTERS = 4_000  # of those that are left
REMEMBERED_TEXTS = 1_000  # searches find the same passages again and again
SHORTEST_TITLE = 8  # letters; "Editorial" and its like stand over many papers
DOI = re.compile(r"10\.\d{4,9}(?:\.\d{1,9}){0,3}/\S{1,500}")
DOI_PREFIX = re.compile(r"^(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def normal_title(title: str) -> str:
    """Return the title's letters and digits alone, in one case."""
    if title.isascii():  # the same, several times faster
        return title.encode().translate(ASCII_LOWERCASE, ASCII_NO_LETTERS).decode()
    return NOT_A_LETTER.sub("", unicodedata.normalize("NFKC", title).casefold())


def words_in_order(text: str) -> tuple[str, ...]:
    """Return the words at the beginning of a text, in one case and without characters that are not seen."""
    return _words_in_order(text[:READ_CHARACTERS])


def normal_words(text: str) -> frozenset[str]:
    """Return the distinct words at the beginning of a text, in one case; digits of a number stand apart."""
    return _words(text[:READ_CHARACTERS])


def normal_letters(text: str) -> str:
    """Return the letters at the beginning of a text, in one case, without digits and borders of words."""
    return DIGITS.sub("", "".join(words_in_order(text)))


def numbers_in(text: str) -> frozenset[tuple[str, str]]:
    """Return the numbers at the beginning of a text, each with how the word behind it begins: 24 and pl."""
    return _numbers(text[:READ_CHARACTERS])


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _words_in_order(text: str) -> tuple[str, ...]:
    if text.isascii():  # the same, several times faster
        seen = text.encode().translate(ASCII_IN_WORDS, ASCII_UNSEEN).decode()
    else:
        seen = unicodedata.normalize("NFKC", text).casefold().translate(IN_WORDS)
    return tuple(seen[:COMPARED_CHARACTERS].split())


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _words(text: str) -> frozenset[str]:
    return frozenset(_words_in_order(text))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _numbers(text: str) -> frozenset[tuple[str, str]]:
    seen = unicodedata.normalize("NFKC", text).casefold().translate(SEEN)
    return frozenset(NUMBER.findall(seen[:COMPARED_CHARACTERS]))


def normal_doi(doi: str) -> str:
    """Return a DOI without resolver and in one case."""
    return DOI_PREFIX.sub("", doi.strip()).casefold()


def whole_doi(text: str) -> str:
    """Return the normalised DOI that a text is as a whole, "" where it is none."""
    doi = text.strip().casefold() if text.startswith("10.") else normal_doi(text)
    return doi if DOI.fullmatch(doi) else ""
