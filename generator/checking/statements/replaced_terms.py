"""Sign: a term replaced by another one.

Claim "summer floods" for the passage "winter floods" (`rivals.tsv`); "supervised tagger" for "unsupervised
tagger"; 음악 치료 for 원예 치료.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from base.patterns import lazy_regex
from generator.checking.text.clauses import Clause, Text, terms_of
from generator.checking.text.lexicon import FUNCTION_OR_DIRECTION, FUNCTION_WORDS, table
from generator.checking.text.matching import LEAST_SHARED, NEARLY_AS_SIMILAR, TermMatcher
from generator.checking.text.quantities import Quantity
from indexer.analysis.english import english_term


def _pattern(forms: str) -> str:
    """Return the regular expression of the forms of a term in both languages."""
    words = forms.split("|")
    english = [re.escape(word) for word in words if word.isascii()]
    korean = [word for word in words if not word.isascii()]
    return rf"\b(?:{'|'.join(english)})\b|(?<![가-힣])(?:{'|'.join(korean)})(?!적)"


TABLE = table("rivals.tsv")
TERMS = [[lazy_regex(_pattern(forms), re.IGNORECASE) for forms in row] for row in TABLE]
PLACES = {
    word: (number, place)
    for number, row in enumerate(TABLE)
    for place, forms in enumerate(row)
    for word in forms.split("|")
}
ANY = lazy_regex(_pattern("|".join(sorted(PLACES, key=len, reverse=True))), re.IGNORECASE)
MOST_CLAUSES = 400  # of a passage
PREFIXES = ("un", "under", "non")
SHORTEST_REST = 4  # letters, so that "units" is not un- with "its"
NOUNS = frozenset({"NNG", "NNP"})
CONTENT = frozenset({"NN", "NP", "VV", "VA", "SL", "SN"})
LEAST_SYLLABLES, LEAST_LETTERS = 2, 4
ENGLISH_WORD = lazy_regex(r"[a-z\d]+(?:[-'.][a-z\d]+)*|[,;.%]")
QUANTIFIERS = frozenset("some many most several every none much little half they there here".split())
# Endings of verbs, adjectives and adverbs.
NO_NOUN = lazy_regex(r"(?:ed|ing|ly|ive|ous|ful|able|ible|less|ant|ent|ish|ic|al|er|est)$")


def exclusive_terms(text: str) -> frozenset[tuple[int, int]]:
    """Return the mutually exclusive terms of a text as pairs: class number, place in the class."""
    return frozenset(PLACES[match[0].lower()] for match in ANY.finditer(text))


def replaced_exclusive_terms(
    claim: Text, passages: Sequence[Text], matcher: TermMatcher
) -> Iterator[tuple[str, str]]:
    """Yield terms of a claim in place of which the passages have one that excludes it."""
    claimed = exclusive_terms(claim.text)
    if not claimed:
        return
    for clause in claim.clauses:
        here = claimed & exclusive_terms(claim.words_of(clause))
        if not here:
            continue
        near = _nearest(claim, clause, passages, matcher)
        if not near:
            continue
        for number, place in sorted(here):
            term = TERMS[number][place]
            if any(number == other and place != its for other, its in claimed):
                continue  # the claim has two of them
            others = [exclusive_terms(text) for text in near]
            if any((number, place) in found for found in others):
                continue
            if all(any(number == other for other, _ in found) for found in others):
                rival = next(its for other, its in sorted(others[0]) if other == number)
                first, second = term.search(claim.text), TERMS[number][rival].search(near[0])
                if first and second:
                    yield first[0], second[0]


def _nearest(claim: Text, clause: Clause, passages: Sequence[Text], matcher: TermMatcher) -> list[str]:
    """Return the clauses of the passages that are most similar to a clause of a claim."""
    quantities = claim.quantities_in(clause.start, clause.end)
    shared = [
        (
            matcher.count(clause.tokens, terms_of(there.tokens)) + _same_numbers(quantities, passage, there),
            passage.words_of(there),
        )
        for passage in passages
        if len(passage.clauses) <= MOST_CLAUSES
        for there in passage.clauses
    ]
    best = max((count for count, _ in shared), default=0)
    least = max(LEAST_SHARED, NEARLY_AS_SIMILAR * best)
    return [text for count, text in shared if count >= least]


def _same_numbers(quantities: Sequence[Quantity], passage: Text, clause: Clause) -> int:
    there = passage.quantities_in(clause.start, clause.end)
    return sum(any(claimed.same_as(other) for other in there) for claimed in quantities)


def changed_prefixes(claim: Text, passages: Sequence[Text]) -> Iterator[tuple[str, str]]:
    """Yield words of a claim that differ from the passages by a negating prefix before the same word.

    A word that also occurs in the passages is left out.
    """
    passage_terms = {token[0] for passage in passages for token in passage.tokens}
    with_prefix: dict[tuple[str, str], str] = {}  # by the word without prefix and the next word
    pairs: set[tuple[str, str]] = set()
    for passage in passages:
        for token, following in pairwise(passage.tokens):
            pairs.add((token[0], following[0]))
            for rest in _without_prefix(passage.text[token[2] : token[3]]):
                with_prefix[rest, following[0]] = token[0]
    for token, following in pairwise(claim.tokens):
        if token[0] in passage_terms:
            continue
        written = claim.text[token[2] : token[3]]
        if other := with_prefix.get((token[0], following[0])):
            yield written, other
        for rest in _without_prefix(written):
            if (rest, following[0]) in pairs:
                yield written, rest


def _without_prefix(written: str) -> Iterator[str]:
    """Yield the terms of a word without a negating prefix."""
    for prefix in PREFIXES:
        rest = written.lower().removeprefix(prefix).lstrip("-")
        if len(rest) >= SHORTEST_REST and len(rest) < len(written) and rest.isascii():
            yield english_term(rest) or rest


def replaced_words(claim: Text, passages: Sequence[Text]) -> Iterator[tuple[str, str]]:
    """Yield words of a claim that replace another word of the passages between the same two words.

    여름에 티몰, 겨울에 for 여름에 개미산, 겨울에; "against malaria was" for "against dengue was".
    """
    passage_terms = {token[0] for passage in passages for token in passage.tokens}
    strange = terms_of(claim.tokens) - passage_terms - FUNCTION_WORDS
    if len(strange) == 1:
        yield from _replaced_modifiers(claim, passages)
    elif not claim.korean:
        return  # English nouns are uncertain: all other words of the claim must be in the passages
    slots: dict[tuple[str, str], set[str]] = {}
    for passage in passages:
        for before, word, after in _slots(passage):
            slots.setdefault((before, after), set()).add(word)
    texts = [passage.text.casefold() for passage in passages]
    for before, word, after in _slots(claim):
        others = slots.get((before, after), set())
        if others and word not in others and not any(other in claim.text.casefold() for other in others):
            # A word that the passages have elsewhere is misplaced only beside a number.
            elsewhere = any(word in text for text in texts)
            if not elsewhere or (claim.korean and before and _beside_a_number(claim, word)):
                yield word, min(others)


def _beside_a_number(text: Text, word: str) -> bool:
    """Return True if a clause contains both the word and a number."""
    return any(
        word in text.words_of(clause) and text.quantities_in(clause.start, clause.end)
        for clause in text.clauses
    )


def _replaced_modifiers(claim: Text, passages: Sequence[Text]) -> Iterator[tuple[str, str]]:
    """Yield Korean nouns before a noun that other nouns precede in the passages: 음악 치료 for 원예 치료."""
    modifiers: dict[str, set[str]] = {}
    for passage in passages:
        for modifier, head in _compounds(passage):
            modifiers.setdefault(head, set()).add(modifier)
    for modifier, head in _compounds(claim):
        others = modifiers.get(head, set())
        strange = not any(modifier in passage.text for passage in passages)
        if others and strange and not any(other in claim.text for other in others):
            yield modifier, min(others)


def _compounds(text: Text) -> Iterator[tuple[str, str]]:
    """Yield adjacent Korean nouns: modifier and head."""
    for (first, start, end), (second, begin, stop) in pairwise(text.tagged):
        if first in NOUNS and second in NOUNS and begin - end == 1:
            yield text.text[start:end], text.text[begin:stop]


def _slots(text: Text) -> Iterator[tuple[str, str, str]]:
    """Yield the nouns of a text, in English its longer words, each with the previous and the next word."""
    if text.korean:
        words = [("", ""), *_joined_nouns(text)]
    else:
        found = [".", *ENGLISH_WORD.findall(text.text.casefold())]
        words = [("NNG" if _may_be_noun(word) else "", word) for word in found]
    for ((_, before), (tag, word)), (_, (_, after)) in pairwise(pairwise(words)):
        if tag in NOUNS and len(word) >= LEAST_SYLLABLES:
            yield before, word, after


def _joined_nouns(text: Text) -> Iterator[tuple[str, str]]:
    """Yield the content words of a Korean text with their tags; adjacent nouns are joined."""
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
    """Return True for an English word that may be a noun, by its ending."""
    term = english_term(word) or word
    return (
        len(word) >= LEAST_LETTERS
        and word.isalpha()
        and term not in FUNCTION_OR_DIRECTION
        and word not in QUANTIFIERS
        and not NO_NOUN.search(word)
    )
