"""Signs: a number of another drug, group or counted thing.

Claim "41,000 registers" for the passage "41,000 persons across 27 registers"; "8 % with infliximab" for "8 %
with vedolizumab"; "410 hours" for 410회.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from generator.checking.numbers.labels import LabelledQuantity, Labels, measures, with_number
from generator.checking.text.clauses import Text, opens_sentence, start_of_token, starting_in, terms_of
from generator.checking.text.lexicon import FUNCTION_OR_DIRECTION, MOST_PAIRS
from generator.checking.text.matching import TermMatcher
from generator.checking.text.quantities import Quantity
from indexer.analysis.tokens import Token

WORD = re.compile(r"[A-Za-z]{4,}|[가-힣]{2,}")
NAME = re.compile(r"(?<![A-Za-z0-9-])(?:[A-Z][a-z]{3,}|[A-Z]{2,}[A-Za-z0-9]+)(?![a-z])")
Same = Callable[[str, str], bool]
ENDS = re.compile(
    r"[,;.:()\d]|\b(?:of|in|for|with|among|at|on|from|to|by|across|and|or|that|who|which|were|was|are|is|had|have|using)\b"
)
FAR = 40  # characters
NOUNS = 2  # words before a Korean count
YEARS = range(1000, 2101)
COUNTERS = frozenset("명 건 개 곳 편 회 쌍 대 장 종 호 마리 그루 인".split())
COUNTED = re.compile(r"\s?(?:회|명|인|건|개|곳|마리|그루|편|대|권|척|쌍|종)(?![가-힣]{0,1}(?:년|월|시간))")
MEASURES = frozenset({"second", "month", "g", "m", "won", "dollar", "share", "degree"})


def missing_terms(in_claim: Labels, passage_terms: set[str], matcher: TermMatcher) -> Iterator[str]:
    """Yield technical terms beside numbers of a claim that the passages lack in both languages."""
    for label in in_claim:
        if label.quantity.required:
            for term in matcher.missing_technical_terms(label.tokens, passage_terms):
                yield " ".join(term)


def replaced_names(
    in_claim: Labels, passages: Sequence[Labels], same: Same, named: Callable[[str], list[str]]
) -> Iterator[tuple[str, str]]:
    """Yield names beside a number that occurs only in sentences with other names."""
    for label in in_claim:
        claimed = named(label.text.text[slice(*_span(label))]) if label.tokens else []
        if not claimed or not label.quantity.required:
            continue
        around = [_sentence_of(stated) for stated, _ in with_number(label.quantity, passages)]
        rivals = [named(text) for text in around]
        if not rivals or not all(rivals):
            continue
        words = {word for text in around for word in WORD.findall(text)}
        for name in claimed:
            if not any(same(name, word) for word in words):
                yield name, rivals[0][0]


def names_elsewhere(
    claim: Text, in_claim: Labels, passages: Sequence[Labels], texts: Sequence[Text], same: Same
) -> Iterator[tuple[str, str]]:
    """Yield names beside a number that occurs only in clauses with other names; the name is elsewhere."""
    for label in in_claim:
        if not label.tokens or not measures(label.quantity):
            continue
        claimed = _proper(claim.text, *_span(label))
        around = [
            stated.text.words_of(clause)
            for stated, _ in with_number(label.quantity, passages)
            for clause in stated.text.clauses
            if clause.start <= stated.quantity.start < clause.end
        ]
        for name in claimed if around else ():
            rivals = [
                [
                    other
                    for other in _proper(text, 0, len(text))
                    if other.isupper() == name.isupper() and not any(same(other, each) for each in claimed)
                ]
                for text in around
            ]
            shared = any(
                other.isupper() == name.isupper() and same(other, each)
                for text in around
                for other in _proper(text, 0, len(text))
                for each in _proper(claim.text, 0, len(claim.text))
            )
            elsewhere = any(re.search(rf"\b{re.escape(name)}", text.text) for text in texts)
            if elsewhere and all(rivals) and not shared:
                yield name, rivals[0][0]


def _proper(text: str, start: int, end: int) -> list[str]:
    """Return the names in a part of a text, except for the first word of a sentence."""
    return [
        match[0]
        for match in NAME.finditer(text, start, end)
        if match[0].isupper() or not opens_sentence(text, match.start())
    ]


def _span(label: LabelledQuantity) -> tuple[int, int]:
    """Return the span of a label and its number."""
    return label.tokens[0][2], max(label.tokens[-1][3], label.quantity.end)


def _sentence_of(label: LabelledQuantity) -> str:
    begin, end, _ = label.text.sentences[label.sentence]
    return label.text.text[begin:end]


@dataclass(frozen=True, slots=True)
class Count:
    """A count with the words for the counted things."""

    quantity: Quantity
    words: tuple[Token, ...]


def counts(text: Text) -> Iterator[Count]:
    """Yield the counts of a text: an English one precedes its noun, a Korean one follows it."""
    for quantity in text.quantities:
        if quantity.unit or not quantity.is_whole or not quantity.required or int(quantity.value) in YEARS:
            continue
        if text.korean:
            span = max(0, quantity.start - FAR), quantity.start
        else:
            stop = ENDS.search(text.text, quantity.end, quantity.end + FAR)
            span = quantity.end, stop.start() if stop else quantity.end + FAR
        words = [
            token
            for token in starting_in(text.tokens, start_of_token, *span)
            if token[0] not in FUNCTION_OR_DIRECTION and token[0] not in COUNTERS
        ]
        if found := tuple(words[-NOUNS:] if text.korean else words):
            yield Count(quantity, found)


def exchanged_counts(
    in_claim: Sequence[Count], in_passages: Sequence[Count], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield counts that the passages give for other things, with the count of these things."""
    if len(in_claim) * len(in_passages) > MOST_PAIRS:
        return
    for claimed in in_claim:
        same = [other for other in in_passages if claimed.quantity.same_as(other.quantity)]
        if not same or any(matcher.count(claimed.words, terms_of(other.words)) for other in same):
            continue
        for other in in_passages:
            if not claimed.quantity.same_as(other.quantity) and matcher.count(
                claimed.words, terms_of(other.words)
            ):
                yield claimed.quantity.text, other.quantity.text
                break


def measured_counts(in_claim: Sequence[Quantity], passages: Sequence[Text]) -> Iterator[str]:
    """Yield numbers with a unit of measure that the passages have only before a Korean counter."""
    for claimed in in_claim:
        if (
            not claimed.unit
            or claimed.unit.dimension not in MEASURES
            or claimed.multiple
            or not claimed.required
        ):
            continue
        same = [(text, other) for text in passages for other in text.quantities if claimed.same_as(other)]
        if same and all(other.unit is None and COUNTED.match(text.text, other.end) for text, other in same):
            yield claimed.text
