"""Constraints of a question for one index: the names of excluded things, and the remaining tokens.

An excluded thing is known by its own words, and by the names that the index's glossary has for it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from indexer.analysis import Analyzer, Token
from indexer.glossary.loanwords import looks_foreign
from indexer.glossary.storage import TARGETS, Glossary
from retriever.constraints.exclusions import ROOM, Exclusion
from retriever.constraints.parsing import Constraints

Tokens = tuple[str, ...]
Span = tuple[int, int, Tokens]  # tokens[start:end] may also be written as other tokens
MOST_NAMES = 30
LONGEST = 8  # tokens of a name with counterparts
# Between the items of a list, each of which is excluded.
BETWEEN_ITEMS = re.compile(r"[,;/·&]|\b(?:and|or|nor)\b|[와과나]\s|\s(?:및|또는|혹은)\s", re.IGNORECASE)
# Words that a name does not need: "animal studies" are excluded by "animal", 노비 문제 by 노비.
PAPERS = frozenset(
    """
    paper studi research articl literatur issu problem question case
    논문 연구 문헌 자료 사례 이야기 내용 문제 도입 여부 이용 사용 활용
    """.split()
)
HANGUL = re.compile("[가-힣 ]+")


@dataclass(frozen=True, slots=True)
class Item:
    """One of the excluded things, as tokens and as written."""

    tokens: Tokens
    text: str


def listed_items(tokens: Sequence[Token], text: str, start: int, end: int) -> Iterator[Item]:
    """Split the excluded words text[start:end], with these tokens, into the items of a list."""
    item: list[str] = []
    last = start
    for token in tokens:
        if item and (between := BETWEEN_ITEMS.search(text, last, token[2])):
            yield Item(tuple(item), text[start : between.start()].strip())
            item, start = [], between.end()
        item.append(token[0])
        last = token[3]
    if item:
        yield Item(tuple(item), text[start:end].strip())


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one item: as tokens, with spaces between them, and the Korean ones as written."""

    tokens: tuple[str, ...]
    written: tuple[str, ...] = ()


def names_of(item: Item, glossary: Glossary, *, room: bool) -> Names:
    """Return the names of one item, its own words first: 검색증강생성, retrieval-augmented generation, RAG.

    With `room` another word may come between the tokens of a name: sulfide (solid) electrolytes.
    """
    own = item.text
    tokens = tuple(token for token in item.tokens if token not in PAPERS) or item.tokens
    names, written = [tokens], [own]
    if len(tokens) <= LONGEST:
        translated, others = _translated(tokens, glossary), _abbreviated(tokens, own, glossary)
        names += [*translated.names, *others]
        names += [other for name in translated.names for other in _abbreviated(name, own, glossary)]
        names += [name for other in others for name in _translated(other, glossary).names]
        written += translated.written
    if len(names) == 1 and HANGUL.fullmatch(own) and looks_foreign(own.replace(" ", "")):
        word = glossary.loanword(own.replace(" ", ""))
        names += [(word.token,)] if word else []
    if HANGUL.fullmatch(own) and len("".join(tokens)) < len(own.replace(" ", "")):
        names = names[1:]  # a part of the word is missing from the analysis
    kept = [
        name for name in dict.fromkeys(names) if len("".join(name)) > 1 or not HANGUL.fullmatch("".join(name))
    ]
    return Names(
        tuple((ROOM if room and len(name) <= LONGEST else " ").join(name) for name in kept[:MOST_NAMES]),
        tuple(name for name in dict.fromkeys(written) if HANGUL.fullmatch(name)),
    )


@dataclass(frozen=True, slots=True)
class _Translated:
    names: list[Tokens]
    written: list[str]  # Korean counterparts of the whole name


