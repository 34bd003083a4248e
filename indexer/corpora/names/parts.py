"""The parts of a split name."""

from typing import NamedTuple


class NameParts(NamedTuple):
    """Family and given name, with the particle before and the suffix after the family name, if any."""

    family: str
    given: str
    particle: str = ""
    suffix: str = ""
