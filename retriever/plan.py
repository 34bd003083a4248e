"""The queries of a question: a list of named queries that can be shown, edited and sent."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from retriever.keyword_choice import KeywordChoice
from retriever.keywords import Keyword
from retriever.order.concepts import Concept
from retriever.queries import Or, Phrase, Query, Term, or_query
from retriever.query_names import NEAREST, progressive_name
from retriever.question import AnalysedQuestion
from retriever.synonyms import SYNONYM


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query with its name, and how many hits it is asked for."""

    name: str
    query: Query
    k: int


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What an engine is asked for one question, in one call; `nearest` passages by vector, if any.

    The stored passages that the first `read` queries find are needed in any case; an engine may send them
    along with the hits.
    """

    queries: tuple[NamedQuery, ...] = ()
    nearest: int = 0
    read: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all that is asked for."""
        return (*(named.name for named in self.queries), *([NEAREST] if self.nearest else []))

    def query(self, name: str) -> Query | None:
        """Return the query of a name, None where there is none."""
        return next((named.query for named in self.queries if named.name == name), None)

    def without(self, *names: str) -> "QueryPlan":
        """Return the plan without the queries of these names."""
        kept = tuple(named for named in self.queries if named.name not in names)
        read = sum(named.name not in names for named in self.queries[: self.read])
        return QueryPlan(kept, 0 if NEAREST in names else self.nearest, read)


def question_query(question: AnalysedQuestion, *, title_weight: float, count_repeats: bool = False) -> Or:
    """Join the question's distinct tokens; with `count_repeats` one that stands twice weighs twice."""
    terms: Sequence[Term] = question.terms
    if count_repeats:
        counts = Counter(token[0] for token in question.tokens)
        terms = [replace(term, weight=float(counts[term.tokens[0]])) for term in terms]
    return or_query([*terms, *_synonym_clauses(question)], title_weight=title_weight)


def concept_query(question: AnalysedQuestion, concepts: Sequence[Concept], *, title_weight: float) -> Or:
    """Join the words of all concepts, their spellings and their counterparts, in one weighted OR."""
    texts = {token: term.text for term in question.terms for token in term.tokens}
    weights: dict[str, float] = {}
    for concept in concepts:
        found = [item for word in concept.words for item in word.spellings.items()]
        found += [
            (token, other.weight)
            for other in concept.counterparts
            if other.origin != SYNONYM
            for token in other.tokens
        ]
        for token, weight in found:
            weights[token] = max(weight, weights.get(token, 0.0))
    terms = [
        Term(texts.get(token, token), (token,), weight=round(weight, 4)) for token, weight in weights.items()
    ]
    return or_query([*terms, *_synonym_clauses(question)], title_weight=title_weight)


def progressive_queries(
    question: AnalysedQuestion, chosen: KeywordChoice, *, hits_per_query: int
) -> tuple[NamedQuery, ...]:
    """Make SQn = k1 OR … OR kn for n from all keywords down to 1 (SHRAG, section 3.2).

    The keywords come most important first, so each query drops the least important of the one before.
    """
    return tuple(
        NamedQuery(progressive_name(n), keyword_query(question, chosen.keywords[:n]), hits_per_query)
        for n in range(len(chosen.keywords), 0, -1)
    )


def keyword_query(question: AnalysedQuestion, keywords: Iterable[Keyword]) -> Or:
    """Join keywords, and the synonyms that stand for them."""
    clauses: dict[Term | Phrase, None] = {}
    for keyword in keywords:
        clauses |= dict.fromkeys((keyword.term(), *_synonym_clauses(question, keyword.tokens)))
    return or_query(list(clauses))


def _synonym_clauses(question: AnalysedQuestion, tokens: Iterable[str] | None = None) -> list[Term | Phrase]:
    """Make the clauses of the synonyms, of all the question's or those that stand for some of `tokens`."""
    asked = None if tokens is None else set(tokens)
    clauses = [
        equivalent.clause()
        for expansion in question.synonyms
        if asked is None or asked & set(expansion.source)
        for equivalent in expansion.equivalents
    ]
    return list(dict.fromkeys(clauses))
