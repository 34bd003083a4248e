"""Requests to a foreign Elasticsearch or OpenSearch index, as values.

Words are sent in their written form, because the index has its own analyzers. All features used here are the
same in Elasticsearch 7 to 9 and OpenSearch 1 to 3 (query DSL: `bool`, `multi_match`, `range`, `terms`,
`ids`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from base.letters import HANGUL
from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Query, Range, Term
from retriever.queries.filters import Filters
from retriever.sources.foreign_index.settings import IndexFields, Settings

Body = dict[str, Any]
NOTHING: Body = {"match_none": {}}
EVERYTHING: Body = {"match_all": {}}
MOST_EXPANSIONS = 100  # words of the index with a prefix of the query
OWN_ID = "_id"


def search_body(settings: Settings, query: Query, k: int, filters: Filters) -> Body:
    """Make the body of a search for k papers; only the fields that are read are requested."""
    asked = written(settings, query)
    narrowed = [written(settings, clause) for clause in applicable(settings, filters).clauses()]
    return {
        "query": {"bool": {"must": [asked], "filter": narrowed}} if narrowed else asked,
        "size": k,
        "_source": sources_of(settings.fields),
        "track_total_hits": False,
    }


def count_body(settings: Settings, word: str | None) -> Body:
    """Make the body of a search that only counts the papers that contain a word, None for all papers."""
    return _counting(EVERYTHING if word is None else written(settings, Term(word, ())))


def holding_body(field: str) -> Body:
    """Make the body of a search that only counts the papers that have a field."""
    return _counting({"exists": {"field": field}})


def _counting(query: Body) -> Body:
    return {"query": query, "size": 0, "track_total_hits": True, "_source": False}


def records_body(settings: Settings, ids: Sequence[str]) -> Body:
    """Make the body of a search for records by their ids."""
    return {
        "query": _with_values(settings.fields.id, ids),
        "size": len(ids),
        "_source": sources_of(settings.fields),
        "track_total_hits": False,
    }


def citing_body(settings: Settings, paper_id: str, limit: int) -> Body:
    """Make the body of a search for the papers that refer to one."""
    return search_body(settings, Exact("references", (paper_id,)), limit, Filters())


def bodies_body(settings: Settings, own_ids: Sequence[str]) -> Body:
    """Make the body of a search for full texts, by the server's own ids."""
    return {
        "query": _with_values(OWN_ID, own_ids),
        "size": len(own_ids),
        "_source": list(settings.fields.body),
        "track_total_hits": False,
    }


def sources_of(fields: IndexFields) -> list[str]:
    """Return the names of the fields that are read, except full texts."""
    single = (fields.year, fields.lang, fields.authors, fields.journal, fields.doi, fields.url)
    named = [*fields.title, *fields.abstract, *fields.keywords, *single, fields.references, fields.id]
    return sorted({name for name in named if name and name != OWN_ID})


def applicable(settings: Settings, filters: Filters) -> Filters:
    """Return the filters for which the index has fields; the others are applied to its hits."""
    fields = settings.fields
    return Filters(
        years=filters.years if fields.year else None,
        lang=filters.lang if fields.lang else None,
        journal=filters.journal if fields.journal else None,
    )


def written(settings: Settings, query: Query) -> Body:
    """Convert a query to the query DSL; clauses without a field in the index match nothing."""
    match query:
        case Term(text=text, field=field, weight=weight):
            return _match(settings, text, field, weight, "best_fields")
        case Phrase(text=text, field=field, weight=weight, slop=slop):
            return _match(settings, text, field, weight, "phrase", {"slop": slop} if slop else {})
        case Range():
            return _years(settings, query)
        case Exact(field=field, values=values):
            return _exact(settings, field, values)
        case Or(clauses=clauses):
            should = [written(settings, clause) for clause in clauses]
            return {"bool": {"should": should, "minimum_should_match": 1}} if should else NOTHING
        case And(clauses=clauses):
            return {"bool": _conjunction(settings, clauses)} if clauses else NOTHING
        case Not(clause=clause):
            return {"bool": {"must_not": [written(settings, clause)]}}


def _conjunction(settings: Settings, clauses: Sequence[Query]) -> Body:
    found: dict[str, list[Body]] = {}
    for clause in clauses:
        kind = {Range: "filter", Exact: "filter", Not: "must_not"}.get(type(clause), "must")
        inner = clause.clause if isinstance(clause, Not) else clause
        found.setdefault(kind, []).append(written(settings, inner))
    return dict(found)


def _match(
    settings: Settings, text: str, field: str, weight: float, kind: str, more: Mapping[str, Any] | None = None
) -> Body:
    fields = settings.fields.title if field == "title" else settings.fields.searched
    if kind == "best_fields" and settings.hangul == "prefixes" and HANGUL.search(text):
        kind, more = "phrase_prefix", {"max_expansions": MOST_EXPANSIONS}
    return {
        "multi_match": {
            "query": text,
            "fields": [name if each == 1 else f"{name}^{each:g}" for name, each in fields.items()],
            "type": kind,
            "lenient": True,  # a numeric field matches no word, without an error
            **({} if weight == 1 else {"boost": round(weight, 6)}),
            **(more or {}),
        }
    }


def _years(settings: Settings, years: Range) -> Body:
    if not settings.fields.year:
        return NOTHING
    bounds: Body = {}
    if settings.year_type == "number":
        bounds |= {} if years.low is None else {"gte": years.low}
        bounds |= {} if years.high is None else {"lte": years.high}
    else:  # a date, or a text that begins with the year: up to the next year
        day = "-01-01" if settings.year_type == "date" else ""
        bounds |= {} if years.low is None else {"gte": f"{years.low:04}{day}"}
        bounds |= {} if years.high is None else {"lt": f"{years.high + 1:04}{day}"}
        bounds |= {"format": "yyyy-MM-dd"} if day else {}
    return {"range": {settings.fields.year: bounds}}


def _exact(settings: Settings, field: str, values: Sequence[str]) -> Body:
    fields = settings.fields
    names = {
        "doc_id": fields.id,
        "passage_id": fields.id,
        "references": fields.references,
        "lang": fields.lang,
    }
    if field == "journal" and fields.journal:  # for analysed and unanalysed fields
        return {
            "bool": {
                "should": [{"match_phrase": {fields.journal: value}} for value in values],
                "minimum_should_match": 1,
            }
        }
    if not names.get(field):
        return NOTHING
    if field == "lang":
        called: dict[str, str] = dict(settings.languages.items())
        values = [called.get(value, value) for value in values]
    return _with_values(names[field], values)


def _with_values(field: str, values: Sequence[str]) -> Body:
    return {"ids": {"values": list(values)}} if field == OWN_ID else {"terms": {field: list(values)}}
