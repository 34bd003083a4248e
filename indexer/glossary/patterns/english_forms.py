"""The English forms of a term inside a bracket: its full form and its abbreviation.

Brackets also contain citations, statistics, units, life dates, manufacturers and other languages.
"""

import re
from dataclasses import dataclass

from indexer.glossary.pairs import HANGUL, LATIN
from indexer.glossary.patterns.english_terms import (
    SHAPE,
    SHORTEST_ABBREVIATION,
    UNIT_OR_TITLE,
    is_abbreviation,
    is_english_term,
)

LONGEST_INSIDE = 200
MOST_FULL_FORMS = 2  # three are an enumeration
# A bracket with one of these is not a translation.
REFUSED = re.compile(
    r"[=<>≤≥±%$€₩@#{}\\|_*^]|https?:|www\."
    r"|et al|\bvs\b|\be\.g|\bi\.e|\bcf\.|\bspp?\.|\bfeat\.|\b(?:fig|table|eq|ref)s?\b"
    r"|\b(?:USA|U\.S\.A|UK|Inc|Ltd|Corp|Co|GmbH|Germany|Japan|Korea|China|France|Switzerland)\.?\s*[,)]?$",
    re.IGNORECASE,
)
ENUMERATED = re.compile(r".*(?:등|외|따위)\s*", re.DOTALL)
# A single year after a name is a citation; life dates have a range or a 년.
CITED_YEAR = re.compile(r"(?:1[89]|20)\d\d[a-z]?")
CITED_YEAR_AT_END = re.compile(r"[A-Za-z.]\s+(?:1[89]|20)\d\d[a-z]?$")
LIFE_DATES = re.compile(r"\s+\d{3,4}\s*[-–~〜∼].*$")
LABEL = re.compile(
    r"(?:영어로?|영문명?|영어명|영|학명|약칭|약자|약어|이하|English|en)(?:\s*[:：]\s*|\s+|(?=['\"‘“]))",
    re.IGNORECASE,
)
QUOTES = " \t\n\"'“”‘’.,"
ARTICLE = re.compile(r"(?:the|a|an)\s+(?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EnglishForms:
    """The forms of one term in a bracket; `doubtful` if the bracket may not be a translation.

    An enumeration is doubtful, and so is an abbreviation of two letters without a full form.
    """

    full: str | None = None
    abbreviation: str | None = None
    doubtful: bool = False


def english_forms(inside: str) -> EnglishForms:
    """Parse the text between two brackets."""
    if len(inside) > LONGEST_INSIDE or not LATIN.search(inside) or REFUSED.search(inside):
        return EnglishForms()
    parts = [part.strip(QUOTES) for part in re.split(r"[,;，；]", inside)]
    if any(CITED_YEAR.fullmatch(part) or CITED_YEAR_AT_END.search(part) for part in parts):
        return EnglishForms()
    if ENUMERATED.fullmatch(inside) or _is_aside(parts[0]):
        return EnglishForms()
    forms = [form for part in parts for form in _forms_of_part(part)]
    full = [form for form in forms if not is_abbreviation(form)]
    short = [form for form in forms if is_abbreviation(form)]
    if len(full) > MOST_FULL_FORMS or len(short) > 1:
        return EnglishForms()
    if not full:
        return _only_abbreviation(short)
    related = [form for form in short if _abbreviates(form, full[0])]
    doubtful = len(full) > 1 or related != short
    return EnglishForms(full[0], related[0] if related else None, doubtful)


def _only_abbreviation(short: list[str]) -> EnglishForms:
    if not short or UNIT_OR_TITLE.fullmatch(short[0]):
        return EnglishForms()
    return EnglishForms(abbreviation=short[0], doubtful=len(short[0]) == SHORTEST_ABBREVIATION)


def _is_aside(part: str) -> bool:
    """Check whether a bracket starts with Korean words, which its English words explain."""
    return HANGUL.search(part) is not None and LABEL.match(part) is None and ":" not in part


def _forms_of_part(part: str) -> list[str]:
    """Return the English forms of a part: one or none, or two (TS: Tropical Storm)."""
    labelled = LABEL.match(part)
    part = part[labelled.end() :].strip(QUOTES) if labelled else part
    left, mark, right = (side.strip(QUOTES) for side in part.partition(":" if ":" in part else " - "))
    if mark and (":" in part or is_abbreviation(left)):
        expanded = is_abbreviation(left) and SHAPE.fullmatch(left) and is_english_term(right)
        return [left, right] if expanded else []
    if HANGUL.search(part):
        return []
    part = LIFE_DATES.sub("", part)
    part = ARTICLE.sub("", part, count=1) if ARTICLE.match(part) else part
    return [part] if is_english_term(part) else []


def _abbreviates(short: str, full: str) -> bool:
    """Check whether `full` contains the letters of `short` in order."""
    rest = iter(full.lower())
    return all(letter in rest for letter in short.lower() if letter.isalpha())
