"""Abbreviations and their long forms in brackets: knowledge distillation (KD), KD (knowledge distillation).

An abbreviation consists of beginnings of the words, in order: RAG, retrieval-augmented generation; ConvLSTM,
convolutional long short-term memory. Function words may be left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from indexer.analysis.english import STOP_WORDS
from indexer.analysis.tokens import Analyzer
from indexer.glossary.pairs import BRACKET, Tokens, term_tokens

# A long form consists of letters, digits, and characters that join them.
WORDS = re.compile(r"[A-Za-zÀ-ÖØ-öø-ſ0-9][A-Za-zÀ-ÖØ-öø-ſ0-9'’/ –-]*$")
LAST_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*$")
SPLIT = re.compile(r"[\s/–-]+")
PARTS = re.compile(r"\s*[,;:，；]\s*|\s+or\s+")
ROMAN_NUMERAL = re.compile(r"[IVXLC]+")
SHORT = re.compile(r"(?=.*[A-Z].*[A-Z])[A-Za-z0-9][A-Za-z0-9-]{0,8}[A-Za-z0-9]")
SEEN_BEFORE = 120
LONGEST_LONG_FORM = 80
MOST_LONG_FORMS = 3
LEAST_SHARE = 1 / 3  # share of the passages with the most frequent long form
LONGEST_TOKENS = 12


class Expanded(NamedTuple):
    """An occurrence of an abbreviation with its long form."""

    short: str
    long: str


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short and a long form of one term, with their tokens in the index's analysis.

    `count` is the number of passages with both forms. `ordinary` means that the lower-case short form is a
    word of the corpus with another meaning (CAN, can).
    """

    short: str
    long: str
    short_tokens: Tokens
    long_tokens: Tokens
    count: int
    ordinary: bool = False


def expanded_abbreviations(text: str) -> Iterator[Expanded]:
    """Yield the abbreviations in a text with the long form in brackets or in front of them."""
    for bracket in BRACKET.finditer(text):
        before = text[max(0, bracket.start() - SEEN_BEFORE) : bracket.start()].rstrip()
        parts = [part.strip(" '\"‘’“”") for part in PARTS.split(bracket.group(1))]
        words = LAST_WORD.search(before)
        short = next(filter(is_short_form, [*parts, words.group() if words else ""]), None)
        if short is None:
            continue
        forms = [long_form(short, part, whole=True) for part in parts if part != short]
        if parts[0] == short:
            forms.append(long_form(short, before))
        if long := next(filter(None, forms), None):
            yield Expanded(_singular(short), long)


def is_short_form(word: str) -> bool:
    """Check for an abbreviation: at most ten letters and digits, at least two capitals."""
    return SHORT.fullmatch(word) is not None and ROMAN_NUMERAL.fullmatch(word) is None


def _singular(short: str) -> str:
    return short[:-1] if short[-1] == "s" and short[-2].isupper() else short


def long_form(short: str, text: str, *, whole: bool = False) -> str | None:
    """Return the fewest last words of a text that an abbreviation stands for; `whole` requires all words."""
    short = _singular(short)
    found = WORDS.search(text)
    words = found.group().split() if found else []
    for size in range(1, min(len(words), 2 * len(short)) + 1):
        long = " ".join(words[-size:])
        parts = SPLIT.split(long.lower())
        fits = len(parts) > 1 and parts[0] not in STOP_WORDS
        if fits and _begins(short.lower().replace("-", ""), parts) and len(long) <= LONGEST_LONG_FORM:
            return long if not whole or long == text else None
    return None


def _begins(letters: str, words: Sequence[str]) -> bool:
    """Check whether letters consist of beginnings of all words; function words may be left out."""
    ends = {0}  # of the letters that the words so far account for
    for word in words:
        ends = {
            end
            for begin in ends
            for end in range(begin if word in STOP_WORDS else begin + 1, len(letters) + 1)
            if word.startswith(letters[begin:end])
        }
    return len(letters) in ends


def choose_long_forms(
    counts: Mapping[Expanded, int], analyzer: Analyzer, words: Mapping[str, int]
) -> list[Abbreviation]:
    """Return the abbreviations with their most frequent long forms, given the passages of each.

    Long forms with the same tokens are one form, in its most frequent spelling. `words` counts the lower-case
    words of the corpus.
    """
    by_short: dict[str, dict[Tokens, Counter[str]]] = {}
    for (short, long), passages in counts.items():
        tokens = term_tokens(long, analyzer)
        if 0 < len(tokens) <= LONGEST_TOKENS:
            by_short.setdefault(short, {}).setdefault(tokens, Counter())[long] += passages
    chosen = []
    for short, forms in by_short.items():
        own = term_tokens(short, analyzer)
        if "".join(own) != short.lower().replace("-", ""):
            continue  # the analysis drops a part of the abbreviation
        ranked = sorted(forms.items(), key=lambda form: (-form[1].total(), form[0]))
        for tokens, written in ranked[:MOST_LONG_FORMS]:
            total = written.total()
            if total >= LEAST_SHARE * ranked[0][1].total() and tokens != own:
                long = min(written, key=lambda form: (-written[form], form))
                chosen.append(Abbreviation(short, long, own, tokens, total, short.lower() in words))
    return sorted(chosen, key=lambda form: (form.short, -form.count, form.long))
