"""Pairs that are given, not mined: an institution's own, and the general glossary of this program.

A file of UTF-8 text, a pair a line: the Korean term, a tab, the English one. Behind another tab a mark may
say that a pair is looked up from one side only: > from the Korean, < from the English.

    # terms of our own
    회복탄력성	resilience
    주석	tin	<

What stands behind a # at the start of a line, or behind white space, is a comment.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from indexer.analysis import Decompound, UserDictionary, make_analyzer
from indexer.analysis.tokens import Analyzer
from indexer.analysis.user_dictionary import decoded_lines, read_written
from indexer.errors import InvalidCall
from indexer.glossary.pairs import (
    LONGEST_TERM,
    LONGEST_TOKENS,
    Pair,
    Source,
    Target,
    term_language,
    term_tokens,
)
from indexer.glossary.transliteration import FINALS, FIRST_SYLLABLE

GENERAL = Path(__file__).with_name("general.tsv")
MOST_ENTRIES = 100_000
MARKS: dict[str, Target | None] = {"": None, ">": "en", "<": "ko"}
SHORTEST_STEM = 2  # syllables, of a term without its suffix
ANALYSES_REMEMBERED = 4


class Entry(NamedTuple):
    """A line of a glossary's file; `target` is the only language that it is looked up for, None for both."""

    korean: str
    english: str
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class GivenPairs:
    """What a version's glossary holds beside the mined pairs."""

    own: tuple[Entry, ...] = ()
    general: bool = True

    def pairs(
        self, analyzer: str, decompound: Decompound, dictionary: UserDictionary | None
    ) -> tuple[list[Pair], list[Pair]]:
        """Return the institution's own and the general pairs in the analysis of an index."""
        chain = analyzer, decompound, dictionary
        own = list(_analysed(self.own, "user", make_analyzer(*chain))) if self.own else []
        return own, list(_general_pairs(*chain)) if self.general else []


def read_glossary(path: Path) -> tuple[Entry, ...]:
    """Read a glossary's file.

    Raises:
        InvalidCall: no such file, or something in it that is no pair; with file and line.
    """
    return parse_glossary(read_written(path, "glossary"), str(path))


def parse_glossary(data: bytes, source: str) -> tuple[Entry, ...]:
    """Read the bytes of a glossary's file, each pair once; `source` names it in errors.

    Raises:
        InvalidCall: something that is no pair, or no pair at all.
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
        raise InvalidCall(f"{source}: no pairs in it; write a pair a line, Korean, a tab, English")
    return tuple(entries)


def _entry(line: str) -> Entry:
    korean, english, mark, *more = (" ".join(cell.split()) for cell in (line + "\t\t").split("\t"))
    if term_language(korean) != "ko" or term_language(english) != "en":
        raise ValueError("no pair; write the Korean term, a tab, and the English one")
    if any(more) or mark not in MARKS:
        raise ValueError("behind the English term stands what is neither > nor <")
    for term in (korean, english):
        if len(term) > LONGEST_TERM:
            raise ValueError(f"a term of {len(term)} characters, {LONGEST_TERM} are allowed")
    return Entry(korean, english, MARKS[mark])


def _analysed(entries: Iterable[Entry], source: Source, analyzer: Analyzer) -> Iterator[Pair]:
    """Yield the pairs of which the analysis leaves something on both sides.

    Where it leaves one token that is not all of a Korean term (혈압 of 고혈압), the pair is looked up from
    the English only, unless just a suffix is missing (타당성) and no other term is the token.
    """
    analysed = [(entry, _korean_tokens(entry.korean, analyzer)) for entry in entries]
    whole = {tokens[0] for entry, tokens in analysed if tokens == (entry.korean,) and entry.target != "ko"}
    for (korean, english, target), korean_tokens in analysed:
        english_tokens = term_tokens(english, analyzer)
        if not (0 < len(korean_tokens) <= LONGEST_TOKENS and 0 < len(english_tokens) <= LONGEST_TOKENS):
            continue
        is_part = len(korean_tokens) == 1 and not _spell(korean_tokens, korean)
        from_english = is_part and (not _is_stem(korean_tokens[0], korean) or korean_tokens[0] in whole)
        if not (from_english and target == "en"):
            sides = "ko" if from_english else target
            yield Pair(korean, english, korean_tokens, english_tokens, 0, (source,), sides)


def _korean_tokens(term: str, analyzer: Analyzer) -> tuple[str, ...]:
    """Return a term's tokens; where they are not all of it, those that it has as an object (비만을)."""
    tokens = term_tokens(term, analyzer)
    if tokens and not _spell(tokens, term):
        ends_open = (ord(term[-1]) - FIRST_SYLLABLE) % FINALS == 0
        as_object = term_tokens(term + ("를" if ends_open else "을"), analyzer)
        if _spell(as_object, term):
            return as_object
    return tokens


def _is_stem(token: str, term: str) -> bool:
    """Tell whether a term has but a suffix or a nominal ending more than a token: 타당성, 돌봄 of 돌보."""
    is_long_enough = len(token) >= SHORTEST_STEM
    return is_long_enough and (token == term[:-1] or (len(token) == len(term) and token[:-1] == term[:-1]))


def _spell(tokens: Sequence[str], term: str) -> bool:
    return "".join(tokens) == "".join(filter(str.isalnum, term.lower()))


@lru_cache(ANALYSES_REMEMBERED)
def _general_pairs(
    analyzer: str, decompound: Decompound, dictionary: UserDictionary | None
) -> tuple[Pair, ...]:
    entries = parse_glossary(GENERAL.read_bytes(), str(GENERAL))
    return tuple(_analysed(entries, "general", make_analyzer(analyzer, decompound, dictionary)))
