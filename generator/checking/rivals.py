"""Terms that exclude each other: "summer" for winter, "recall" for precision, 어머니 for 아버지.

A sentence names one of them where the clauses of its sources that share most with it name another alone.
"""

import re
from collections.abc import Iterator, Sequence
from importlib import resources

from generator.checking.clauses import Bridge, Clause, Text, terms_of
from generator.checking.numbers.quantities import Quantity

TABLE = (resources.files("generator.checking") / "rivals.tsv").read_text(encoding="utf-8").splitlines()


def _pattern(forms: str) -> str:
    words = forms.split("|")
    english = [re.escape(word) for word in words if word.isascii()]
    korean = [word for word in words if not word.isascii()]
    return rf"\b(?:{'|'.join(english)})\b|(?<![가-힣])(?:{'|'.join(korean)})(?!적)"


CLASSES = [[re.compile(_pattern(forms), re.IGNORECASE) for forms in line.split("\t")] for line in TABLE[1:]]
LEAST_SHARED, NEARLY = 2, 0.75
MOST_CLAUSES = 400  # of a source


PLACES = {
    word: (number, place)
    for number, line in enumerate(TABLE[1:])
    for place, forms in enumerate(line.split("\t"))
    for word in forms.split("|")
}
ANY = re.compile(_pattern("|".join(sorted(PLACES, key=len, reverse=True))), re.IGNORECASE)


def terms_that_exclude(text: str) -> frozenset[tuple[int, int]]:
    """Return the terms of a text that exclude others: the number of their class, and theirs in it."""
    return frozenset(PLACES[match[0].lower()] for match in ANY.finditer(text))


def rival_terms(own: Text, sources: Sequence[Text], bridge: Bridge) -> Iterator[tuple[str, str]]:
    """Yield terms of a sentence in whose place its sources name one that excludes it."""
    mine = terms_that_exclude(own.text)
    if not mine:
        return
    for clause in own.clauses:
        here = mine & terms_that_exclude(own.words_of(clause))
        if not here:
            continue
        near = _nearest(own, clause, sources, bridge)
        if not near:
            continue
        for number, place in sorted(here):
            term = CLASSES[number][place]
            if any(number == other and place != its for other, its in mine):
                continue  # the sentence names two of them
            others = [terms_that_exclude(text) for text in near]
            if any((number, place) in found for found in others):
                continue
            if all(any(number == other for other, _ in found) for found in others):
                rival = next(its for other, its in sorted(others[0]) if other == number)
                first, second = term.search(own.text), CLASSES[number][rival].search(near[0])
                if first and second:
                    yield first[0], second[0]


def _nearest(own: Text, clause: Clause, sources: Sequence[Text], bridge: Bridge) -> list[str]:
    """Return the clauses of the sources that share most with a clause of a sentence."""
    counted = own.quantities_in(clause.start, clause.end)
    shared = [
        (
            bridge.shared(clause.tokens, terms_of(there.tokens)) + _same_numbers(counted, source, there),
            source.words_of(there),
        )
        for source in sources
        if len(source.clauses) <= MOST_CLAUSES
        for there in source.clauses
    ]
    best = max((count for count, _ in shared), default=0)
    return [text for count, text in shared if count >= max(LEAST_SHARED, NEARLY * best)] if best else []


def _same_numbers(counted: Sequence[Quantity], source: Text, clause: Clause) -> int:
    there = source.quantities_in(clause.start, clause.end)
    return sum(any(mine.same_as(other) for other in there) for mine in counted)
