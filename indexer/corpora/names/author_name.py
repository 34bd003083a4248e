"""An author's name as a value, and the choice of the rules that split its text."""

import unicodedata
from dataclasses import dataclass, replace

from base.letters import HANGUL
from indexer.corpora.names.korean import split_korean
from indexer.corpora.names.latin import PARTICLES, SUFFIXES, split_western
from indexer.corpora.names.organizations import is_organization
from indexer.corpora.names.parts import NameParts

MOST_PARTS = 3  # family, given, suffix


@dataclass(frozen=True, slots=True)
class AuthorName:
    """A name by the parts of CSL 1.0.2; a name that cannot be split is in `family` alone.

    `particle` is before the family name (van, de la), `suffix` after the name (Jr., III).
    """

    family: str
    given: str = ""
    particle: str = ""
    suffix: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the name was not split: an organization, a single name, an unknown script."""
        return not self.given

    @property
    def is_korean(self) -> bool:
        """Whether the name is in Hangul, with the family name first and no space between."""
        return HANGUL.match(self.family) is not None

    @property
    def last_name(self) -> str:
        """The family name with its particle."""
        return f"{self.particle} {self.family}".strip()

    @property
    def natural(self) -> str:
        """The name as it is read: 곽소율, Ludwig van Beethoven, Martin Luther King Jr."""
        if self.is_korean and self.given:
            return f"{self.family}{self.given}"
        return " ".join(part for part in (self.given, self.particle, self.family, self.suffix) if part)

    def __str__(self) -> str:
        """Return "Family, Given" with particle and suffix, or the whole name; `split_name` reads it again."""
        return ", ".join(part for part in (self.last_name, self.given, self.suffix) if part)


def split_name(text: str) -> AuthorName:
    """Split the name of one author.

    "Family, Given" and "Family, Given, Suffix" are split at the commas. Without a comma, a name in Hangul is
    split by the list of Korean family names, a name in Latin, Cyrillic or Greek letters before its last word
    or its particle. Names of organizations, single names and names in other scripts stay whole.
    """
    name = unicodedata.normalize("NFC", text).strip()
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 1:
        return _of_parts(name, _without_comma(name))
    if parts[0] and parts[1:] == [""]:  # the form of RIS for an unsplit name
        return split_name(parts[0])
    if len(parts) > MOST_PARTS or not all(parts) or is_organization(name):
        return AuthorName(name)
    return _with_comma(name, parts)


def _without_comma(name: str) -> NameParts | None:
    if is_organization(name):
        return None
    return split_korean(name) if HANGUL.search(name) else split_western(name)


def _of_parts(name: str, parts: NameParts | None) -> AuthorName:
    return AuthorName(parts.family, parts.given, parts.particle, parts.suffix) if parts else AuthorName(name)


def _with_comma(name: str, parts: list[str]) -> AuthorName:
    """Read "Family, Given", "Given Family, Suffix", "Family, Given, Suffix" and "Family, Suffix, Given"."""
    suffixes = [part for part in parts[1:] if part in SUFFIXES]
    others = [part for part in parts if part not in SUFFIXES]
    if len(others) == 1 and len(suffixes) == 1:
        split = _of_parts(others[0], _without_comma(others[0]))
        return AuthorName(name) if split.is_whole else replace(split, suffix=suffixes[0])
    if len(others) != MOST_PARTS - 1 or others[0] != parts[0] or len(suffixes) > 1:
        return AuthorName(name)
    family, given = others
    particle, family = _leading_particle(family)
    given, behind = _trailing_particle(given)
    suffix = next(iter(suffixes), "")
    head, _, last = family.rpartition(" ")
    if head and last in SUFFIXES and not suffix:
        family, suffix = head, last
    return AuthorName(family, given, particle or behind, suffix)


def _leading_particle(family: str) -> tuple[str, str]:
    """Split "van der Berg" into "van der" and "Berg"."""
    words = family.split()
    count = next((place for place, word in enumerate(words) if word not in PARTICLES), len(words))
    if not 0 < count < len(words):
        return "", family
    return " ".join(words[:count]), " ".join(words[count:])


def _trailing_particle(given: str) -> tuple[str, str]:
    """Split "Ludwig van" into "Ludwig" and "van"."""
    words = given.split()
    count = next((place for place, word in enumerate(reversed(words)) if word not in PARTICLES), len(words))
    if not 0 < count < len(words):
        return given, ""
    return " ".join(words[:-count]), " ".join(words[-count:])
