"""Abbreviations and their long forms in brackets: knowledge distillation (KD), KD (knowledge distillation).

One paper is enough if the letters are initials of the words (`initials`). Otherwise the letters are matched
from the last to the first, which starts a word (Schwartz & Hearst, Pacific Symposium on Biocomputing 8,
2003), and two papers must give the same words.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from indexer.analysis.tokens import Analyzer
from indexer.glossary.pairs import BRACKET, LATIN
from indexer.glossary.patterns.english_forms import QUOTES
from indexer.glossary.patterns.english_terms import FUNCTION_WORDS
from indexer.glossary.patterns.initials import initial_form
from indexer.glossary.terms import term_tokens

# A long form consists of letters, digits, and characters that join them.
WORDS = re.compile(r"[A-Za-zÀ-ÖØ-öø-ſ0-9][A-Za-zÀ-ÖØ-öø-ſ0-9'’/ –-]*$")
LAST_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*$")
PARTS = re.compile(r"\s*[,;:，；]\s*|\s+or\s+")
ROMAN_NUMERAL = re.compile(r"[IVXLC]+")
SHORT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,8}[A-Za-z0-9])")
SEEN_BEFORE = 120
FEWEST_CAPITALS = 2
LONGEST_SHORT_FORM = 10
LONGEST_LONG_FORM = 80
LETTERS_OF_ONE_WORD = 2.5  # letters of a one-word long form per letter of the abbreviation
MOST_LONG_FORMS = 3
LEAST_SHARE = 1 / 3  # share of the papers with the most frequent long form
LONGEST_TOKENS = 12
FEWEST_PAPERS = 2
ORDINARY = 20  # ratio of passages with the word to papers with the abbreviation


class Expanded(NamedTuple):
    """An occurrence of an abbreviation with its long form; `exact` if its letters are initials."""

    short: str
    long: str
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short and a long form of one term, with their tokens in the index's analysis.

    `count` is the number of papers with both forms. `ordinary` means that the lower-case short form is a word
    of the corpus with another meaning (CAN, can).
    """

    short: str
    long: str
    short_tokens: tuple[str, ...]
    long_tokens: tuple[str, ...]
    count: int
    ordinary: bool = False


def expanded_abbreviations(text: str) -> Iterator[Expanded]:
    """Yield the abbreviations in `text` with the long form in brackets or before them."""
    if "(" not in text and "（" not in text:
        return
    for bracket in BRACKET.finditer(text):
        before = text[max(0, bracket.start() - SEEN_BEFORE) : bracket.start()].rstrip()
        parts = [part.strip(" '\"‘’“”") for part in PARTS.split(bracket.group(1))]
        short = next((part for part in parts if is_short_form(part)), None)
        if short is None:
            word = LAST_WORD.search(before)
            if (
                word
                and is_short_form(word.group())
                and (found := _expanded(word.group(), parts[0], whole=True))
            ):
                yield found
            continue
        inside = (_expanded(short, part, whole=True) for part in parts if part != short)
        in_front = WORDS.search(before)
        found = next(filter(None, inside), None)
        if found is None and in_front and parts[0] == short:
            found = _expanded(short, in_front.group())
        if found is not None:
            yield found


def is_short_form(word: str) -> bool:
    """Check for an abbreviation: at most ten letters and digits, at least two capitals."""
    capitals = sum(letter.isupper() for letter in word)
    return (
        capitals >= FEWEST_CAPITALS
        and len(word) <= LONGEST_SHORT_FORM
        and SHORT.fullmatch(word) is not None
        and ROMAN_NUMERAL.fullmatch(word) is None
    )


def _expanded(short: str, text: str, *, whole: bool = False) -> Expanded | None:
    """Return `short` with its long form at the end of `text`; `whole` requires all of its words."""
    singular = short[:-1] if short[-1] == "s" and short[-2].isupper() else short
    words = text.replace("--", " ").split() if WORDS.match(text) else []
    most = min(len(singular) + 5, 2 * len(singular))
    if whole and len(words) > most:
        return None
    row = " ".join(words[-most:]).strip(QUOTES)
    exact = initial_form(singular, row)
    long = exact or _last_with_letters(singular, row)
    if long is None or (whole and exact != row):
        return None
    first, *more = re.split(r"[\s-]", long)
    shortest = len(singular) + 1 if more else LETTERS_OF_ONE_WORD * len(singular)
    refused = first.lower() in FUNCTION_WORDS or singular in (first, *more) or (whole and not more)
    if refused or not shortest <= len(LATIN.findall(long)) <= LONGEST_LONG_FORM:
        return None
    return Expanded(singular, long, exact is not None)


def _last_with_letters(short: str, text: str) -> str | None:
    """Return the last words that contain the letters of `short` in order; the first letter starts a word."""
    place = len(text)
    letters = [letter for letter in short.lower() if letter.isalnum()]
    lowered = text.lower()
    if len(lowered) != len(text):
        return None
    for index in range(len(letters) - 1, -1, -1):
        place = lowered.rfind(letters[index], 0, place)
        while index == 0 and place > 0 and not lowered[place - 1].isspace():
            place = lowered.rfind(letters[index], 0, place)
        if place < 0:
            return None
    return text[place:]


def is_believed_form(found: Expanded, papers: int, words: "Counter[str]") -> bool:
    """Check for one paper with an abbreviation by initials, or two papers with any other.

    In the second case the long form must not be a common word, which is in many more papers (treatment).
    """
    ordinary = words[found.long.lower()] > ORDINARY * papers
    return found.exact or (papers >= FEWEST_PAPERS and not ordinary)


def choose_long_forms(
    seen: Iterable[tuple[Expanded, "array[int]"]], analyzer: Analyzer, words: "Counter[str]"
) -> list[Abbreviation]:
    """Return the abbreviations with their most frequent long forms, given the papers of each.

    Long forms with the same tokens are one form, in its most frequent spelling. `words` counts the
    lower-case words of the corpus.
    """
    by_short: dict[str, dict[tuple[str, ...], Counter[str]]] = {}
    for found, papers in seen:
        tokens = term_tokens(found.long, analyzer)
        if 0 < len(tokens) <= LONGEST_TOKENS and is_believed_form(found, len(papers), words):
            by_short.setdefault(found.short, {}).setdefault(tokens, Counter())[found.long] += len(papers)
    chosen = []
    for short, forms in by_short.items():
        own = term_tokens(short, analyzer)
        if "".join(own) != short.lower().replace("-", ""):
            continue  # the analysis drops a part of the abbreviation
        ranked = sorted(forms.items(), key=lambda form: (-form[1].total(), form[0]))
        least = LEAST_SHARE * ranked[0][1].total()
        for tokens, written in ranked[:MOST_LONG_FORMS]:
            if written.total() >= least and tokens != own:
                long = min(written, key=lambda form: (-written[form], form))
                chosen.append(
                    Abbreviation(short, long, own, tokens, written.total(), words[short.lower()] > 0)
                )
    return sorted(chosen, key=lambda form: (form.short, -form.count, form.long))
