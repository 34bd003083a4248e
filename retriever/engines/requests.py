"""Requests to a cluster as values: each function returns a body, or a part of one.

The scores are the same as in the embedded engine: both have BM25's factor (k1 + 1), which Lucene left out in
version 8 and Elasticsearch kept.
"""

from collections.abc import Sequence
from typing import Any

from indexer.files.keys import exact_terms
from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Query, Range, Term
from retriever.queries.filters import Filters

# Candidates examined in a graph of vectors; a flat field examines all.
CANDIDATES_A_HIT, LEAST_CANDIDATES, MOST_CANDIDATES = 3, 100, 10_000
EVERYTHING: dict[str, Any] = {"match_all": {}}
NOTHING: dict[str, Any] = {"match_none": {}}
MAX_TERMS = 65_536  # of one condition
LONGEST_WORD = 127  # letters of two UTF-16 units: the cluster cuts words of a line at 255 units


def search_body(query: Query, filters: Filters, size: int, *, rows: bool = False) -> dict[str, Any]:
    """Return the body that finds `size` passages by score, then passage_id: ids, and optionally rows."""
    return {
        "query": filtered(query, filters),
        "size": size,
        "sort": [{"_score": "desc"}, {"passage_id": "asc"}],
        "track_total_hits": False,
        "docvalue_fields": ["doc_id"],
        **({"_source": ["row"]} if rows else {"_source": False, "stored_fields": "_none_"}),
    }


def filtered(query: Query, filters: Filters) -> dict[str, Any]:
    """Return a query with its filters, which add nothing to its score."""
    clauses = filter_clauses(filters)
    if not clauses:
        return compiled(query)
    return {"bool": {"must": [compiled(query)], "filter": clauses}}


def filter_clauses(filters: Filters) -> list[dict[str, Any]]:
    """Return the conditions on every hit."""
    clauses = [compiled(clause) for clause in filters.clauses()]
    if filters.complete is not None:
        clauses.append({"term": {"incomplete": not filters.complete}})
    return clauses


def compiled(query: Query) -> dict[str, Any]:
    """Return a query in the cluster's language; filters score 0."""
    match query:
        case Term(tokens=tokens, field=field, weight=weight):
            return _any_of([term_query(field, token, weight) for token in tokens])
        case Phrase(tokens=tokens, field=field, weight=weight) if len(tokens) < 2:  # noqa: PLR2004 - one word
            return _any_of([term_query(field, token, weight) for _, token in tokens])
        case Phrase():
            return phrase_query(query)
        case Range(low=low, high=high, field=field):
            bounds = {name: year for name, year in (("gte", low), ("lte", high)) if year is not None}
            return _silent({"range": {field: bounds}})
        case Exact(field=field, values=values):
            name, terms = exact_terms(field, values)
            windows = [terms[start : start + MAX_TERMS] for start in range(0, len(terms), MAX_TERMS)]
            return _silent(_any_of([{"terms": {name: some}} for some in windows or [[]]]))
        case Or(clauses=clauses):
            return _boolean(clauses, "should")
        case And(clauses=clauses):
            return _boolean(clauses, "must")
        case Not():
            return _boolean((query,), "must")


def term_query(field: str, token: str, weight: float) -> dict[str, Any]:
    """Return the query for one analysed token."""
    return {"term": {field: {"value": token, "boost": weight}}}


def phrase_query(phrase: Phrase) -> dict[str, Any]:
    """Return the query for tokens at their positions, without analysis in the cluster.

    Adjacent tokens are sent as one line, which the cluster only splits at its spaces. Phrases with gaps are
    sent as spans, which score the same, but count a repeated token once in the idf, and match phrases with
    slop only in order.
    """
    first, last = phrase.tokens[0][0], phrase.tokens[-1][0]
    at = {position - first: token for position, token in phrase.tokens}
    if len(at) == last - first + 1 and all(map(_is_plain, at.values())):
        line = {"query": " ".join(at.values()), "analyzer": "whitespace", "slop": phrase.slop}
        return {"match_phrase": {phrase.field: line | {"boost": phrase.weight}}}
    clauses: list[dict[str, Any]] = []
    for offset in range(last - first + 1):
        if offset in at:
            clauses.append({"span_term": {phrase.field: at[offset]}})
        elif "span_gap" in clauses[-1]:
            clauses[-1]["span_gap"][phrase.field] += 1
        else:
            clauses.append({"span_gap": {phrase.field: 1}})
    return {"span_near": {"clauses": clauses, "slop": phrase.slop, "in_order": True, "boost": phrase.weight}}


def _is_plain(token: str) -> bool:
    """Check whether the cluster also treats a token as one word of a line."""
    return len(token) <= LONGEST_WORD and not any(letter.isspace() for letter in token)


