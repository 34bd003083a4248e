"""What the inside of a bracket says in English: the full form of a term, its abbreviation, or nothing of use.

Brackets hold much else: citations, statistics, units, life dates, makers of devices, other languages.
"""

import re
from dataclasses import dataclass

from indexer.glossary.pairs import HANGUL, LATIN

LONGEST_INSIDE = 200
MOST_WORDS = 8
LONGEST_CODE = 2  # in small letters, of a language or a unit
MOST_FULL_FORMS = 2  # a third tells an enumeration
LONGEST_ABBREVIATION = 10
# A bracket with one of these is no translation, whatever else it holds.
REFUSED = re.compile(
    r"[=<>≤≥±%$€₩@#{}\\|_*^]|https?:|www\."
    r"|et al|\bvs\b|\be\.g|\bi\.e|\bcf\.|\bspp?\.|\b(?:fig|table|eq|ref)s?\b"
    r"|\b(?:USA|U\.S\.A|UK|Inc|Ltd|Corp|Co|GmbH|Germany|Japan|Korea|China|France|Switzerland)\.?\s*[,)]?$",
    re.IGNORECASE,
)
# A bare year behind a name is a citation; life dates have a range or a 년.
CITED_YEAR = re.compile(r"(?:1[89]|20)\d\d[a-z]?")
CITED_YEAR_AT_END = re.compile(r"[A-Za-z.]\s+(?:1[89]|20)\d\d[a-z]?$")
LIFE_DATES = re.compile(r"\s+\d{3,4}\s*[-–~〜∼].*$")
LABEL = re.compile(
    r"(?:영어로?|영문명?|영어명|영|학명|약칭|약자|약어|이하|English|en)(?:\s*[:：]\s*|\s+|(?=['\"‘“]))",
    re.IGNORECASE,
)
SHAPE = re.compile(r"(?!.* ['’])[A-Za-zÀ-ÖØ-öø-ſ0-9][A-Za-zÀ-ÖØ-öø-ſ0-9 .'’&–-]*(?<![-–&])")
QUOTES = " \t\n\"'“”‘’.,"
ARTICLE = re.compile(r"(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
FUNCTION_WORDS = frozenset("a an the of for and or in on to with by at from as".split())
FOREIGN_WORDS = frozenset("der die das des dem den und im zum zur du les della del dello degli et".split())
MONTHS = r"january|february|march|april|may|june|july|august|september|october|november|december"
NOT_A_TERM = re.compile(
    rf"(?:{MONTHS})\.?\s*\d.*|[ivx]+|(?:19|20)\d\ds?|.*\b(?:or|sr|jr)\b.*|etc|help|see|figures?|male|female"
    r"|left|right|top|bottom|yes|no",
    re.IGNORECASE,
)
# In capitals, an abbreviation if the full form stands beside it: tuberculosis, TB.
UNIT_OR_TITLE = re.compile(
    r"mm|cm|km|kg|mg|ml|dl|mol|mmol|hz|khz|mhz|ghz|kw|kwh|mw|gw|mpa|gpa|kpa|pa|ppm|ppb|bar|rpm|mi|mph|min|sec|hr"
    r"|hrs|vol|wt|avg|max|std|sd|se|ci|am|pm|bc|ad|bce|utc|kst|gmt"
    r"|k?cal|kb|mb|gb|tb|ha|fr|de|ja|zh|frs|obe|cbe|mbe|kbe|phd|md|mp|qc",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class EnglishForms:
    """The forms a bracket gives for one term; `doubtful` if it may as well be an enumeration."""

    full: str | None = None
    abbreviation: str | None = None
    doubtful: bool = False


def english_forms(inside: str) -> EnglishForms:
    """Read the text between two brackets."""
    if len(inside) > LONGEST_INSIDE or not LATIN.search(inside) or REFUSED.search(inside):
        return EnglishForms()
    parts = [part.strip(QUOTES) for part in re.split(r"[,;，；]", inside)]
    if any(CITED_YEAR.fullmatch(part) or CITED_YEAR_AT_END.search(part) for part in parts):
        return EnglishForms()
    forms = [form for part in parts for form in _forms_of_part(part)]
    full = [form for form in forms if not is_abbreviation(form)]
    short = [form for form in forms if is_abbreviation(form)]
    if len(full) > MOST_FULL_FORMS or len(short) > 1:
        return EnglishForms()
    abbreviation = short[0] if short else None
    if abbreviation and full and not _abbreviates(abbreviation, full[0]):
        abbreviation = None
    if abbreviation and not full and UNIT_OR_TITLE.fullmatch(abbreviation):
        abbreviation = None
    return EnglishForms(full[0] if full else None, abbreviation, doubtful=len(full) > 1)


def is_abbreviation(form: str) -> bool:
    """Tell an abbreviation (LLM, eGFR, H2S) from a word."""
    if not 1 < len(form) <= LONGEST_ABBREVIATION or " " in form:
        return False
    capitals = sum(letter.isupper() for letter in form)
    return capitals > 1 or (capitals > 0 and any(letter.isdecimal() for letter in form))


def english_words(form: str) -> list[str]:
    """Split at spaces and hyphens."""
    return [word for word in re.split(r"[\s–-]+", form) if word]


def content_words(form: str) -> list[str]:
    """Return the words that a Korean term has a counterpart for."""
    words = english_words(form)
    return [word for word in words if word.lower() not in FUNCTION_WORDS] or words


def is_english_term(form: str) -> bool:
    """Tell a term from numbers, units, dates, single letters, markup and what is too long."""
    letters = len(LATIN.findall(form))
    words = form.split()
    return (
        letters > 1
        and 2 * letters >= len(form) - form.count(" ")
        and len(words) <= MOST_WORDS
        and SHAPE.fullmatch(form) is not None
        and not (form.islower() and len(form) <= LONGEST_CODE)
        and NOT_A_TERM.fullmatch(form) is None
        and (form.isupper() or UNIT_OR_TITLE.fullmatch(form) is None)
        and (form.isascii() or form[0].isupper())
        and not any(word in FOREIGN_WORDS for word in words)
    )


def _forms_of_part(part: str) -> list[str]:
    """Return the English forms of a part: as a rule one or none, two of `TS: Tropical Storm`."""
    labelled = LABEL.match(part)
    part = part[labelled.end() :].strip(QUOTES) if labelled else part
    left, colon, right = (side.strip(QUOTES) for side in part.partition(":"))
    if colon:
        expanded = is_abbreviation(left) and SHAPE.fullmatch(left) and is_english_term(right)
        return [left, right] if expanded else []
    if HANGUL.search(part):
        return []
    part = LIFE_DATES.sub("", part)
    part = ARTICLE.sub("", part, count=1) if ARTICLE.match(part) else part
    return [part] if is_english_term(part) else []


def _abbreviates(short: str, full: str) -> bool:
    """Tell whether the letters of `short` stand in `full` in their order."""
    rest = iter(full.lower())
    return all(letter in rest for letter in short.lower() if letter.isalpha())
