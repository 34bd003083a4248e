"""Normal forms of titles, texts and DOIs for comparison: no invisible characters, look-alikes unified."""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

# Look-alikes in Cyrillic, Greek and other scripts, lower-case. They are also replaced in words of these
# scripts, as both compared texts are changed in the same way. The Greek mu is kept, as μm is not mm.
LOOK_ALIKES = dict(
    zip("авекмнорстухѕіјӏԁһԛԝαβεζηικνορτυχıɡօ", "abekmhopctyxsijldhqwabezhikvoptuxigo", strict=True)
)
# Invisible letters and symbols: Hangul fillers, the Arabic tatweel, the empty Braille cell.
BLANK = "\u115f\u1160\u3164\uffa0\u0640\u2800"
WHITE_SPACE = "\t\n\v\f\r"  # white space among the control characters
# Marks on letters, control and format characters, separators of lines and paragraphs, unassigned characters.
UNSEEN_CATEGORIES = {"Mn", "Mc", "Me", "Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
MOST_REMEMBERED = 50_000


def as_seen(character: str) -> str:
    """Return the comparison form of a character: without accents, "" for an invisible one."""
    character = _without_accents(character)
    category = unicodedata.category(character)
    if character in LOOK_ALIKES:
        return LOOK_ALIKES[character]
    if category == "Nd":
        return str(unicodedata.decimal(character))
    unseen = character in BLANK or (category in UNSEEN_CATEGORIES and character not in WHITE_SPACE)
    return "" if unseen else character


def _without_accents(character: str) -> str:
    """Return the base letter of an accented letter; Hangul syllables are unchanged."""
    apart = unicodedata.normalize("NFD", character)
    letter, marks = apart[0], apart[1:]
    return letter if all(unicodedata.category(mark) == "Mn" for mark in marks) else character


def as_in_words(character: str) -> str:
    """Return the comparison form of a letter or digit, and a space for other characters."""
    seen = as_seen(character)
    return seen if not seen or seen.isalnum() else " "


class CharacterTable(dict[int, str]):
    """A table for `str.translate`, filled on demand."""

    def __init__(self, form: Callable[[str], str]) -> None:
        """Create an empty table."""
        super().__init__()
        self._form = form

    def __missing__(self, code: int) -> str:
        """Compute the form of a new character."""
        form = self._form(chr(code))
        if len(self) < MOST_REMEMBERED:
            self[code] = form
        return form


SEEN, IN_WORDS = CharacterTable(as_seen), CharacterTable(as_in_words)


NOT_A_LETTER = re.compile(r"[\W_]+")
DIGITS = re.compile(r"\d+")
ASCII = bytes(range(128))
ASCII_NO_LETTERS = bytes(code for code in ASCII if not chr(code).isalnum())
ASCII_LOWERCASE = bytes(range(256)).lower()
ASCII_UNSEEN = bytes(code for code in ASCII if not as_in_words(chr(code)))
ASCII_IN_WORDS = bytes(ord(as_in_words(chr(code).lower()) or " ") for code in ASCII) + bytes(128)
# A number and the beginning of the following word within a clause: 24 and pl of "24 plots".
NUMBER = re.compile(r"(\d+(?:[.,]\d+)*)[^\w.,:;!?()\[\]]{0,5}([^\W\d_]{0,2})")
READ_CHARACTERS = 8_000  # characters of a text that are read; invisible ones are dropped
COMPARED_CHARACTERS = 4_000  # limit of the remaining characters
REMEMBERED_TEXTS = 1_000  # cache size, as searches find the same passages repeatedly
SHORTEST_TITLE = 8  # letters; titles such as "Editorial" are shared by many papers
DOI = re.compile(r"10\.\d{4,9}(?:\.\d{1,9}){0,3}/\S{1,500}")
DOI_PREFIX = re.compile(r"^(?:(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def normal_title(title: str) -> str:
    """Return the letters and digits of a title in lower case."""
    if title.isascii():  # the same, several times faster
        return title.encode().translate(ASCII_LOWERCASE, ASCII_NO_LETTERS).decode()
    return NOT_A_LETTER.sub("", unicodedata.normalize("NFKC", title).casefold())


def words_in_order(text: str) -> tuple[str, ...]:
    """Return the words at the beginning of a text, lower-case and without invisible characters."""
    return _words_in_order(text[:READ_CHARACTERS])


def normal_words(text: str) -> frozenset[str]:
    """Return the distinct words at the beginning of a text, lower-case, with numbers split into digits."""
    return _words(text[:READ_CHARACTERS])


def normal_letters(text: str) -> str:
    """Return the letters at the beginning of a text, lower-case, without digits and word boundaries."""
    return DIGITS.sub("", "".join(words_in_order(text)))


def numbers_in(text: str) -> frozenset[tuple[str, str]]:
    """Return the numbers at the beginning of a text, each with the start of the following word: 24 and pl."""
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
    """Return a DOI in lower case, without resolver."""
    return DOI_PREFIX.sub("", doi.strip()).casefold()


def whole_doi(text: str) -> str:
    """Return the normalised DOI if the text is a single DOI, otherwise ""."""
    doi = text.strip().casefold() if text.startswith("10.") else normal_doi(text)
    return doi if DOI.fullmatch(doi) else ""