def _translated(tokens: Tokens, glossary: Glossary) -> _Translated:
    """Return a name with its parts in the other language."""
    matches = glossary.translations(tokens)
    names = [
        name
        for target in TARGETS
        for name in _composed(
            tokens, [(each.start, each.end, each.other_tokens) for each in matches if each.target == target]
        )
    ]
    korean = [each for each in matches if each.target == "ko" and each.end - each.start == len(tokens)]
    return _Translated(names, [match.pair.korean for match in korean])


def _abbreviated(tokens: Tokens, own: str, glossary: Glossary) -> list[Tokens]:
    """Return the variants of a name with long forms abbreviated, or abbreviations written out."""
    spans: list[Span] = []
    for match in glossary.abbreviations(tokens):
        form = match.form
        is_short = tokens[match.start : match.end] == form.short_tokens
        if form.ordinary and not (is_short and re.search(rf"\b{re.escape(form.short)}s?\b", own)):
            continue  # can, not CAN
        spans.append((match.start, match.end, form.long_tokens if is_short else form.short_tokens))
    return list(_composed(tokens, spans))


def _composed(tokens: Tokens, spans: Sequence[Span], start: int = 0) -> Iterator[Tokens]:
    """Yield tokens[start:] with each choice of spans replaced; nothing without spans."""
    if not spans:
        return
    if start == len(tokens):
        yield ()
        return
    here = [(end, other) for first, end, other in spans if first == start] or [(start + 1, (tokens[start],))]
    for end, other in here:
        yield from ((*other, *rest) for rest in islice(_composed(tokens, spans, end), MOST_NAMES))


class Reading(Protocol):
    """An index, or another analyzer with a glossary."""

    @property
    def analyzer(self) -> Analyzer: ...  # noqa: D102
    @property
    def glossary(self) -> Glossary: ...  # noqa: D102


def analyse_constraints(
    index: Reading, constraints: Constraints, text: str, tokens: Sequence[Token]
) -> tuple[Constraints, list[Token]]:
    """Add names to the exclusions, and return also the tokens outside of all constraints.

    If no tokens remain, the whole question is searched for.
    """
    places = constraints.places()
    kept = [
        token for token in tokens if not any(start <= token[2] and token[3] <= end for start, end in places)
    ]
    if not any(character.isalnum() for token in kept for character in token[0]):
        given = tuple(exclusion for exclusion in constraints.exclusions if not exclusion.end)
        constraints, kept = replace(constraints, exclusions=given), list(tokens)
    named = {token[0] for token in kept}
    exclusions = (_analysed(index, exclusion, text, tokens, named) for exclusion in constraints.exclusions)
    return replace(constraints, exclusions=tuple(exclusions)), kept


def _analysed(
    index: Reading, exclusion: Exclusion, text: str, tokens: Sequence[Token], named: set[str]
) -> Exclusion:
    """Add the tokens and names of an exclusion, except items whose words are all named elsewhere.

    A given or edited text, which is not in the question, is analysed separately.
    """
    # English words follow their operator, Korean words precede it.
    ahead = text.startswith(exclusion.text, exclusion.start)
    start = exclusion.start if ahead else exclusion.end - len(exclusion.text)
    end = start + len(exclusion.text)
    if exclusion.end and text[max(0, start) : end] == exclusion.text:
        own = [token for token in tokens if start <= token[2] and token[3] <= end]
    else:
        text, start, end = exclusion.text, 0, len(exclusion.text)
        own = index.analyzer.analyze(text)
    words = [token for token in own if any(map(str.isalnum, token[0]))]
    items = [item for item in listed_items(words, text, start, end) if not named.issuperset(item.tokens)]
    # If the question also asks for the last word, the word is only the kind of the excluded thing.
    names = [names_of(item, index.glossary, room=item.tokens[-1] in named) for item in items]
    return replace(
        exclusion,
        tokens=tuple(dict.fromkeys(token for item in items for token in item.tokens)),
        names=tuple(dict.fromkeys(name for each in names for name in each.tokens)),
        written=tuple(dict.fromkeys(name for each in names for name in each.written)),
    )
