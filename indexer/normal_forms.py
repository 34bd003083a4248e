"""Titles, texts and DOIs in the form in which they are compared."""

import re
import unicodedata
from functools import lru_cache

NOT_A_LETTER = re.compile(r"[\W_]+")
ASCII = bytes(range(128))
ASCII_NO_LETTERS = bytes(code for code in ASCII if not chr(code).isalnum())
ASCII_LOWERCASE = bytes(range(256)).lower()
ASCII_WORDS = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(256))
# Characters that are not seen (Default_Ignorable_Code_Point), and marks that are set on letters.
UNSEEN = re.compile(
    "[\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
NUMBER = re.compile(r"(\d+(?:[.,]\d+)*)[%\s]*([^\W\d_]*)")  # and the word behind it
COMPARED_CHARACTERS = 4_000  # of a text
REMEMBERED_TEXTS = 1_000  # searches find the same passages again and again
SHORTEST_TITLE = 8  # letters; "Editorial" and its like stand over many papers
DOI = re.compile(r"10\.\d{4,9}(?:\.\d{1,9}){0,3}/\S{1,500}")
DOI_PREFIX = re.compile(r"^(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def normal_title(title: str) -> str:
    """Return the title's letters and digits alone, in one case."""
    if title.isascii():  # the same, several times faster
        return title.encode().translate(ASCII_LOWERCASE, ASCII_NO_LETTERS).decode()
    return NOT_A_LETTER.sub("", unicodedata.normalize("NFKC", title).casefold())


def normal_words(text: str) -> frozenset[str]:
    """Return the distinct words at the beginning of a text, in one case; digits of a number stand apart."""
    return _words(text[:COMPARED_CHARACTERS])


def numbers_in(text: str) -> frozenset[tuple[str, str]]:
    """Return the numbers at the beginning of a text, each with the word behind it: 24 and plots."""
    return _numbers(text[:COMPARED_CHARACTERS])


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _words(text: str) -> frozenset[str]:
    if text.isascii():  # the same, several times faster
        return frozenset(text.encode().translate(ASCII_WORDS).decode().split())
    return frozenset(NOT_A_LETTER.sub(" ", _seen(text)).casefold().split())


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _numbers(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(NUMBER.findall(_seen(text).casefold()))


def _seen(text: str) -> str:
    return UNSEEN.sub("", unicodedata.normalize("NFKC", text))


def normal_doi(doi: str) -> str:
    """Return a DOI without resolver and in one case."""
    return DOI_PREFIX.sub("", doi.strip()).casefold()


def whole_doi(text: str) -> str:
    """Return the normalised DOI that a text is as a whole, "" where it is none."""
    doi = text.strip().casefold() if text.startswith("10.") else normal_doi(text)
    return doi if DOI.fullmatch(doi) else ""