def _boolean(clauses: Sequence[Query], occur: str) -> dict[str, Any]:
    parts: dict[str, list[dict[str, Any]]] = {}
    for clause in clauses:
        if isinstance(clause, Not):
            parts.setdefault("must_not", []).append(compiled(clause.clause))
        elif isinstance(clause, Term) and occur == "should":  # one flat union is searched fastest
            for token in clause.tokens:
                parts.setdefault(occur, []).append(term_query(clause.field, token, clause.weight))
        else:
            parts.setdefault(occur, []).append(compiled(clause))
    if not parts:
        return NOTHING
    if set(parts) == {"must_not"}:
        return {"bool": parts | {"filter": [EVERYTHING]}}
    return {"bool": parts | ({"minimum_should_match": 1} if occur == "should" else {})}


def _any_of(queries: list[dict[str, Any]]) -> dict[str, Any]:
    if not queries:
        return NOTHING
    return queries[0] if len(queries) == 1 else {"bool": {"should": queries, "minimum_should_match": 1}}


def _silent(clause: dict[str, Any]) -> dict[str, Any]:
    return {"bool": {"filter": [clause]}}


def count_body(query: dict[str, Any]) -> dict[str, Any]:
    """Return the body that counts the matches of a query."""
    return {"query": query, "size": 0, "track_total_hits": True}


def doc_ids_body(query: Query, size: int, after: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the body that reads the papers of the matches of a query, after those already read."""
    papers: dict[str, Any] = {"size": size, "sources": [{"doc_id": {"terms": {"field": "doc_id"}}}]}
    papers |= {"after": after} if after else {}
    hits = {"query": compiled(query), "size": 0, "track_total_hits": False}
    return {**hits, "aggs": {"papers": {"composite": papers}}}


def rows_body(passage_ids: Sequence[str]) -> dict[str, Any]:
    """Return the body that reads the rows of passages by their ids."""
    by_id: list[dict[str, Any]] = [{"terms": {"passage_id": list(passage_ids)}}]
    reading = _reading(by_id, len(passage_ids))
    return reading | {"_source": ["row"], "docvalue_fields": ["passage_id"]}


def passages_body(passage_ids: Sequence[str]) -> dict[str, Any]:
    """Return the body that reads whole passages by their ids."""
    return _reading([{"terms": {"passage_id": list(passage_ids)}}], len(passage_ids))


def first_passages_body(doc_ids: Sequence[str]) -> dict[str, Any]:
    """Return the body that reads the first passage of each paper: the earliest if all have a record."""
    clauses: list[dict[str, Any]] = [{"terms": {"doc_id": list(doc_ids)}}, {"term": {"first": True}}]
    first = {"sort": [{"sequence": "asc"}], "collapse": {"field": "doc_id"}}
    return _reading(clauses, len(doc_ids)) | first


def _reading(clauses: list[dict[str, Any]], size: int) -> dict[str, Any]:
    return {"query": {"bool": {"filter": clauses}}, "size": size, "track_total_hits": False, "_source": True}


def nearest_body(vector: Sequence[float], filters: Filters, k: int) -> dict[str, Any]:
    """Return the body that finds the k passages whose vectors are nearest, by similarity, then passage_id."""
    candidates = min(MOST_CANDIDATES, max(LEAST_CANDIDATES, CANDIDATES_A_HIT * k))
    body = _knn(vector, k, candidates, filter_clauses(filters), "doc_id")
    return body | {"sort": [{"_score": "desc"}, {"passage_id": "asc"}]}


def vectors_body(passage_ids: Sequence[str]) -> dict[str, Any]:
    """Return the body that reads the vectors of passages, which are not in `_source`."""
    having: list[dict[str, Any]] = [
        {"terms": {"passage_id": list(passage_ids)}},
        {"exists": {"field": "vector"}},
    ]
    return _reading(having, len(passage_ids)) | {"_source": False, "fields": ["passage_id", "vector"]}


def similarity_body(vector: Sequence[float], passage_ids: Sequence[str], k: int) -> dict[str, Any]:
    """Return the body that compares a vector exactly with the vectors of given passages (a flat field)."""
    return _knn(vector, k, k, [{"terms": {"passage_id": list(passage_ids)}}], "passage_id")


def _knn(
    vector: Sequence[float], k: int, candidates: int, clauses: list[dict[str, Any]], shown: str
) -> dict[str, Any]:
    # Without the last condition, passages without a vector may match as the least similar.
    having = {"filter": [*clauses, {"exists": {"field": "vector"}}]}
    knn = {"field": "vector", "query_vector": list(vector), "k": k, "num_candidates": candidates}
    hidden = {"track_total_hits": False, "_source": False, "stored_fields": "_none_"}
    return {"knn": knn | having, "size": k, "docvalue_fields": [shown], **hidden}
