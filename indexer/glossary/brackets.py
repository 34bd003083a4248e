"""Terms given in the other language in a bracket: 지식 그래프(knowledge graph), Asian dust (황사)."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from indexer.analysis.tokens import Analyzer
from indexer.glossary.abbreviations import Expanded, expanded_abbreviations
from indexer.glossary.english_forms import english_forms
from indexer.glossary.english_side import english_side
from indexer.glossary.korean_side import korean_side
from indexer.glossary.pairs import BRACKET, HANGUL

SEEN_BEFORE = 200


@dataclass(frozen=True, slots=True)
class Mention:
    """An English term and the Korean it may belong to, the likeliest first; `sure` if one paper is enough."""

    candidates: tuple[str, ...]
    english: str
    sure: bool


class PassageTexts(NamedTuple):
    """What of a passage is analysed and mined; `keywords` are the paper's Korean ones, without spaces."""

    title: str
    text: str
    title2: str = ""
    keywords: frozenset[str] = frozenset()


class PassageMentions(NamedTuple):
    """What the brackets of a passage say."""

    title: tuple[Mention, ...] = ()
    text: tuple[Mention, ...] = ()
    title2: tuple[Mention, ...] = ()
    abbreviations: tuple[Expanded, ...] = ()


def passage_mentions(texts: PassageTexts, analyzer: Analyzer) -> PassageMentions:
    """Return what the brackets of a passage say."""
    title, text, title2, keywords = texts
    return PassageMentions(
        tuple(bracket_mentions(title, analyzer, keywords)),
        tuple(bracket_mentions(text, analyzer, keywords)),
        tuple(bracket_mentions(title2, analyzer, keywords)),
        tuple(found for part in (title, text, title2) for found in expanded_abbreviations(part)),
    )


def bracket_mentions(text: str, analyzer: Analyzer, keywords: Collection[str] = ()) -> Iterator[Mention]:
    """Yield what the brackets of `text` say; `keywords` are the paper's Korean ones, without spaces."""
    if "(" not in text and "（" not in text:
        return
    for bracket in BRACKET.finditer(text):
        inside = bracket.group(1)
        before = text[max(0, bracket.start() - SEEN_BEFORE) : bracket.start()].rstrip()
        if HANGUL.match(inside.lstrip(" '\"‘“")) and not HANGUL.search(before[-1:]):
            found = english_side(before, inside, analyzer)
            if found is not None:
                yield Mention((found.korean,), found.english, found.sure)
            continue
        forms = english_forms(inside)
        english = forms.full or forms.abbreviation
        if english is None:
            continue
        side = korean_side(before, text[bracket.end() : bracket.end() + 1], english, analyzer, keywords)
        if side is not None:
            sure = side.sure and not forms.doubtful
            yield Mention(side.candidates, english, sure)
            if forms.full and forms.abbreviation:
                yield Mention(side.candidates, forms.abbreviation, sure)
