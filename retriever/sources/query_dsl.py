"""Requests to a foreign Elasticsearch or OpenSearch index and its answers, as values.

Words are sent in their written form, because the index has its own analyzers. All features used here are the
same in Elasticsearch 7 to 9 and OpenSearch 1 to 3 (query DSL: `bool`, `multi_match`, `range`, `terms`,
`ids`). A field of a record may be missing, null, a list, a number, or very long.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from base.letters import HANGUL
from indexer.corpora.papers import language_named
from indexer.corpora.readers.bibliography import parts_of
from indexer.corpora.readers.scienceon import BETWEEN_AUTHORS
from retriever.queries.boolean import And, Exact, Not, Or, Phrase, Query, Range, Term
from retriever.queries.filters import Filters
from retriever.sources import SourcePaper
from retriever.sources.json_values import items, table
from retriever.sources.web.records import SURROGATE, paper_of

if TYPE_CHECKING:
    from retriever.sources.kinds.elasticsearch import Settings

Body = dict[str, Any]
NOTHING: Body = {"match_none": {}}
EVERYTHING: Body = {"match_all": {}}
MOST_EXPANSIONS = 100  # words of the index with a prefix of the query
IDENTIFIER = re.compile(r"\A[^\s\x00-\x1f\x7f-\x9f]{1,512}\Z")
# Longer values are cut; an abstract has 300 words.
LONGEST_TITLE, LONGEST_TEXT, LONGEST_BODY = 2_000, 20_000, 100_000
MOST_VALUES = 10_000  # of a list; also hits of a search, the default of `index.max_result_window`
DEEPEST = 8  # nesting of lists in a value
CODE_CHARACTERS = 3  # of a language, at most
MOST_PAPERS = 10**12  # maximum of a count, from which weights of words are computed


def search_body(settings: "Settings", query: Query, k: int, filters: Filters) -> Body:
    """Make the body of a search for k papers; only the fields that are read are requested."""
    asked = written(settings, query)
    narrowed = [written(settings, clause) for clause in applicable(settings, filters).clauses()]
    whole = {"bool": {"must": [asked], "filter": narrowed}} if narrowed else asked
    return _body(whole, k, settings.fields.read)


def records_body(settings: "Settings", ids: Sequence[str]) -> Body:
    """Make the body of a search for records by their ids."""
    return _body(_with_values(settings.fields.id, ids), len(ids), settings.fields.read)


def texts_body(settings: "Settings", own_ids: Sequence[str]) -> Body:
    """Make the body of a search for full texts, by the server's own ids."""
    return _body(_with_values("_id", own_ids), len(own_ids), list(settings.fields.body))


def count_body(query: Body) -> Body:
    """Make the body of a search that only counts the papers that match."""
    return {"query": query, "size": 0, "track_total_hits": True, "_source": False}


def _body(query: Body, size: int, fields: list[str]) -> Body:
    return {"query": query, "size": size, "_source": fields, "track_total_hits": False}


def applicable(settings: "Settings", filters: Filters) -> Filters:
    """Return the filters for which the index has fields; the others are applied to its hits."""
    fields = settings.fields
    return Filters(
        years=filters.years if fields.year else None,
        lang=filters.lang if fields.lang else None,
        journal=filters.journal if fields.journal else None,
    )


def written(settings: "Settings", query: Query) -> Body:
    """Convert a query to the query DSL; clauses without a field in the index match nothing."""
    match query:
        case Term(text=text):
            if settings.hangul == "prefixes" and HANGUL.search(text):
                return _match(settings, query, "phrase_prefix", {"max_expansions": MOST_EXPANSIONS})
            return _match(settings, query, "best_fields", {})
        case Phrase(slop=slop):
            return _match(settings, query, "phrase", {"slop": slop} if slop else {})
        case Range(low=low, high=high):
            return _years(settings, low, high)
        case Exact(field=field, values=values):
            return _exact(settings, field, values)
        case Or(clauses=clauses):
            return _any([written(settings, clause) for clause in clauses])
        case And(clauses=clauses):
            found: dict[str, list[Body]] = {}
            for clause in clauses:
                kind = {Range: "filter", Exact: "filter", Not: "must_not"}.get(type(clause), "must")
                inner = clause.clause if isinstance(clause, Not) else clause
                found.setdefault(kind, []).append(written(settings, inner))
            return {"bool": found} if found else NOTHING
        case Not(clause=clause):
            return {"bool": {"must_not": [written(settings, clause)]}}


def _any(bodies: list[Body]) -> Body:
    return {"bool": {"should": bodies, "minimum_should_match": 1}} if bodies else NOTHING


def _match(settings: "Settings", word: Term | Phrase, kind: str, more: Body) -> Body:
    fields = settings.fields.title if word.field == "title" else settings.fields.searched
    asked = {
        "query": word.text,
        "fields": [name if each == 1 else f"{name}^{each:g}" for name, each in fields.items()],
        "type": kind,
        "lenient": True,  # a numeric field matches no word, without an error
    }
    boost = {} if word.weight == 1 else {"boost": round(word.weight, 6)}
    return {"multi_match": asked | boost | more}


