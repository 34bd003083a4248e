"""The check of a sentence of an answer without a model, and hints for its reader.

A sentence of a cited passage is supported, one without citations unsupported. All others are
"not checked" until a model judges them (`generator/answers/judging.py`). Hints name what the passages lack: a
number, a number with this unit, or a name. They are no verdict: a sentence with a hint may be right, and most
wrong sentences have none.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Literal

from base.patterns import lazy_regex
from generator.checking.quantities import Quantity, quantities, quantities_in_words
from indexer.corpora.chunking import split_sentences
from indexer.corpora.papers import Language, language_of
from indexer.files.schema import StoredPassage

# quoted: the words of a paper. excluded: about a thing that the question excludes.
Check = Literal["supported", "unsupported", "not checked", "excluded", "quoted"]
HintCode = Literal["citation", "number", "unit", "name", "judge"]

LONGEST_CLAIM, LONGEST_PASSAGE = 2_000, 20_000  # characters that are compared
SMALL = 10  # smaller counts without a unit are often words in the passage
# Capitals after the first letter, or a capital and a digit: PCR, LiDAR, NMC811, IL-6.
ACRONYM = lazy_regex(r"(?<![A-Za-z0-9.])[A-Za-z]*[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9]*(?:-\d+)?")
NAME = lazy_regex(r"(?<=[a-z,;:)] )[A-ZÀ-Þ][a-zß-ÿ]{2,}(?![A-Za-z0-9])")  # not at the start of a sentence
WORD = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9-]*")
LEAST_STEM = 4  # letters shared by Sweden and Swedish; a shorter form is a word with a capital or a digit
INITIALS = range(2, 9)  # letters of an abbreviation that are compared with initials
SMALL_WORD = "(?:(?:of|the|and|for|in|with|to) )?"


@dataclass(frozen=True, slots=True)
class Hint:
    """What speaks against a sentence: a code, and values for a message.

    citation: nothing is cited. number, unit, name: `text` is not in the cited passages. judge: `text` is what
    the model missed.
    """

    code: HintCode
    values: dict[str, str]


def check_sentence(text: str, passages: Sequence[StoredPassage]) -> tuple[Check, tuple[Hint, ...]]:
    """Check a sentence against the passages that it cites: the check without a model, and hints."""
    if not passages:
        return "unsupported", (Hint("citation", {}),)
    cited = [_cited(passage) for passage in passages]
    claim = unicodedata.normalize("NFKC", text)[:LONGEST_CLAIM]
    plain = _plain(claim)
    if len(text) <= LONGEST_CLAIM and any(plain in each.sentences for each in cited):
        return "supported", ()
    found = dict.fromkeys([*_numbers(claim, cited), *_names(claim, cited)])
    return "not checked", tuple(Hint(code, {"text": words}) for code, words in found)


@dataclass(frozen=True, slots=True)
class _Cited:
    """What a sentence is compared with: the parts of a passage in normal form NFKC."""

    language: Language
    sentences: frozenset[str]
    quantities: tuple[Quantity, ...]
    text: str  # in lower case
    squeezed: str  # its letters and digits
    short_names: frozenset[str]  # words with a capital or a digit, in lower case


@lru_cache(maxsize=64)
def _cited(passage: StoredPassage) -> _Cited:
    authors = (passage.paper or {}).get("authors", ())
    parts = (passage.title, passage.journal, passage.text, passage.title2, *authors, str(passage.year or ""))
    text = unicodedata.normalize("NFKC", "\n".join(filter(None, parts)))[:LONGEST_PASSAGE]
    named = [word for word in WORD.findall(text) if not word.islower()]
    short = {_squeezed(part) for word in named for part in (word, *word.split("-"))}
    return _Cited(
        language_of(text),
        frozenset(
            _plain(line[start:end]) for line in text.split("\n") for start, end in split_sentences(line)
        ),
        (*quantities(text), *quantities_in_words(text)),
        text.casefold(),
        _squeezed(text),
        frozenset(short | {word.removesuffix("s") for word in short}),
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .。")


def _numbers(claim: str, cited: Sequence[_Cited]) -> Iterator[tuple[HintCode, str]]:
    """Yield the numbers of a claim that no passage states, also not as a difference of two numbers."""
    stated = [quantity for each in cited for quantity in each.quantities]
    for quantity in quantities(claim):
        small = not quantity.dimension and not quantity.decimals and quantity.value <= SMALL
        if small or quantity.value == 1 or any(map(quantity.reports, stated)):
            continue
        if quantity.dimension and _is_difference(quantity, stated):
            continue
        yield "unit" if any(quantity.value == other.value for other in stated) else "number", quantity.text


def _is_difference(quantity: Quantity, stated: Sequence[Quantity]) -> bool:
    unit = quantity.dimension, quantity.factor
    like = {round(each.value, 6) for each in stated if (each.dimension, each.factor) == unit}
    return any(round(value + quantity.value, 6) in like for value in like)


def _names(claim: str, cited: Sequence[_Cited]) -> Iterator[tuple[HintCode, str]]:
    """Yield abbreviations that the passages lack, also in full; in English passages other names, too."""

    def has(form: str) -> bool:
        if form.isascii() and len(form) < LEAST_STEM:
            return any(form in each.short_names for each in cited)
        return any(form in each.squeezed for each in cited)

    def lacks(name: str, stem: str) -> bool:
        return not any(map(has, _aliases().get(_squeezed(name), (stem,))))

    for name in ACRONYM.findall(claim):
        spelled = any(_spells(name, each.text) for each in cited)
        if not spelled and lacks(name, _squeezed(name).rstrip("s")):
            yield "name", name
    if language_of(claim) == "en" and any(each.language == "en" for each in cited):
        for name in NAME.findall(claim):
            if lacks(name, _squeezed(name)[: max(LEAST_STEM, len(name) - 1)]):
                yield "name", name


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _spells(name: str, text: str) -> bool:
    """Check whether the initials of words of a text spell a name: loan-to-value for LTV."""
    letters = [letter for letter in name.rstrip("s").lower() if letter.isalpha()]
    pattern = rf"[a-z]*[\s-]{SMALL_WORD}".join(map(re.escape, letters))
    return len(letters) in INITIALS and re.search(rf"\b{pattern}", text) is not None


@cache
def _aliases() -> dict[str, tuple[str, ...]]:
    """Read the names of one thing, a line each: USA, United States, 미국."""
    rows = (
        resources.files("generator.checking").joinpath("aliases.tsv").read_text(encoding="utf-8").splitlines()
    )
    named = [tuple(map(_squeezed, row.split("\t"))) for row in rows if not row.startswith("#")]
    return {name: names for names in named for name in names}
