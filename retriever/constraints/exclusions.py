"""A thing that a search excludes, and the names by which texts mention it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from indexer.analysis.packing import GAP, PackedTokens

ROOM = " * "  # in a name: a word may stand here
# Words around a name in a text that does without the thing: "X-free", "beyond X", "X 없이".
WITHOUT = (
    *(
        "without {}",
        "non {}",
        "beyond {}",
        "altern {}",
        "instead {}",
        "replac {}",
        "post {}",
        "{} free",
        "{} less",
    ),
    *(
        "{} deni",
        "비 {}",
        "무 {}",
        "탈 {}",
        "{} 없",
        "{} 음영",
        "{} 외",
        "{} 이외",
        "{} 제외",
        "{} 대신",
        "{} 대체",
    ),
)
NOT_WITHOUT = r"(?!\s?(?:없|음영|외의|이외|제외|대신|대체))"
# A short Korean word is no part of another one (물, but not 물고기): at most a particle follows it.
SHORT = 2  # syllables
PATTERNS = 1_000  # that are kept compiled
PARTICLES = "(?:은|는|이|가|을|를|의|에|에서|에는|로|으로|와|과|도|만|보다)?(?![가-힣])"


@dataclass(frozen=True, slots=True)
class Writing:
    """A text as its tokens between spaces, without gaps, and as it is written."""

    tokens: str
    text: str = ""

    @classmethod
    def of(cls, tokens: Iterable[str], text: str = "") -> Self:
        """Join tokens."""
        return cls(f" {' '.join(tokens)} ", text)

    @classmethod
    def of_packed(cls, packed: PackedTokens, text: str = "") -> Self:
        """Join the packed tokens of a text."""
        if packed.positions:
            return cls.of(packed.words(), text)
        return cls(f" {packed.terms.replace(f' {GAP}', '').removeprefix(f'{GAP} ')} ", text)

    def times(self, name: str) -> int:
        """Count the places where the tokens of a name are in a row; with ROOM a word may come between."""
        if ROOM in name:
            return len(_with_room(name).findall(self.tokens))
        return self.tokens.count(f" {name} ")

    def times_about(self, name: str) -> int:
        """Count the occurrences of a name, except in "X-free" or "beyond X"."""
        times = self.times(name)
        return times and max(0, times - sum(self.tokens.count(f" {each.format(name)} ") for each in WITHOUT))

    def times_written(self, word: str) -> int:
        """Count the occurrences of a Korean word, with or without spaces between its parts."""
        return len(_as_written(word).findall(self.text))


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Words to leave out.

    `start` and `end` (code points of the composed question) span operator and words; both are 0 for words
    that a caller gave. The index's analysis adds the rest. A name is the words themselves, their counterpart
    in the other language, an abbreviation or its long form. `names` holds their tokens with spaces between;
    `written` holds the Korean ones as written, since the tokens of a Korean word depend on its neighbours.
    Words that the question asks for elsewhere have neither tokens nor names.
    """

    text: str
    operator: str = ""
    start: int = 0
    end: int = 0
    tokens: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    written: tuple[str, ...] = ()

    def is_subject(self, *writings: Writing) -> bool:
        """Check whether a title or keyword names the thing, other than "X-free" or "beyond X"."""
        return any(
            any(map(writing.times_about, self.names)) or any(map(writing.times_written, self.written))
            for writing in writings
        )

    def mentions(self, writing: Writing) -> int:
        """Count the mentions of the thing in a text, by its most frequent name there."""
        return max(*map(writing.times, self.names), *map(writing.times_written, self.written), *(0, 0))


@lru_cache(PATTERNS)
def _with_room(name: str) -> re.Pattern[str]:
    return re.compile(f" {re.escape(name).replace(re.escape(ROOM), r' (?:[^ ]+ )?')}(?= )")


@lru_cache(PATTERNS)
def _as_written(word: str) -> re.Pattern[str]:
    syllables = word.replace(" ", "")
    end = PARTICLES if len(syllables) <= SHORT else ""
    # A pattern that starts with a literal is searched for fast.
    spaced = " ?".join(syllables)
    return re.compile(f"{spaced[0]}(?<![가-힣]{spaced[0]}){spaced[1:]}{end}{NOT_WITHOUT}")
