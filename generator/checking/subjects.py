"""Subjects of numbers: the same figure of another drug, group or crop."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from generator.checking.clauses import Bridge, Text, terms_of
from generator.checking.names import opens_sentence
from generator.checking.numbers.exchanged import Labelled
from generator.checking.numbers.labels import measures
from generator.checking.opposites import AXIS_WORDS, FUNCTION_WORDS
from indexer.analysis.english import english_term

WORD = re.compile(r"[A-Za-z]{4,}|[가-힣]{2,}")
NOUNS = frozenset({"NNG", "NNP"})
CONTENT = frozenset({"NN", "NP", "VV", "VA", "SL", "SN"})
LEAST_SYLLABLES, LEAST_LETTERS = 2, 4
ENGLISH_WORD = re.compile(r"[a-z\d]+(?:[-'.][a-z\d]+)*|[,;.%]")
QUANTIFIERS = frozenset("some many most several every none much little half they there here".split())
# Endings of verbs, adjectives and adverbs.
NO_NOUN = re.compile(r"(?:ed|ing|ly|ive|ous|ful|able|ible|less|ant|ent|ish|ic|al|er|est)$")
Same = Callable[[str, str], bool]


def missing_terms(own: Sequence[Labelled], held: set[str], bridge: Bridge) -> Iterator[str]:
    """Yield technical terms beside the numbers of a sentence that the sources lack in both languages."""
    for place in own:
        if place.quantity.demanded:
            for term in bridge.technical_missing(place.tokens, held):
                yield " ".join(term)


def rival_names(
    sentence: Text,
    own: Sequence[Labelled],
    sources: Sequence[tuple[Text, Sequence[Labelled]]],
    same: Same,
    named: Callable[[str], list[str]],
) -> Iterator[tuple[str, str]]:
    """Yield names beside a number that the sources have only in sentences with other names."""
    for place in own:
        mine = _names(sentence, place, named)
        if not mine or not place.quantity.demanded:
            continue
        around = [
            _sentence_of(source, there)
            for source, places in sources
            for there in places
            if place.quantity.same_as(there.quantity)
        ]
        rivals = [named(text) for text in around]
        if not rivals or not all(rivals):
            continue
        words = {word for text in around for word in WORD.findall(text)}
        for name in mine:
            if not any(same(name, word) for word in words):
                yield name, rivals[0][0]


NAME = re.compile(r"(?<![A-Za-z0-9-])(?:[A-Z][a-z]{3,}|[A-Z]{2,}[A-Za-z0-9]+)(?![a-z])")


def names_elsewhere(
    sentence: Text,
    own: Sequence[Labelled],
    sources: Sequence[tuple[Text, Sequence[Labelled]]],
    same: Same,
) -> Iterator[tuple[str, str]]:
    """Yield names beside a number that the sources have only in clauses without it, beside other names."""
    for place in own:
        if not place.tokens or not measures(place.quantity):
            continue
        start, end = place.tokens[0][2], max(place.tokens[-1][3], place.quantity.end)
        mine = _proper(sentence.text, start, end)
        clauses = [
            [
                source.words_of(clause)
                for clause in source.clauses
                if clause.start <= there.quantity.start < clause.end
            ]
            for source, places in sources
            for there in places
            if place.quantity.same_as(there.quantity)
        ]
        around = [text for texts in clauses for text in texts]
        for name in mine if around else ():
            rivals = [
                [
                    other
                    for other in _proper(text, 0, len(text))
                    if other.isupper() == name.isupper() and not any(same(other, each) for each in mine)
                ]
                for text in around
            ]
            shared = any(
                other.isupper() == name.isupper() and same(other, each)
                for text in around
                for other in _proper(text, 0, len(text))
                for each in _proper(sentence.text, 0, len(sentence.text))
            )
            elsewhere = any(re.search(rf"\b{re.escape(name)}", source.text) for source, _ in sources)
            if elsewhere and all(rivals) and not shared:
                yield name, rivals[0][0]


def _proper(text: str, start: int, end: int) -> list[str]:
    """Return the names of a part of a text, except for the first word of a sentence."""
    return [
        match[0]
        for match in NAME.finditer(text, start, end)
        if match[0].isupper() or not opens_sentence(text, match.start())
    ]


def _names(text: Text, place: Labelled, named: Callable[[str], list[str]]) -> list[str]:
    if not place.tokens:
        return []
    return named(text.text[place.tokens[0][2] : max(place.tokens[-1][3], place.quantity.end)])


def _sentence_of(text: Text, place: Labelled) -> str:
    begin, end, _ = text.sentences[place.sentence]
    return text.text[begin:end]


def replaced_words(own: Text, sources: Sequence[Text]) -> Iterator[tuple[str, str]]:
    """Yield words of a sentence in whose place the sources have another one, between the same two words.

    여름에 티몰, 겨울에 for 여름에 개미산, 겨울에; "against malaria was" for "against dengue was".
    """
    held = {token[0] for source in sources for token in source.tokens}
    strange = terms_of(own.tokens) - held - FUNCTION_WORDS
    if len(strange) == 1:
        yield from _replaced_modifiers(own, sources)
    elif not own.korean:
        return  # English tells no nouns apart: there the rest of the sentence has to be that of the source
    slots: dict[tuple[str, str], set[str]] = {}
    for source in sources:
        for before, word, behind in _slots(source):
            slots.setdefault((before, behind), set()).add(word)
    texts = [source.text.casefold() for source in sources]
    for before, word, behind in _slots(own):
        others = slots.get((before, behind), set())
        if others and word not in others and not any(other in own.text.casefold() for other in others):
            # A word that the source has elsewhere is in the wrong place only beside a number.
            elsewhere = any(word in text for text in texts)
            if not elsewhere or (own.korean and before and _beside_a_number(own, word)):
                yield word, min(others)


def _beside_a_number(text: Text, word: str) -> bool:
    """Return whether a clause has both a word and a number."""
    return any(
        word in text.words_of(clause) and text.quantities_in(clause.start, clause.end)
        for clause in text.clauses
    )


def _replaced_modifiers(own: Text, sources: Sequence[Text]) -> Iterator[tuple[str, str]]:
    """Yield Korean nouns before a noun that follows other nouns in the sources: 음악 치료 for 원예 치료."""
    modifiers: dict[str, set[str]] = {}
    for source in sources:
        for modifier, head in _compounds(source):
            modifiers.setdefault(head, set()).add(modifier)
    for modifier, head in _compounds(own):
        others = modifiers.get(head, set())
        strange = not any(modifier in source.text for source in sources)
        if others and strange and not any(other in own.text for other in others):
            yield modifier, min(others)


def _compounds(text: Text) -> Iterator[tuple[str, str]]:
    for (first, start, end), (second, begin, stop) in pairwise(text.tagged):
        if first in NOUNS and second in NOUNS and begin - end == 1:
            yield text.text[start:end], text.text[begin:stop]


def _slots(text: Text) -> Iterator[tuple[str, str, str]]:
    """Yield the nouns of a text, in English its longer words, each with the word before and behind it."""
    if text.korean:
        words = [("", ""), *_joined_nouns(text)]
    else:
        found = [".", *ENGLISH_WORD.findall(text.text.casefold())]
        words = [("NNG" if _may_be_noun(word) else "", word) for word in found]
    for ((_, before), (tag, word)), (_, (_, behind)) in pairwise(pairwise(words)):
        if tag in NOUNS and len(word) >= LEAST_SYLLABLES:
            yield before, word, behind


def _joined_nouns(text: Text) -> Iterator[tuple[str, str]]:
    """Yield the content words of a Korean text with their tags, nouns written together as one."""
    begin = stop = -1
    for tag, start, end in text.tagged:
        if tag in NOUNS and start == stop:
            stop = end
            continue
        if begin >= 0:
            yield "NNG", text.text[begin:stop]
        begin = stop = -1
        if tag in NOUNS:
            begin, stop = start, end
        elif tag[:2] in CONTENT and tag != "VX":
            yield tag, text.text[start:end]
    if begin >= 0:
        yield "NNG", text.text[begin:stop]


def _may_be_noun(word: str) -> bool:
    term = english_term(word) or word
    return (
        len(word) >= LEAST_LETTERS
        and word.isalpha()
        and term not in AXIS_WORDS
        and term not in FUNCTION_WORDS
        and word not in QUANTIFIERS
        and not NO_NOUN.search(word)
    )
