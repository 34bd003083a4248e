"""English terms: words, names, abbreviations and formulas, without numbers, units and dates."""

import re
from collections.abc import Sequence

from base.patterns import lazy_regex
from indexer.glossary.pairs import LATIN

MOST_WORDS = 8
LONGEST_CODE = 2  # letters of a lower-case language code or unit
SHORTEST_ABBREVIATION, LONGEST_ABBREVIATION = 2, 10
SHAPE = lazy_regex(r"(?!.* ['’])[A-Za-zÀ-ÖØ-öø-ſ0-9][A-Za-zÀ-ÖØ-öø-ſ0-9₀-₉ .'’&–-]*(?<![-–&])")
# Letters and digits in one word: CO2, LiFePO4, H1N1; covid-19, PM2.5, GPT-4; 5G, 5-HT. One letter and a
# number (T1, F20) is a label.
FORMULA = lazy_regex(
    r"(?=.*[\d₀-₉])(?:[A-Z][a-z]?[\d₀-₉]{0,2}){2,}"
    r"|[A-Za-z]{2,}-?\d{1,4}(?:\.\d+)?[A-Za-z]?"
    r"|\d{1,2}(?:[A-Z]{1,2}|-[A-Z]{2,})"
)
INITIAL = lazy_regex(r"[A-Za-z]\.?")
NUMBER = lazy_regex(r"(?<![A-Za-z0-9.-])\d+(?:[.,]\d+)*")
ROMAN = {
    numeral: str(value) for value, numeral in enumerate("I II III IV V VI VII VIII IX X XI XII".split(), 1)
}
INNER_PERIOD = lazy_regex(r".*\w\w\.\w|.*\w\.\w\w")  # M.Div
MISREAD = lazy_regex(r".*\d[a-z]{3}")  # 1umber
FUNCTION_WORDS = frozenset("a an the of for and or in on to with by at from as".split())
# No term starts or ends with one of these words.
GRAMMATICAL_WORDS = FUNCTION_WORDS | frozenset(
    "am are be been being is was were do does did has have had can could may might must shall should will "
    "would i you he she it we they me him us them my your his her its our their this that these those who "
    "which what if than then so not but also about into off up out down".split()
)
NAME_PARTICLES = frozenset("de la le du van von der den al el bin ibn".split())
LATIN_PHRASE = lazy_regex(r"in (?:vitro|vivo|situ|silico|utero)\b.*", re.IGNORECASE)
FOREIGN_WORDS = frozenset("der die das des dem den und im zum zur du les della del dello degli et".split())
MONTHS = r"january|february|march|april|may|june|july|august|september|october|november|december"
NOT_A_TERM = lazy_regex(
    rf"(?:{MONTHS})\.?\s*\d.*|[ivx]+|(?:19|20)\d\ds?|.*\b(?:or|sr|jr)\b.*|etc|help|see|figures?|male|female"
    r"|left|right|top|bottom|yes|no",
    re.IGNORECASE,
)
UNITS = (
    r"mm|cm|km|kg|mg|ml|dl|mol|mmol|hz|khz|mhz|ghz|kw|kwh|mw|gw|mpa|gpa|kpa|pa|ppm|ppb|bar|rpm|mi|mph|min|sec|hr"
    r"|hrs|vol|wt|am|pm|k?cal|kb|mb|gb|tb|ha|bp"
)
# In capitals, an abbreviation if the full form is next to it: tuberculosis, TB.
UNIT_OR_TITLE = lazy_regex(
    rf"{UNITS}|avg|max|std|sd|se|ci|bc|ad|bce|utc|kst|gmt|fr|de|ja|zh|frs|obe|cbe|mbe|kbe|phd|md|mp|qc",
    re.IGNORECASE,
)
MEASURE = lazy_regex(rf"\d[\d.,]*\s*(?i:{UNITS}|m|g|l|s|v|w)(?![a-z]).*")  # 32 km


def is_english_term(form: str) -> bool:
    """Check for a term: no number, unit, date, single letter, markup or long text."""
    letters = len(LATIN.findall(form))
    words = form.split()
    is_formula = FORMULA.fullmatch(form) is not None
    return (
        (is_formula or (letters > 1 and 2 * letters >= len(form) - form.count(" ")))
        and len(words) <= MOST_WORDS
        and not (len(words) > 1 and all(map(INITIAL.fullmatch, words)))
        and MEASURE.fullmatch(form) is None
        and (is_formula or not (INNER_PERIOD.match(form) or MISREAD.match(form)))
        and SHAPE.fullmatch(form) is not None
        and not (form.islower() and len(form) <= LONGEST_CODE)
        and NOT_A_TERM.fullmatch(form) is None
        and (form.isupper() or UNIT_OR_TITLE.fullmatch(form) is None)
        and (form.isascii() or form[0].isupper() or is_formula)
        and not any(word in FOREIGN_WORDS for word in words)
    )


def is_abbreviation(form: str) -> bool:
    """Check for an abbreviation (LLM, eGFR, H2S) rather than a word."""
    if not 1 < len(form) <= LONGEST_ABBREVIATION or " " in form:
        return False
    capitals = sum(letter.isupper() for letter in form)
    return capitals > 1 or (capitals > 0 and any(letter.isdecimal() for letter in form))


def is_grammatical(form: str) -> bool:
    """Check whether a term starts or ends with a function word: to split, I know, book off."""
    words = form.split()
    ends = {word.lower() for word in (words[0], words[-1]) if not is_abbreviation(word)}
    return not GRAMMATICAL_WORDS.isdisjoint(ends) and LATIN_PHRASE.fullmatch(form) is None


def english_words(form: str) -> list[str]:
    """Split at spaces and hyphens."""
    return [word for word in re.split(r"[\s–-]+", form) if any(map(str.isalnum, word))]


def content_words(form: str) -> list[str]:
    """Return the words without function words, which have no counterpart in Korean."""
    words = english_words(form)
    return [word for word in words if word.lower() not in FUNCTION_WORDS] or words


def is_proper(words: Sequence[str]) -> bool:
    """Check whether words are a name, with lower-case particles: de, d’Ortous."""
    return all(word[0].isupper() or word[1:2] in "’'" or word in NAME_PARTICLES for word in words)


def numbers_of(term: str) -> set[str]:
    """Return the numbers at the start of words, and a Roman number at the end: type 2, 제2형, Henry II."""
    last = ROMAN.get(term.rpartition(" ")[2])
    return {*NUMBER.findall(term), *([last] if last else [])}
