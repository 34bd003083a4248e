"""A question as concepts: its words and terms, each with its counterparts.

A passage scores for a concept once, by the concept's own words or by its best counterpart, whichever scores
more, so a passage in the other language that names a thing in one word is not penalised.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from base.records import Recordable
from indexer.analysis.word_roles import Role
from retriever.engines.term_statistics import TermStatistics
from retriever.opening.synonyms import SYNONYM, SYNONYM_WEIGHT
from retriever.queries.boolean import Pattern, single
from retriever.queries.keywords import Translation
from retriever.question.analysis import AnalysedQuestion
from retriever.question.spelling import VARIANT_WEIGHT


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question: its spellings with their weights, and its weight times idf.

    A word that the index does not contain has the idf of document frequency 0.
    """

    spellings: Mapping[Pattern, float]
    importance: float
    is_known: bool = True  # whether the index holds a spelling


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A translation, synonym or other form of words of a concept.

    A passage contains it if the tokens of `pattern` are adjacent. It scores once, times `weight`, and at most
    as much as the words of the question could. For words that the index does not contain, it counts as its
    own words: 열폭주 as two, thermal and runaway.
    """

    pattern: Pattern
    weight: float
    importance: float
    origin: str = ""
    text: str = ""  # words, not tokens


class CounterpartRecord(TypedDict):
    """A substitute for a word: its translation, or another form in the same language."""

    text: str
    origin: Annotated[str, Field(description="corpus, general, user, synonym, abbreviation or sound")]


class ConceptRecord(TypedDict):
    """A concept of the question, and its other names."""

    text: str
    weight: float
    counterparts: list[CounterpartRecord]


@dataclass(frozen=True)  # without slots, for cached properties
class Concept(Recordable):
    """One word of a question, or several that share a counterpart, with their counterparts."""

    text: str
    words: tuple[Word, ...]
    counterparts: tuple[Counterpart, ...] = ()

    @cached_property
    def importance(self) -> float:
        """The weight times idf of the words; of the best counterpart if the index holds no word."""
        if self.counterparts and not any(word.is_known for word in self.words):
            return max(counterpart.importance for counterpart in self.counterparts)
        return sum(word.importance for word in self.words)

    @cached_property
    def is_known(self) -> bool:
        """Whether the index contains a word or a counterpart."""
        return bool(self.counterparts) or any(word.is_known for word in self.words)

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """All patterns by which a passage scores for the concept, its own words first."""
        own = [pattern for word in self.words for pattern in word.spellings]
        return tuple(dict.fromkeys([*own, *(other.pattern for other in self.counterparts)]))

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All tokens of the patterns."""
        return tuple(dict.fromkeys(token for pattern in self.patterns for _, token in pattern))

    def record_fields(self) -> ConceptRecord:
        """Return the fields of the JSON."""
        return {
            "text": self.text,
            "weight": round(self.importance, 4),
            "counterparts": [{"text": other.text, "origin": other.origin} for other in self.counterparts],
        }


def make_concepts(
    question: AnalysedQuestion,
    found: Iterable[Translation],
    spellings: Mapping[str, tuple[str, ...]],
    statistics: TermStatistics,
    *,
    weighted: bool = True,
) -> tuple[Concept, ...]:
    """Join the words of a question that share a counterpart; every other word is its own concept.

    Args:
        question: its words and their weights.
        found: translations, synonyms and other forms of some tokens of the question.
        spellings: near spellings of tokens that the index does not hold.
        statistics: of all tokens.
        weighted: whether words have the weights of the question; otherwise all weigh 1.
    """
    texts = {token: term.text for term in question.terms for token in term.tokens}
    distinct = list(dict.fromkeys(found))
    weights = {token: question.weights.get(token, 1.0) if weighted else 1.0 for token in texts}
    words = {token: _word(question, token, weights[token], spellings, statistics) for token in texts}
    together = [frozenset(token for _, token in pattern) for pattern in question.patterns.values()]
    groups = _joined(texts, [*(translation.source for translation in distinct), *together])
    group_of = {token: tokens for tokens in groups for token in tokens}
    of_group: dict[tuple[str, ...], list[Translation]] = {tokens: [] for tokens in groups}
    for translation in distinct:
        if tokens := next((group_of[token] for token in translation.source if token in group_of), ()):
            of_group[tokens].append(translation)
    concepts = []
    for tokens in groups:
        counterparts = (
            _counterpart(translation, words, weights, statistics) for translation in of_group[tokens]
        )
        concepts.append(
            Concept(
                " ".join(texts[token] for token in tokens),
                _distinct(words[token] for token in tokens),
                tuple(counterpart for counterpart in counterparts if counterpart),
            )
        )
    return tuple(concepts)


def with_roles(
    concepts: Sequence[Concept], roles: Mapping[str, Role], wanted: Collection[Role]
) -> Sequence[Concept]:
    """Return the concepts that have a word of a wanted role; all concepts if none has one.

    Args:
        concepts: of a question.
        roles: of its tokens. A near spelling has none, and is kept.
        wanted: the roles.
    """
    others = {token for token, role in roles.items() if role not in wanted}
    own = (pattern for concept in concepts for word in concept.words for pattern in word.spellings)
    kept = {pattern for pattern in own if any(token not in others for _, token in pattern)}
    return [
        concept for concept in concepts if any(not kept.isdisjoint(word.spellings) for word in concept.words)
    ] or concepts


def _word(
    question: AnalysedQuestion,
    token: str,
    weight: float,
    spellings: Mapping[str, tuple[str, ...]],
    statistics: TermStatistics,
) -> Word:
    if token in spellings:
        spelled = {single(near): weight * VARIANT_WEIGHT for near in spellings[token]}
    else:
        pattern = question.patterns.get(token, single(token))
        # A pattern scores by the idf of its rarest token; the word keeps its own.
        spelled = {pattern: weight * statistics.idf(token) / (statistics.pattern_idf(pattern) or 1.0)}
    importance = max(share * statistics.pattern_idf(pattern) for pattern, share in spelled.items())
    return Word(spelled, importance, any(map(statistics.holds, spelled)))


def _distinct(words: Iterable[Word]) -> tuple[Word, ...]:
    """Return the most important word for each set of patterns: one for co and 2 of CO2."""
    found: dict[tuple[Pattern, ...], Word] = {}
    for word in words:
        key = tuple(word.spellings)
        if key not in found or word.importance > found[key].importance:
            found[key] = word
    return tuple(found.values())


def _counterpart(
    translation: Translation,
    words: Mapping[str, Word],
    weights: Mapping[str, float],
    statistics: TermStatistics,
) -> Counterpart | None:
    """Return the counterpart; None if no passage can contain it."""
    if not statistics.holds(translation.pattern):
        return None
    source = sorted(weights.keys() & translation.source)
    share = SYNONYM_WEIGHT if translation.origin == SYNONYM else 1.0
    weight = share * sum(weights[token] for token in source)
    if any(words[token].is_known for token in source):
        importance = sum(words[token].importance for token in source)
    else:
        weight *= max(1.0, len(translation.pattern) / len(source))
        importance = weight * statistics.pattern_idf(translation.pattern)
    return Counterpart(translation.pattern, weight, importance, translation.origin, translation.others)


def _joined(tokens: Iterable[str], sources: Sequence[frozenset[str]]) -> list[tuple[str, ...]]:
    """Group the tokens of each source, in the order of the question (union-find)."""
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
