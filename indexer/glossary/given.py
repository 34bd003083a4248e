"""Given pairs, which are not mined: the user's pairs and the general glossary of this program.

A UTF-8 text file with one pair per line: the Korean term, a tab, the English term. After another tab, a mark
limits the lookup to one direction: > from the Korean term, < from the English term.

    # custom terms
    회복탄력성	resilience
    주석	tin	<

A # at the start of a line, or after white space, starts a comment.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from base.errors import InvalidCall
from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.analysis.tokens import Analyzer
from indexer.analysis.user_dictionary import decoded_lines, read_written
from indexer.glossary.pairs import (
    LONGEST_TERM,
    Pair,
    Source,
    Target,
    korean_tokens,
    term_language,
    term_tokens,
)

GENERAL = Path(__file__).with_name("general.tsv")
MOST_ENTRIES = 100_000
MARKS: dict[str, Target | None] = {"": None, ">": "en", "<": "ko"}
CACHED_ANALYSES = 4


class Entry(NamedTuple):
    """A line of a glossary file; `target` is the only language it is looked up for, None for both."""

    korean: str
    english: str
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class GivenPairs:
    """The given pairs of a version's glossary."""

    own: tuple[Entry, ...] = ()
    general: bool = True

    def pairs(
        self, analyzer: str, decompound: Decompound, dictionary: UserDictionary | None
    ) -> tuple[list[Pair], list[Pair]]:
        """Return the user's pairs and the general pairs in the analysis of an index."""
        chain = analyzer, decompound, dictionary
        own = list(_analysed(self.own, "user", make_analyzer(*chain))) if self.own else []
        return own, list(_general_pairs(*chain)) if self.general else []


def read_glossary(path: Path) -> tuple[Entry, ...]:
    """Read a glossary file.

    Raises:
        InvalidCall: no such file, or an invalid line; with file and line.
    """
    return parse_glossary(read_written(path, "glossary"), str(path))


def parse_glossary(data: bytes, source: str) -> tuple[Entry, ...]:
    """Parse the bytes of a glossary file, each pair once; `source` names the file in errors.

    Raises:
        InvalidCall: an invalid line, or no pair at all.
    """
    entries: dict[Entry, None] = {}
    for number, line in decoded_lines(data, source):
        try:
            entries[_entry(line)] = None
        except ValueError as error:
            raise InvalidCall(f"{source}, line {number}: {error}") from None
        if len(entries) > MOST_ENTRIES:
            raise InvalidCall(f"{source}, line {number}: more than {MOST_ENTRIES:,} pairs")
    if not entries:
        raise InvalidCall(f"{source}: no pairs in it; write one pair per line: Korean, a tab, English")
    return tuple(entries)


def _entry(line: str) -> Entry:
    korean, english, mark, *more = (" ".join(cell.split()) for cell in (line + "\t\t").split("\t"))
    if term_language(korean) != "ko" or term_language(english) != "en":
        raise ValueError("not a pair; write the Korean term, a tab, and the English term")
    if any(more) or mark not in MARKS:
        raise ValueError("only > or < may follow the English term")
    for term in (korean, english):
        if len(term) > LONGEST_TERM:
            raise ValueError(f"a term of {len(term)} characters, {LONGEST_TERM} are allowed")
    return Entry(korean, english, MARKS[mark])


def _analysed(entries: Iterable[Entry], source: Source, analyzer: Analyzer) -> Iterator[Pair]:
    """Yield the pairs with tokens left on both sides after analysis."""
    for korean, english, target in entries:
        sides = korean_tokens(korean, analyzer), term_tokens(english, analyzer)
        pair = Pair(korean, english, *sides, 0, (source,), target)
        if pair.has_tokens:
            yield pair


@lru_cache(CACHED_ANALYSES)
def _general_pairs(
    analyzer: str, decompound: Decompound, dictionary: UserDictionary | None
) -> tuple[Pair, ...]:
    entries = parse_glossary(GENERAL.read_bytes(), str(GENERAL))
    return tuple(_analysed(entries, "general", make_analyzer(analyzer, decompound, dictionary)))


@lru_cache(maxsize=1)
def general_words() -> Mapping[str, set[str]]:
    """Return the counterparts of the general glossary's words, folded, that are one word on both sides."""
    lines = GENERAL.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t")[:2] for line in lines if "\t" in line and line[0] != "#")
    words: dict[str, set[str]] = {}
    for korean, english in pairs:
        if " " not in korean and " " not in english:
            words.setdefault(korean.casefold(), set()).add(english)
            words.setdefault(english.casefold(), set()).add(korean)
    return words
