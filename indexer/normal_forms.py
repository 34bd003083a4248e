"""Titles, texts and DOIs in the form in which they are compared."""

import re
import unicodedata

import regex

NOT_A_LETTER = re.compile(r"[\W_]+")
ASCII = bytes(range(128))
ASCII_NO_LETTERS = bytes(code for code in ASCII if not chr(code).isalnum())
ASCII_LOWERCASE = bytes(range(256)).lower()
# Characters that are not seen, such as zero-width spaces, and marks that are set on letters.
UNSEEN = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{M}]+")
WORD = re.compile(r"\d+(?:[.,]\d+)*|\w+")
COMPARED_CHARACTERS = 4_000  # of a text
SHORTEST_TITLE = 8  # letters; "Editorial" and its like stand over many papers
DOI = re.compile(r"10\.\d{4,9}(?:\.\d{1,9}){0,3}/\S{1,500}")
DOI_PREFIX = re.compile(r"^(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def normal_title(title: str) -> str:
    """Return the title's letters and digits alone, in one case."""
    if title.isascii():  # the same, several times faster
        return title.encode().translate(ASCII_LOWERCASE, ASCII_NO_LETTERS).decode()
    return NOT_A_LETTER.sub("", unicodedata.normalize("NFKC", title).casefold())


def normal_words(text: str) -> frozenset[str]:
    """Return the distinct words and numbers at the beginning of a text, in one case."""
    text = text[:COMPARED_CHARACTERS]
    if not text.isascii():
        text = UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    return frozenset(WORD.findall(text.casefold()))


def normal_doi(doi: str) -> str:
    """Return a DOI without resolver and in one case."""
    return DOI_PREFIX.sub("", doi.strip()).casefold()


def whole_doi(text: str) -> str:
    """Return the normalised DOI that a text is as a whole, "" where it is none."""
    doi = text.strip().casefold() if text.startswith("10.") else normal_doi(text)
    return doi if DOI.fullmatch(doi) else ""
