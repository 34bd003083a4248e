"""The queries of a question: a list of named queries that can be shown, edited and sent."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from retriever.keyword_choice import KeywordChoice
from retriever.keywords import Keyword
from retriever.queries import Or, Phrase, Query, Term, or_query
from retriever.query_names import NEAREST, progressive_name
from retriever.question import AnalysedQuestion

VARIANT_WEIGHT = 0.8  # of a near spelling beside the word itself


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


def respelled_query(question: AnalysedQuestion, chosen: KeywordChoice, *, title_weight: float) -> Or:
    """Join the question's tokens in one OR, near spellings in the place of unknown ones."""
    clauses: dict[str, Term] = {}
    for term in question.terms:
        (token,) = term.tokens
        for near in chosen.spellings.get(token, ()):
            clauses.setdefault(near, Term(near, (near,), weight=VARIANT_WEIGHT))
        if token not in chosen.spellings:
            clauses[token] = term
    return or_query([*clauses.values(), *_synonym_clauses(question)], title_weight=title_weight)


def translated_query(question: AnalysedQuestion, chosen: KeywordChoice, *, title_weight: float) -> Or | None:
    """Join the question's words in the other language: the glossary's, or the given keywords."""
    own = {token[0] for token in question.tokens}
    words = [word for translation in chosen.translations for word in translation.words]
    words += chosen.keywords if chosen.given else ()
    tokens = dict.fromkeys(token for word in words for token in word.tokens if token not in own)
    terms = [Term(token, (token,)) for token in tokens]
    return or_query(terms, title_weight=title_weight) if terms else None


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
