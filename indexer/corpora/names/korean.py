"""Korean names in Hangul: 곽소율 is 곽 and 소율, 남궁민재 is 남궁 and 민재."""

import re

from indexer.corpora.names.parts import NameParts

SYLLABLES = re.compile("[가-힣]+")
# Family names of one syllable in the census of 2015, and their northern spellings.
FAMILY_NAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민나진지엄채원천방공현함변염여"
    "추도소석선설마길연위표명기반라왕금옥육인맹제모탁국어은편용예봉경사부가복태목형계피두감음빈동온호범좌팽승간상"
    "시갈단견당화창리림로량려련룡"
)
# The first syllable of these is rarely a family name before such a given name: 남궁원 is 남궁 and 원.
LONG_FAMILY_NAMES = frozenset(("남궁", "제갈", "사공", "독고", "동방", "망절", "어금"))
# With three syllables, 황보라 is more often 황 and 보라; with four, 황보민재 is 황보 and 민재.
LONG_OR_SHORT_FAMILY_NAMES = frozenset(("황보", "선우", "서문"))
ALL_LONG = LONG_FAMILY_NAMES | LONG_OR_SHORT_FAMILY_NAMES
LONG = 2  # syllables of a long family name
LONGEST_GIVEN = 3
LONGEST = LONG + LONGEST_GIVEN


def split_korean(name: str) -> NameParts | None:
    """Split a name in Hangul; None if no known family name fits.

    A space may follow or, in the Western order, precede the family name.
    """
    words = name.split()
    if not all(SYLLABLES.fullmatch(word) for word in words):
        return None
    if len(words) == 1:
        return _split_syllables(name)
    if len(words) != 2:  # noqa: PLR2004 - family and given name
        return None
    for family, given in (words, reversed(words)):
        if _is_family(family) and len(given) <= LONGEST_GIVEN:
            return NameParts(family, given)
    return None


def _is_family(word: str) -> bool:
    return word in FAMILY_NAMES or word in ALL_LONG


def _split_syllables(name: str) -> NameParts | None:
    if not LONG <= len(name) <= LONGEST or name in ALL_LONG:
        return None
    long = LONG_FAMILY_NAMES if len(name) == LONG + 1 else ALL_LONG
    if name[:LONG] in long:
        return NameParts(name[:LONG], name[LONG:])
    if name[0] in FAMILY_NAMES and len(name) <= 1 + LONGEST_GIVEN:
        return NameParts(name[0], name[1:])
    return None