def _years(settings: "Settings", low: int | None, high: int | None) -> Body:
    field, kind = settings.fields.year, settings.year_type
    if not field:
        return NOTHING
    if kind == "number":
        bounds: Body = {"gte": low, "lte": high}
    else:  # a date, or a text that begins with the year: up to the next year
        day = "-01-01" if kind == "date" else ""
        bounds = {
            "gte": None if low is None else f"{low:04}{day}",
            "lt": None if high is None else f"{high + 1:04}{day}",
            "format": "yyyy-MM-dd" if day else None,
        }
    return {"range": {field: {name: value for name, value in bounds.items() if value is not None}}}


def _exact(settings: "Settings", field: str, values: Sequence[str]) -> Body:
    fields = settings.fields
    if field == "journal" and fields.journal:  # for analysed and unanalysed fields
        return _any([{"match_phrase": {fields.journal: value}} for value in values])
    if field == "lang":
        values = [dict[str, str](settings.languages.items()).get(value, value) for value in values]
    ids = {"doc_id": fields.id, "passage_id": fields.id, "references": fields.references}
    name = (ids | {"lang": fields.lang}).get(field)
    return _with_values(name, values) if name else NOTHING


def _with_values(field: str, values: Sequence[str]) -> Body:
    return {"ids": {"values": list(values)}} if field == "_id" else {"terms": {field: list(values)}}


def hits_in(answer: Mapping[str, Any]) -> list[Any] | None:
    """Return the hits of one answer, at most `MOST_VALUES`; None for a failed search."""
    hits = table(answer.get("hits")).get("hits")
    return hits[:MOST_VALUES] if isinstance(hits, list) and not answer.get("error") else None


def total_in(answer: Mapping[str, Any]) -> int | None:
    """Return the number of matches: an object since version 7, earlier a number; None for other values."""
    total = table(answer.get("hits")).get("total")
    value = total.get("value") if isinstance(total, dict) else total
    return min(value, MOST_PAPERS) if type(value) is int and value >= 0 else None


def paper_in(settings: "Settings", name: str, hit: Any) -> SourcePaper | None:
    """Return a hit as a paper of the source; None if it is not a hit, or has no usable id."""
    fields, source = settings.fields, table(table(hit).get("_source"))
    values = {role: list(_texts(value_at(source, name))) for name, role in fields.roles.items()}
    several = {
        role: [text for field in getattr(fields, role) for text in _texts(value_at(source, field))]
        for role in ("title", "abstract", "keywords")
    }
    record = {role: next(iter(found), "") for role, found in values.items()} | {
        "id": table(hit).get("_id") if fields.id == "_id" else next(iter(values["id"]), ""),
        "title": _joined(several["title"], LONGEST_TITLE),
        "abstract": _joined(several["abstract"], LONGEST_TEXT),
        "keywords": several["keywords"],
        "authors": list(_authors(value_at(source, fields.authors))),
        "references": values.get("references", []),
        "lang": _language(settings, next(iter(values.get("lang", [])), "")),
    }
    return paper_of(name, IDENTIFIER, record, score=table(hit).get("_score"), bare=True)


def full_text_of(settings: "Settings", hit: Any) -> str:
    """Return the full text of a hit, or ""."""
    source = table(table(hit).get("_source"))
    found = (text for field in settings.fields.body for text in _texts(value_at(source, field)))
    return _joined(found, LONGEST_BODY)


def _joined(texts: Iterable[str], most: int) -> str:
    return "\n".join(dict.fromkeys(texts))[:most]


def value_at(source: Mapping[str, Any], field: str) -> Any:
    """Return the value of a field, which may be in nested objects or in lists of them."""
    if field in source:
        return source[field]
    first, _, rest = field.partition(".")
    inner = source.get(first) if rest else None
    if isinstance(inner, list):
        return [value_at(table(each), rest) for each in inner[:MOST_VALUES]]
    return value_at(table(inner), rest) if rest else None


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts of a value, or of each item of a list; numbers as text."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        if text := SURROGATE.sub("\ufffd", str(value)).strip():
            yield text
    elif depth < DEEPEST:
        for each in items(value)[:MOST_VALUES]:
            yield from _texts(each, depth + 1)


def _language(settings: "Settings", said: str) -> str:
    called = {name.casefold(): language for language, name in settings.languages.items()}
    named = called.get(said.casefold()) or language_named(said)
    return named or (said if len(said) <= CODE_CHARACTERS else "")


def _authors(value: Any) -> Iterator[str]:
    listed = [each.get("name") if isinstance(each, dict) else each for each in items(value)]
    for text in _texts(listed or value):
        yield from parts_of([text[:LONGEST_TEXT]], BETWEEN_AUTHORS)
