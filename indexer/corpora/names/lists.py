"""Names of several authors in one text, as tables and some databases write them."""

import re
import unicodedata

from base.letters import HANGUL
from indexer.corpora.names.author_name import (
    INITIALS,
    ROMANIZED_KOREAN,
    SUFFIXES,
    is_family_name,
    is_organization,
)

OTHERS = re.compile(
    r"(?:(?<![\s,;|])[\s,;|]++(?:et al\b\.?|and others|외)|(?<!\s)\s*+외\s*\d+\s*[인명])\s*$", re.IGNORECASE
)
ROLE = re.compile(r"(?<=[가-힣])\s+(?:저|지음|공저|편저|편|엮음|옮김|역|감수|글)$")
MARK = re.compile(r"(?<=[가-힣])\s*[*†‡§\d]+\)?(?=\s*(?:[,;|·/]|$))")  # of a footnote
IN_BRACKETS = re.compile(r"\s*\(([^()]*)\)")
# Brackets protect the separators in them.
SEMICOLON = re.compile(r"\s*[;；|](?![^()]{0,100}\))\s*")
COMMA = re.compile(r"\s*[,，、](?![^()]{0,100}\))\s*")
LAST_NAME = re.compile(r",\s*(?:and|&)\s+")  # before the last name of a list: Kim, A., & Lee, B.
KOREAN_SEPARATOR = re.compile(r"\s*[,，、·ㆍ/](?![^()]{0,100}\))\s*")
# A whole name in Hangul or Chinese characters.
EAST_ASIAN_NAME = re.compile(r"[가-힣]{2,5}|[\u4e00-\u9fff\uf900-\ufaff]{2,4}")
ONE_SYLLABLE = re.compile("[가-힣]")
PAIR = 2


def names_in(text: str) -> list[str]:
    """Split a list of names, without "et al." and affiliations and marks of Korean names.

    Semicolons and bars always separate. A comma separates whole names ("김철수, 이영희", "Kim Chulsoo, Lee
    Younghee"), or pairs of family name and initials ("Gatica, G.N., Sequeira, F.A."); otherwise it is within
    a single name.
    """
    composed = " ".join(unicodedata.normalize("NFC", text).split())
    parts = SEMICOLON.split(MARK.sub("", OTHERS.sub("", composed)))
    names = [name.strip().removesuffix(",").strip() for part in parts for name in _split_at_commas(part)]
    is_decomposed = composed != text == unicodedata.normalize("NFD", text)
    return [unicodedata.normalize("NFD", name) if is_decomposed else name for name in names if name]


def _split_at_commas(text: str) -> list[str]:
    korean = [_korean(name) for name in KOREAN_SEPARATOR.split(text)]
    if any(map(_is_east_asian, korean)) and not any(map(_is_part, korean)):
        return _joined_families(korean)
    names = list(filter(None, COMMA.split(LAST_NAME.sub(", ", text))))
    if len(names) < PAIR or any(name in SUFFIXES for name in names):
        return [text]
    given = names[1::PAIR]
    one_word = not any(map(_is_whole, names))
    if len(names) > PAIR and len(names) % PAIR == 0 and (one_word or all(map(_is_initials, given))):
        return [f"{family}, {initials}" for family, initials in zip(names[::PAIR], given, strict=True)]
    if is_organization(" ".join(names)) or not all(map(_is_whole, names)):
        return [text]
    certain = len(names) > PAIR or all(
        _ends_in_initials(name) or name.split()[0] in ROMANIZED_KOREAN for name in names
    )
    return names if certain else [text]


def _korean(name: str) -> str:
    """Return a name in Hangul without affiliation, role and space; other names unchanged."""
    inner = IN_BRACKETS.search(name)
    is_affiliation = inner and (is_organization(inner[1]) or not _is_other_script(inner[1]))
    bare = ROLE.sub("", IN_BRACKETS.sub("", name) if is_affiliation else name).strip()
    family, _, given = bare.partition(" ")
    joined = family + given.strip()
    return joined if EAST_ASIAN_NAME.fullmatch(joined) and (not given or is_family_name(family)) else bare


def _is_east_asian(name: str) -> bool:
    return EAST_ASIAN_NAME.fullmatch(IN_BRACKETS.sub("", name)) is not None


def _is_other_script(name: str) -> bool:
    """Check for a name in Chinese characters or of several Latin words."""
    is_hangul = HANGUL.search(name) is not None
    return not is_hangul and (_is_east_asian(name) or _is_whole(name))


def _is_part(name: str) -> bool:
    """Check for a single Latin word, which is a part of a name."""
    return not (_is_east_asian(name) or _is_whole(name) or ONE_SYLLABLE.fullmatch(name))


def _is_whole(name: str) -> bool:
    return len(name.split()) > 1


def _is_initials(name: str) -> bool:
    return INITIALS.fullmatch(name.replace(" ", "")) is not None


def _ends_in_initials(name: str) -> bool:
    return _is_initials(name.rsplit(maxsplit=1)[-1])


def _joined_families(names: list[str]) -> list[str]:
    """Join a family name with the given name after the comma: 박, 민수; 남궁, 민재."""
    joined: list[str] = []
    for name in names:
        if joined and is_family_name(joined[-1]):
            joined[-1] += name
        else:
            joined.append(name)
    return joined
