"""Translations in brackets: 지식 그래프(knowledge graph), Asian dust (황사)."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from indexer.analysis.tokens import Analyzer
from indexer.glossary.pairs import BRACKET, HANGUL
from indexer.glossary.patterns.abbreviations import Expanded, expanded_abbreviations
from indexer.glossary.patterns.english_forms import english_forms
from indexer.glossary.patterns.english_side import english_side
from indexer.glossary.patterns.english_terms import is_grammatical, numbers_of
from indexer.glossary.patterns.korean_side import korean_side, sounds_alike

SEEN_BEFORE = 200
BROKEN_LINE = re.compile(r"[가-힣A-Za-z,]\n[가-힣a-z]")


@dataclass(frozen=True, slots=True)
class Mention:
    """An English term and candidates for its Korean term, likeliest first; `sure` if one paper suffices.

    `rough` means that the lines of the text are broken, as on scanned pages, and letters may be misread.
    """

    candidates: tuple[str, ...]
    english: str
    sure: bool
    rough: bool = False


class PassageTexts(NamedTuple):
    """The mined texts of a passage; `keywords` are the paper's Korean keywords, without spaces."""

    title: str
    text: str
    title2: str = ""
    keywords: frozenset[str] = frozenset()


class PassageMentions(NamedTuple):
    """The terms explained by the brackets of a passage."""

    title: tuple[Mention, ...] = ()
    text: tuple[Mention, ...] = ()
    title2: tuple[Mention, ...] = ()
    abbreviations: tuple[Expanded, ...] = ()


def passage_mentions(texts: PassageTexts, analyzer: Analyzer) -> PassageMentions:
    """Return the terms explained by the brackets of a passage."""
    title, text, title2, keywords = texts
    return PassageMentions(
        tuple(bracket_mentions(title, analyzer, keywords)),
        tuple(bracket_mentions(text, analyzer, keywords)),
        tuple(bracket_mentions(title2, analyzer, keywords)),
        tuple(found for part in (title, text, title2) for found in expanded_abbreviations(part)),
    )


def bracket_mentions(text: str, analyzer: Analyzer, keywords: Collection[str] = ()) -> Iterator[Mention]:
    """Yield the terms explained by the brackets of `text`; `keywords` as in `PassageTexts`."""
    if text.isascii() or ("(" not in text and "（" not in text):
        return
    rough = "\n" in text and BROKEN_LINE.search(text) is not None
    for bracket in BRACKET.finditer(text):
        front = text[max(0, bracket.start() - SEEN_BEFORE) : bracket.start()]
        after = text[bracket.end() : bracket.end() + 1]
        for candidates, english, sure in _terms(front.rstrip(), bracket.group(1), after, analyzer, keywords):
            alike = sounds_alike(candidates[0], english)
            # A bracket in capitals at the start of a line may be a caption or a source.
            apart = "\n" in front[len(front.rstrip()) :] and not english.islower()
            if alike or not is_grammatical(english):
                yield Mention(candidates, english, sure and (alike or not apart), rough)


def _terms(
    before: str, inside: str, after: str, analyzer: Analyzer, keywords: Collection[str]
) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    """Yield the Korean candidates and the English term of a bracket, and whether one paper suffices."""
    if HANGUL.match(inside.lstrip(" '\"‘“")) and not HANGUL.search(before[-1:]):
        found = english_side(before, inside, analyzer)
        if found is not None:
            yield (found.korean,), found.english, found.sure
        return
    forms = english_forms(inside)
    english = forms.full or forms.abbreviation
    side = korean_side(before, after, english, analyzer, keywords) if english else None
    if english is None or side is None:
        return
    sure = side.sure and not forms.doubtful and numbers_of(side.candidates[0]) == numbers_of(english)
    yield side.candidates, english, sure
    if forms.full and forms.abbreviation:
        yield side.candidates, forms.abbreviation, sure
