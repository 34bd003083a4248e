"""A question as concepts: its words and terms, each with all that stands for it.

A passage scores for a concept once, by the concept's own words or by its best counterpart, whichever is
more, so that a passage in the other language is not behind for naming a thing in one word only.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from retriever.keywords import Translation
from retriever.order.candidates import K1
from retriever.question import AnalysedQuestion
from retriever.spelling import VARIANT_WEIGHT
from retriever.synonyms import SYNONYM, SYNONYM_WEIGHT
from retriever.term_statistics import TermStatistics

WHOLE = frozenset({SYNONYM, "abbreviation"})
MOST_OF_IDF = K1 + 1  # what BM25 can make of an idf


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question: its spellings in the index with their weights, and its weight times idf."""

    spellings: Mapping[str, float]
    importance: float


@dataclass(frozen=True, slots=True)
class Counterpart:
    """What stands for words of a concept: a translation, a synonym, an abbreviation's long form.

    The best of its tokens counts, times `weight`, and no more than the words that it stands for could. Of a
    synonym or an abbreviation, which name one thing exactly, all tokens must be there, and their mean counts.
    """

    tokens: tuple[str, ...]
    weight: float
    importance: float
    origin: str = ""
    text: str = ""  # as a reader writes it

    @property
    def is_whole(self) -> bool:
        """Whether all tokens must be there."""
        return self.origin in WHOLE

    def is_held(self, held: Container[str]) -> bool:
        """Tell whether tokens of a passage hold it."""
        return (all if self.is_whole else any)(token in held for token in self.tokens)

    @property
    def most(self) -> float:
        """The highest score there is for it."""
        return MOST_OF_IDF * self.importance


@dataclass(frozen=True)  # without slots, so that what candidates ask again is computed once
class Concept:
    """Words of a question that are one thing, with their counterparts, and what it weighs among others."""

    text: str
    words: tuple[Word, ...]
    counterparts: tuple[Counterpart, ...] = ()

    @cached_property
    def only_token(self) -> str | None:
        """The token of a concept that nothing else stands for; None of any other."""
        spelled = [token for word in self.words for token in word.spellings]
        return spelled[0] if len(spelled) == 1 and not self.counterparts else None

    @cached_property
    def importance(self) -> float:
        """The weight times idf: of the words, or where no passage holds them of the best counterpart."""
        own = sum(word.importance for word in self.words)
        return own or max((counterpart.importance for counterpart in self.counterparts), default=0.0)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All tokens that stand for it, its own first."""
        own = [token for word in self.words for token in word.spellings]
        return tuple(dict.fromkeys([*own, *(t for other in self.counterparts for t in other.tokens)]))

    def as_record(self) -> dict[str, Any]:
        """Return the concept as JSON."""
        return {
            "text": self.text,
            "weight": round(self.importance, 4),
            "counterparts": [{"text": other.text, "origin": other.origin} for other in self.counterparts],
        }

    def coverage(self, held: Mapping[str, int]) -> float:
        """Return how much of its importance the tokens of a passage cover."""
        if self.only_token is not None:
            return self.words[0].importance if self.only_token in held else 0.0
        own = sum(word.importance for word in self.words if any(token in held for token in word.spellings))
        others = [other.importance for other in self.counterparts if other.is_held(held)]
        return min(self.importance, max([own, *others]))


def make_concepts(
    question: AnalysedQuestion,
    found: Iterable[Translation],
    spellings: Mapping[str, tuple[str, ...]],
    statistics: TermStatistics,
    *,
    weighted: bool = True,
) -> tuple[Concept, ...]:
    """Join the words of a question that something found stands for together; others are concepts alone.

    Args:
        question: its words and their weights.
        found: translations, synonyms, abbreviations; each stands for some tokens of the question.
        spellings: of tokens that the index does not hold.
        statistics: of all tokens.
        weighted: whether words weigh what the question says; else alike.
    """
    texts = {token: term.text for term in question.terms for token in term.tokens}
    distinct = list(dict.fromkeys(found))
    weights = {token: question.weights.get(token, 1.0) if weighted else 1.0 for token in texts}
    words = {token: _word(token, weights[token], spellings, statistics) for token in texts}
    groups = _joined(texts, [translation.source for translation in distinct])
    group_of = {token: tokens for tokens in groups for token in tokens}
    standing: dict[tuple[str, ...], list[Translation]] = {tokens: [] for tokens in groups}
    for translation in distinct:
        if tokens := next((group_of[token] for token in translation.source if token in group_of), ()):
            standing[tokens].append(translation)
    order = {token: place for place, token in enumerate(texts)}
    concepts = []
    for tokens in groups:
        counterparts = (
            _counterpart(translation, order, words, weights, statistics) for translation in standing[tokens]
        )
        concepts.append(
            Concept(
                " ".join(texts[token] for token in tokens),
                tuple(words[token] for token in tokens),
                tuple(counterpart for counterpart in counterparts if counterpart.importance),
            )
        )
    return tuple(concepts)


def _word(
    token: str, weight: float, spellings: Mapping[str, tuple[str, ...]], statistics: TermStatistics
) -> Word:
    if token in spellings:
        spelled = dict.fromkeys(spellings[token], weight * VARIANT_WEIGHT)
    else:
        spelled = {token: weight}
    return Word(spelled, max(share * statistics.idf(near) for near, share in spelled.items()))


def _counterpart(
    translation: Translation,
    order: Mapping[str, int],
    words: Mapping[str, Word],
    weights: Mapping[str, float],
    statistics: TermStatistics,
) -> Counterpart:
    tokens = tuple(dict.fromkeys(token for word in translation.words for token in word.tokens))
    source = sorted(order.keys() & translation.source, key=order.__getitem__)
    share = SYNONYM_WEIGHT if translation.origin == SYNONYM else 1.0
    weight = share * sum(weights[token] for token in source)
    rarity = [statistics.idf(token) for token in tokens]
    if (all if translation.origin in WHOLE else any)(rarity):
        importance = sum(words[token].importance for token in source) or weight * max(rarity)
    else:
        importance = 0.0  # no passage can hold it
    return Counterpart(tokens, weight, importance, translation.origin, translation.others)


def _joined(tokens: Iterable[str], sources: Sequence[frozenset[str]]) -> list[tuple[str, ...]]:
    """Group tokens that stand in a source together, in the order of the question (union-find)."""
    parents = {token: token for token in tokens}

    def first_of(token: str) -> str:
        while parents[token] != token:
            parents[token] = token = parents[parents[token]]
        return token

    for source in sources:
        roots = [first_of(token) for token in source if token in parents]
        parents |= dict.fromkeys(roots, roots[0]) if roots else {}
    groups: dict[str, list[str]] = {}
    for token in parents:
        groups.setdefault(first_of(token), []).append(token)
    return [tuple(group) for group in groups.values()]
