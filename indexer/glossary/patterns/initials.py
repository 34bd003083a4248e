"""Abbreviations by initials: each letter starts a word or a part of a word of the long form.

Examples: LLM, large language model; MZ, monozygotic; Conv, convolutional. Schwartz & Hearst (Pacific
Symposium on Biocomputing 8, 2003) match a letter anywhere within a word, which also matches errors such as
treatment, TNT.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from indexer.glossary.patterns.english_terms import FUNCTION_WORDS, GRAMMATICAL_WORDS

VOWELS = frozenset("aeiouyàáâäèéêëìíîïòóôöùúûü")
LEAST_OF_PART = 2  # letters of a word before a part and after the part's first letter
FEWEST_TO_STRETCH = 4  # letters, one of which may be within a word: dimethyl sulfoxide, DMSO
MOST_SKIPPED = 2  # words without a letter; function words are not counted
# Costs of a word without a letter, a letter within a word, the start of a part, the next letter in a row.
SKIPPED, WITHIN, PART, NEXT = 1_000, 100, 2, 1
# Words that mark a part of a sentence.
CLAUSE_WORDS = frozenset(
    "am is are was were be been being can could may might will would has have had do does did we our it its "
    "they their i which that who this these those".split()
)
# The digits of a chemical formula match no word: carbon dioxide, CO2.
FORMULA = re.compile(r"(?=.*\d)(?:(?:Cl|Br|Li|Na|Mg|Ca|Fe|Al|Si|Ti|Mn|Cu|Zn|Pb|[HCNOSPFK])\d*){2,}")
NAME_OF_FORMULA = re.compile("[a-z]+ [a-z]+")
# Part starts: not after a letter or digit; a capital after a small letter; between digits and letters.
WORD_START = re.compile(r"(?<![^\W_])[^\W_]|(?<=[a-zà-öø-ÿ])[A-ZÀ-ÖØ-Þ]|(?<=\d)[^\W\d_]|(?<=[^\W\d_])\d")
# A long form starts after a space or a slash; a number may precede its first letter: 5-azacytidine.
FORM_START = re.compile(r"(?:(?<=\s)|(?<=/)|^)(?:[\d,']+-)*([^\W_])")


def initial_form(short: str, text: str) -> str | None:
    """Return the last words of a text with the initials `short`: as few words and skips as possible."""
    letters = "".join(filter(str.isalnum, short.lower()))
    if not _hold(text.lower(), filter(str.isalpha, letters)):
        return None
    is_formula = FORMULA.fullmatch(short) is not None
    best: tuple[int, str] | None = None
    for words in _ends(text, letters[0]):
        if best and best[0] == 0:
            break
        if is_formula and NAME_OF_FORMULA.fullmatch(words):
            cost = initials_cost("".join(filter(str.isalpha, letters)), words, stretched=True)
        else:
            cost = initials_cost(letters, words, stretched=len(letters) >= FEWEST_TO_STRETCH)
        if cost is not None and (best is None or cost < best[0]):
            best = cost, words
    return best[1] if best else None


def _ends(text: str, letter: str) -> Iterator[str]:
    """Yield the ends of a text that start with a letter, shortest first."""
    for found in reversed(list(FORM_START.finditer(text))):
        words = text[found.start() :]
        fits = letter in {words[0].lower(), found.group(1).lower()}
        if fits and words.split(maxsplit=1)[0].lower() not in GRAMMATICAL_WORDS:
            yield words


def initials_cost(letters: str, text: str, *, stretched: bool = False) -> int | None:
    """Return the cost of lower-case letters as the initials of a text; None if they do not fit.

    The cost is 0 if each letter starts a word and each word except function words has a letter. With
    `stretched`, one letter may be anywhere within a word of a text of several words.
    """
    row = _Row.of(text) if _hold(text.lower(), letters) else None
    if row is None:
        return None
    for stretch in (False, True) if stretched and len(row.skipped) > 2 else (False,):  # noqa: PLR2004 - two words
        cost = _least_cost(row, letters, stretch=stretch)
        if cost is not None:
            return cost if cost < SKIPPED * (MOST_SKIPPED + 1) else None
    return None


def _hold(text: str, letters: Iterable[str]) -> bool:
    """Check whether a text contains letters in order; a fast check before the slow one."""
    place = -1
    return all((place := text.find(letter, place + 1)) >= 0 for letter in letters)


@dataclass(frozen=True, slots=True)
class _Row:
    """A lower-case text prepared for matching.

    `words[place + 1]` is the number of the word at a place, `starts[place + 1]` the start of the piece of a
    word at this place; both start with -1. `skipped[count]` is the cost of skipping the first `count` words.
    """

    text: str
    words: list[int]
    starts: list[int]
    skipped: list[int]

    @classmethod
    def of(cls, text: str) -> Self | None:
        lowered = text.lower()
        words = lowered.split()
        if len(lowered) != len(text) or not CLAUSE_WORDS.isdisjoint(words):
            return None
        numbers = [-1, *(number for number, word in enumerate(words) for _ in range(len(word) + 1))]
        starts = [-1] * (len(text) + 1)
        for found in WORD_START.finditer(text):
            starts[found.start() + 1] = found.start()
        costs = (0 if word in FUNCTION_WORDS else SKIPPED for word in words)
        return cls(lowered, numbers, list(accumulate(starts, max)), [0, *accumulate(costs)])

    def step(self, last: int, place: int, *, in_row: bool, stretch: bool) -> int | None:
        """Return the cost of a letter at `place` after one at `last`; `in_row` if no letter was skipped."""
        word, here = self.words[last + 1], self.words[place + 1]
        start = self.starts[place + 1]
        between = self.skipped[here] - self.skipped[word + 1] if here > word else 0
        if place == start:
            return between
        if in_row and place == last + 1:
            return NEXT
        if here == word and _starts_part(self.text, max(start, last), place):
            return PART
        return between + WITHIN if stretch else None


def _least_cost(row: _Row, letters: str, *, stretch: bool) -> int | None:
    known: dict[tuple[int, int, bool, bool], int | None] = {}

    def least(index: int, last: int, in_row: bool, stretch: bool) -> int | None:
        """Return the least cost of the letters from `index` on; `last` is the previous letter's place."""
        if index == len(letters):
            return row.skipped[-1] - row.skipped[row.words[last + 1] + 1]
        key = index, last, in_row, stretch
        if key not in known:
            costs = []
            place = row.text.find(letters[index], last + 1)
            while place >= 0:
                step = row.step(last, place, in_row=in_row, stretch=stretch)
                if step is not None:
                    within = step % SKIPPED >= WITHIN
                    rest = least(index + 1, place, not within, stretch and not within)
                    costs += [] if rest is None else [step + rest]
                place = row.text.find(letters[index], place + 1)
            known[key] = min(costs, default=None)
        return known[key]

    return least(0, -1, in_row=False, stretch=stretch)


def _starts_part(text: str, start: int, place: int) -> bool:
    """Check whether a part of a word may start here: z of monozygotic, the first a of osteoarthritis."""
    stop = place + 1
    while stop < len(text) and text[stop].isalpha():
        stop += 1
    long_enough = place - start >= LEAST_OF_PART and stop - place > LEAST_OF_PART
    return long_enough and (text[place] not in VOWELS or text[place - 1] in VOWELS)
