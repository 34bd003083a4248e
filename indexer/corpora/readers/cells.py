"""Conversion of a table cell or a field of a ScienceON record to a value of Paper."""

import re

from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, Language

LANGUAGES: dict[str, Language] = {
    **dict.fromkeys(("ko", "kor", "korean", "ko-kr", "한국어", "국문", "한글"), "ko"),
    **dict.fromkeys(("en", "eng", "english", "en-us", "en-gb", "영어", "영문"), "en"),
    "other": "other",
}
YEAR = re.compile(r"\s*(\d{4})(?:\d{2}){0,2}(?!\d)")


def parts_of(text: str, separator: re.Pattern[str]) -> list[str]:
    """Split a list in a text, without empty and repeated parts."""
    return list(dict.fromkeys(filter(None, (part.strip() for part in separator.split(text)))))


def language_named(name: str) -> Language | None:
    """Return the language of a name or code, None if it is unknown."""
    return LANGUAGES.get(name.strip().lower())


def year_in(text: str) -> int | None:
    """Return the year at the start of a date (2019, 2019-03, 20190301), None without one."""
    found = YEAR.match(text)
    year = int(found[1]) if found else 0
    return year if FIRST_YEAR <= year <= LAST_YEAR else None
