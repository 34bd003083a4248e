"""Characters as a reader sees them: unseen ones dropped, and one letter for several that look alike."""

import unicodedata
from collections.abc import Callable

# Of Cyrillic, Greek and others, in lower case. In words of these scripts they are replaced too: two texts are
# compared, and both are changed in the same way. The Greek mu stays, since μm is not mm.
LOOK_ALIKES = dict(
    zip("авекмнорстухѕіјӏԁһԛԝαβεζηικνορτυχıɡօ", "abekmhopctyxsijldhqwabezhikvoptuxigo", strict=True)
)
# Letters and symbols without an image: fillers of Hangul, the Arabic tatweel, the empty Braille cell.
BLANK = "\u115f\u1160\u3164\uffa0\u0640\u2800"
WHITE_SPACE = "\t\n\v\f\r"  # of the control characters
# Marks on letters, control and format characters, separators of lines and paragraphs, unassigned characters.
UNSEEN_CATEGORIES = {"Mn", "Mc", "Me", "Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
MOST_REMEMBERED = 50_000


def as_seen(character: str) -> str:
    """Return the form in which a character is compared: without accents, "" for one that is not seen."""
    character = _without_accents(character)
    category = unicodedata.category(character)
    if character in LOOK_ALIKES:
        return LOOK_ALIKES[character]
    if category == "Nd":
        return str(unicodedata.decimal(character))
    unseen = character in BLANK or (category in UNSEEN_CATEGORIES and character not in WHITE_SPACE)
    return "" if unseen else character


def _without_accents(character: str) -> str:
    """Return the letter under accents; syllables of Hangul stay whole."""
    apart = unicodedata.normalize("NFD", character)
    letter, marks = apart[0], apart[1:]
    return letter if all(unicodedata.category(mark) == "Mn" for mark in marks) else character


def as_in_words(character: str) -> str:
    """Return the same, and a space for what is neither letter nor digit."""
    seen = as_seen(character)
    return seen if not seen or seen.isalnum() else " "


class CharacterTable(dict[int, str]):
    """A table for `str.translate`, filled with the characters that texts hold."""

    def __init__(self, form: Callable[[str], str]) -> None:
        """Begin with no character."""
        super().__init__()
        self._form = form

    def __missing__(self, code: int) -> str:
        """Return the form of a character that was not met before."""
        form = self._form(chr(code))
        if len(self) < MOST_REMEMBERED:
            self[code] = form
        return form


SEEN, IN_WORDS = CharacterTable(as_seen), CharacterTable(as_in_words)
