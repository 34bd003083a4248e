"""Visual normalisation of characters: invisible ones dropped, look-alikes unified."""

import unicodedata
from collections.abc import Callable

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
