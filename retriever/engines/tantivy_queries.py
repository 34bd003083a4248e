"""Conversion of queries to tantivy queries, as pure functions."""

from functools import lru_cache

import tantivy
from tantivy import Occur

from indexer.files.keys import exact_terms
from indexer.files.schema import tantivy_schema
from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Query, Range, Term
from retriever.queries.filters import Filters

SCHEMA = tantivy_schema()
REMEMBERED_TOKENS = 10_000  # cached token queries; the queries of one question share most tokens


def filtered(query: tantivy.Query, filters: Filters) -> tantivy.Query:
    """Return a query with its filters, which add nothing to its score."""
    clauses = [compiled(clause) for clause in filters.clauses()]
    if filters.complete is not None:
        clauses.append(
            tantivy.Query.term_query(SCHEMA, "incomplete", not filters.complete, index_option="basic")
        )
    if not clauses:
        return query
    silent = [(Occur.Must, tantivy.Query.const_score_query(clause, 0.0)) for clause in clauses]
    return tantivy.Query.boolean_query([(Occur.Must, query), *silent])


def compiled(query: Query) -> tantivy.Query:
    """Convert a query to a tantivy query; filters score 0."""
    match query:
        case Term(tokens=tokens, field=field, weight=weight):
            return _any_token(field, tokens, weight)
        case Phrase(tokens=tokens, field=field, weight=weight, slop=slop):
            if len(tokens) < 2:  # noqa: PLR2004 - a phrase of one word is that word
                return _any_token(field, tuple(token for _, token in tokens), weight)
            phrase = tantivy.Query.phrase_query(SCHEMA, field, list(tokens), slop=slop)
            return _boosted(phrase, weight)
        case Range(low=low, high=high, field=field):
            years = tantivy.Query.range_query(SCHEMA, field, tantivy.FieldType.Unsigned, low, high)
            return tantivy.Query.const_score_query(years, 0.0)
        case Exact(field=field, values=values):
            terms = tantivy.Query.term_set_query(SCHEMA, *exact_terms(field, values))
            return tantivy.Query.const_score_query(terms, 0.0)
        case Or(clauses=clauses):
            return _boolean(clauses, Occur.Should)
        case And(clauses=clauses):
            return _boolean(clauses, Occur.Must)
        case Not():
            return _boolean((query,), Occur.Must)


def _any_token(field: str, tokens: tuple[str, ...], weight: float) -> tantivy.Query:
    """Return the OR of analysed tokens."""
    terms = [one_token(field, token, weight) for token in tokens]
    if len(terms) == 1:
        return terms[0]
    return tantivy.Query.boolean_query([(Occur.Should, term) for term in terms])


@lru_cache(REMEMBERED_TOKENS)
def one_token(field: str, token: str, weight: float) -> tantivy.Query:
    """Return the query for one analysed token."""
    return _boosted(tantivy.Query.term_query(SCHEMA, field, token, index_option="freq"), weight)


def _boolean(clauses: tuple[Query, ...], occur: Occur) -> tantivy.Query:
    parts: list[tuple[Occur, tantivy.Query]] = []
    weights: dict[tuple[str, str], float] = {}  # of words in one flat union, which is searched fastest
    for clause in clauses:
        if isinstance(clause, Not):
            parts.append((Occur.MustNot, compiled(clause.clause)))
        elif isinstance(clause, Term) and occur == Occur.Should:
            for token in clause.tokens:
                weights[clause.field, token] = weights.get((clause.field, token), 0.0) + clause.weight
        else:
            parts.append((occur, compiled(clause)))
    parts += [(occur, one_token(*key, weight)) for key, weight in weights.items()]
    if parts and all(kind == Occur.MustNot for kind, _ in parts):
        everything = tantivy.Query.const_score_query(tantivy.Query.all_query(), 0.0)
        parts.append((Occur.Must, everything))
    return tantivy.Query.boolean_query(parts)


def _boosted(query: tantivy.Query, weight: float) -> tantivy.Query:
    return query if weight == 1 else tantivy.Query.boost_query(query, weight)
