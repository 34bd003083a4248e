"""First check of a sentence against the passages that it cites, without a model.

A sentence in the words of a cited passage is supported, one without citations unsupported. All others are
"not checked" until a model judges them (`generator/answers/judging.py`). Hints name what the passages lack: a
number, a number with this unit, or a name. They are no verdict: a sentence with a hint may be right, and most
wrong sentences have none.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from generator.checking.quantities import Quantity, quantities, quantities_in_words
from indexer.corpora.papers import language_of
from indexer.files.schema import StoredPassage

# quoted: the words of a paper. excluded: about a thing that the question excludes.
Check = Literal["supported", "unsupported", "not checked", "excluded", "quoted"]
HintCode = Literal["citation", "number", "unit", "name", "judge"]

LONGEST_CLAIM, LONGEST_PASSAGE = 2_000, 20_000  # characters that are compared
SMALL = 10  # smaller counts without a unit are often words in the passage
# Capitals after the first letter, or a capital and a digit: PCR, LiDAR, NMC811, IL-6.
ACRONYM = re.compile(r"(?<![A-Za-z0-9.])[A-Za-z]*[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9]*(?:-\d+)?")
NAME = re.compile(r"(?<=[a-z,;:)] )[A-ZÀ-Þ][a-zß-ÿ]{2,}(?![A-Za-z0-9])")  # not at the start of a sentence
WORD = re.compile(r"[a-z0-9][a-z0-9-]*")
LEAST_STEM = 4  # letters shared by Sweden and Swedish; shorter forms are compared as whole words
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
    claim = text[:LONGEST_CLAIM]
    texts = [_text_of(passage) for passage in passages]
    if any(_plain(text) in _plain(each) for each in texts):
        return "supported", ()
    found = [*_numbers(claim, texts), *_names(claim, texts)]
    return "not checked", tuple(Hint(code, {"text": words}) for code, words in dict.fromkeys(found))


def _text_of(passage: StoredPassage) -> str:
    authors = (passage.paper or {}).get("authors", ())
    parts = (passage.title, passage.text, passage.title2, *authors, str(passage.year or ""))
    return "\n".join(filter(None, parts))[:LONGEST_PASSAGE]


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .。")


def _numbers(claim: str, texts: Sequence[str]) -> Iterator[tuple[HintCode, str]]:
    """Yield the numbers of a claim that no text states, and that are no difference of two of its numbers."""
    stated = [each for text in texts for each in (*quantities(text), *quantities_in_words(text))]
    for quantity in quantities(claim):
        small = not quantity.dimension and not quantity.decimals and quantity.value <= SMALL
        if small or quantity.value == 1 or any(map(quantity.reports, stated)):
            continue
        if quantity.dimension and _is_difference(quantity, stated):
            continue
        yield "unit" if any(quantity.value == other.value for other in stated) else "number", quantity.text


def _is_difference(quantity: Quantity, stated: Sequence[Quantity]) -> bool:
    like = {
        round(each.value, 6)
        for each in stated
        if (each.dimension, each.factor) == (quantity.dimension, quantity.factor)
    }
    return any(round(value + quantity.value, 6) in like for value in like)


def _names(claim: str, texts: Sequence[str]) -> Iterator[tuple[HintCode, str]]:
    """Yield abbreviations that the texts lack, also in full; in English texts other names, too."""
    whole = unicodedata.normalize("NFKC", " ".join(texts)).casefold()
    words = {_squeezed(part) for word in WORD.findall(whole) for part in (word, *word.split("-"))}
    words |= {word.removesuffix("s") for word in words}
    squeezed = _squeezed(whole)

    def has(form: str) -> bool:
        if form.isascii() and len(form) < LEAST_STEM:
            return form in words
        return form in squeezed

    def lacks(name: str, stem: str) -> bool:
        return not any(map(has, ALIASES.get(_squeezed(name), (stem,))))

    for name in ACRONYM.findall(claim):
        if lacks(name, _squeezed(name).rstrip("s")) and not _is_initials(name, whole):
            yield "name", name
    if language_of(claim) == "en" and any(language_of(text) == "en" for text in texts):
        for name in NAME.findall(claim):
            if lacks(name, _squeezed(name)[: max(LEAST_STEM, len(name) - 1)]):
                yield "name", name


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text).casefold())


def _is_initials(name: str, text: str) -> bool:
    """Check whether words of a text in lower case begin with the letters of a name: loan-to-value for LTV."""
    letters = [letter for letter in name.rstrip("s").lower() if letter.isalpha()]
    pattern = rf"[a-z]*[\s-]{SMALL_WORD}".join(map(re.escape, letters))
    return len(letters) in INITIALS and re.search(rf"\b{pattern}", text) is not None


def _aliases() -> dict[str, tuple[str, ...]]:
    """Read the names of one thing, a line each: USA, United States, 미국."""
    rows = (
        resources.files("generator.checking").joinpath("aliases.tsv").read_text(encoding="utf-8").splitlines()
    )
    named = [tuple(map(_squeezed, row.split("\t"))) for row in rows if not row.startswith("#")]
    return {name: names for names in named for name in names}


ALIASES = _aliases()
