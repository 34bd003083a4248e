"""Highlighted tokens and snippets of stored texts.

Token positions are stored with a passage, so nothing is analysed here.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import regex

from indexer.corpora.chunking import split_sentences
from indexer.files.schema import StoredPassage

SHORTEST_SNIPPET = 20
MOST_COMPARED = 200  # occurrences of one token among which the best sentences are chosen
# Share of a piece of a sentence before the first token found.
LEAD_SHARE = 0.25
# Characters that compose together: a character, and the following marks and decomposed Hangul letters
# (NFC_Quick_Check=Maybe), and four marks that have this property only after decomposition.
CONTINUES = r"[\p{NFC_QC=Maybe}\P{ccc=0}\u0344\u0f73\u0f75\u0f81]"
SEQUENCE = regex.compile(f".{CONTINUES}*", flags=regex.DOTALL)
NO_BORDER = regex.compile(rf"{CONTINUES}|\p{{M}}|\u200d")
WHITE_SPACE = re.compile(r"\s+")

Span: TypeAlias = tuple[int, int]


class Place(NamedTuple):
    """A searched token and its place in the given text."""

    start: int
    end: int
    token: str


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text, and the spans of searched tokens: [start, end) in code points, in order."""

    text: str = ""
    spans: tuple[Span, ...] = ()


def found_in(passage: StoredPassage, tokens: Collection[str]) -> list[Place]:
    """Return the places of tokens in a passage's joined title and text, both composed (NFC)."""
    return [] if passage.tokens is None else [Place(*place) for place in passage.tokens.text.places(tokens)]


def snippet(
    passage: StoredPassage, weights: Mapping[str, float], found: Sequence[Place], *, length: int = 200
) -> MarkedText:
    """Return the sentences of a passage's text, or the piece of one, with the highest weight of found tokens.

    Ties go to the first. The snippet has at most `length` characters (at least 20) and single spaces. Long
    sentences are cut between words if possible, and marked with ….
    """
    text, places, length = passage.text, _places(passage, found), max(length, SHORTEST_SNIPPET)
    counted = Counter[str]()
    compared = []
    for place in places:
        counted[place.token] += 1
        compared += [place] if counted[place.token] <= MOST_COMPARED else []

    def weight(window: _Window) -> float:
        # fsum: a set has no order, and the sum must not depend on it.
        held = {place.token for place in _inside(compared, window.start, window.end)}
        return fsum(weights[token] for token in held)

    best = max(_windows(text, compared, length), key=weight, default=None)
    return _shown(text, best, _merged(_inside(places, best.start, best.end))) if best else MarkedText()


def title_spans(passage: StoredPassage, found: Iterable[Place]) -> tuple[Span, ...]:
    """Return the spans of found tokens in a passage's title: code points, in order, not overlapping."""
    title = passage.title
    if not title:
        return ()
    end_of_title = len(unicodedata.normalize("NFC", title))
    return tuple(_merged(_in_given(title, [one for one in found if one.start < one.end <= end_of_title])))


def _inside(places: list[Place], first: int, last: int) -> list[Place]:
    begin, end = (bisect_left(places, at, key=attrgetter("start")) for at in (first, last))
    return [place for place in places[begin:end] if place.end <= last]


def _merged(places: Iterable[Place]) -> list[Span]:
    spans: list[Span] = []
    for start, end in sorted((place.start, place.end) for place in places):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    return spans


def _places(passage: StoredPassage, found: Iterable[Place]) -> list[Place]:
    """Return the places in the text of the tokens found in title and text, in order."""
    title = unicodedata.normalize("NFC", passage.title)
    origin = len(title) + 1 if title else 0
    places = [
        Place(start - origin, end - origin, term) for start, end, term in found if origin <= start < end
    ]
    return sorted(_in_given(passage.text, places))


def _in_given(text: str, places: list[Place]) -> list[Place]:
    """Return the places in a text as given, of places in the composed text."""
    sources = _sources(text) if places else []
    if not sources:
        return places
    return [Place(sources[start][0], sources[end - 1][1], term) for start, end, term in places]


def _sources(text: str) -> list[Span]:
    """Return the source span of each character of the composed text; none if composing changes nothing."""
    if unicodedata.is_normalized("NFC", text):
        return []
    sources: list[Span] = []
    for sequence in SEQUENCE.finditer(text):
        sources += [sequence.span()] * len(unicodedata.normalize("NFC", sequence.group()))
    return sources


@dataclass(frozen=True, slots=True)
class _Window:
    """A piece of the text for a snippet, and whether it cuts a sentence at its start or end."""

    start: int
    end: int
    is_begun: bool = False
    is_unfinished: bool = False


def _windows(text: str, places: list[Place], length: int) -> Iterator[_Window]:
    """Yield runs of whole sentences of at most `length` characters, and pieces of the longer ones."""
    sentences = split_sentences(text)
    for index, (first, last) in enumerate(sentences):
        if last - first > length:
            yield from _pieces(text, (first, last), places, length - 2)  # for … on both sides
            continue
        until = index
        while until + 1 < len(sentences) and sentences[until + 1][1] - first <= length:
            until += 1
        yield _Window(first, sentences[until][1])


def _pieces(text: str, sentence: Span, places: list[Place], room: int) -> Iterator[_Window]:
    """Yield the beginning of a sentence that is too long, and a piece around each token in it."""
    first, last = sentence

    def piece(begin: int) -> _Window:
        end = last if last - begin <= room else _cut(text, begin, begin + room)
        return _Window(begin, end, begin > first, end < last)

    yield piece(first)
    for place in _inside(places, first, last):
        # Space that remains after the end of the sentence is used before the token.
        lead = max(int(room * LEAD_SHARE), room - (last - place.start))
        wanted = max(first, place.start - lead)
        space = WHITE_SPACE.search(text, wanted - 1, place.start) if wanted > first else None
        window = piece(space.end() if space else first if wanted == first else place.start)
        yield window if place.end <= window.end else piece(place.start)


def _cut(text: str, begin: int, limit: int) -> int:
    """Return the last place up to `limit` between words, else between whole displayed characters."""
    places = range(limit, begin, -1)
    spaces = (place for place in places if text[place].isspace())
    borders = (place for place in places if not NO_BORDER.match(text[place]))
    return next(spaces, next(borders, limit))


def _shown(text: str, window: _Window, spans: list[Span]) -> MarkedText:
    shown = "…" if window.is_begun else ""
    marked: list[Span] = []
    place = window.start
    for start, end in spans:
        shown += WHITE_SPACE.sub(" ", text[place:start])
        found = WHITE_SPACE.sub(" ", text[start:end])
        marked.append((len(shown), len(shown) + len(found)))
        shown += found
        place = end
    shown += WHITE_SPACE.sub(" ", text[place : window.end].rstrip())
    return MarkedText(shown + ("…" if window.is_unfinished else ""), tuple(marked))
