"""Counts of the papers that a search matches, by year, language, journal, author and type.

The counts cover the papers that the main query of a search matches under its filters. For method `boolean`
this is the expression itself, so the counts describe the whole result. For a question it is the OR of all its
words, which matches far more papers than are shown. A field ignores its own filter, so that other values can
be chosen too. Counting is a separate call. If a search requests facets, the server counts after the hits are
found, and sends the hits even if counting fails or takes too long.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Literal, get_args
from weakref import WeakKeyDictionary

from pydantic import Field, PlainSerializer
from typing_extensions import TypedDict

from base.records import Recordable
from indexer.files.keys import KEYS
from retriever.index import SearchIndex
from retriever.known_items import known_items
from retriever.queries.boolean import EVERYTHING, Or, Query
from retriever.queries.filters import Filters
from retriever.request import SearchRequest
from retriever.search import open_search, run_stages, with_conditions
from retriever.settings import RetrieverSettings
from retriever.stages.paper_sets import query_for_papers

FacetField = Literal["year", "lang", "journal", "authors", "type"]
Value = str | int
Counts = dict[FacetField, Mapping[Value | None, int]]  # None counts papers without a value
FIELDS: tuple[FacetField, ...] = get_args(FacetField)

# The value of papers without one.
MISSING: dict[FacetField, Value] = {"year": 0, "lang": "", "journal": "", "authors": "", "type": ""}
SEVERAL_VALUES: frozenset[FacetField] = frozenset({"authors"})  # fields of which a paper has several values
EXACT_UP_TO = 2_000  # passages whose papers are counted exactly, which takes 40 µs each
MOST_COUNTED, MOST_ESTIMATED = 10_000, 1_000  # counted values of a field
MOST_VALUES = 20  # journals, authors and types shown


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value and its number of papers; null for papers without a value."""

    value: Value | None
    papers: int


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of a field: years latest first, others most frequent first, papers without a value last."""

    values: tuple[FacetValue, ...]
    others: Annotated[int, Field(description="number of further values")]


class FacetsOfFields(TypedDict):
    """The counted fields."""

    year: Facet
    lang: Facet
    journal: Facet
    authors: Facet
    type: Facet


@dataclass(frozen=True, slots=True)
class Facets(Recordable):
    """Numbers of matching papers, by field."""

    papers: int
    facets: Annotated[Mapping[FacetField, Facet], PlainSerializer(dict, return_type=FacetsOfFields)]
    exact: Annotated[bool, Field(description="false if counts are estimates")]
    version: int


_OF_INDEX: WeakKeyDictionary[SearchIndex, Facets] = WeakKeyDictionary()


def facets(index: SearchIndex, request: SearchRequest | None, settings: RetrieverSettings) -> Facets:
    """Count the papers of a search, or all papers of the index, by their fields.

    The whole index is counted once per version. At most 20 values of a field are returned, but all years.
    Counts are exact if each paper of the index has one passage, and for up to 2,000 matching passages.
    Otherwise they are estimates, most within 3 %.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """
    if request is None:
        if index not in _OF_INDEX:
            _OF_INDEX[index] = _facets(index, EVERYTHING, Filters())
        return _OF_INDEX[index]
    context = open_search(index, request, settings)
    stages = run_stages(context, upto="plan")
    query = stages.main_query(title_weight=settings.title_weight)
    if query is not None and not (stages.plan and stages.plan.names):
        query = None
    if known := known_items(context):
        query = known.key if query is None or known.kind == "doi" else Or((query, known.key))
    if query is None:
        nothing = {field: Facet((), 0) for field in FIELDS}
        return Facets(0, nothing, exact=True, version=index.manifest.version)
    return _facets(index, query_for_papers(index, query), with_conditions(context, stages).request.filters)


def _facets(index: SearchIndex, query: Query, filters: Filters) -> Facets:
    """Count each field under all filters except its own; fields with the same filters share a call."""
    by_filters: dict[Filters, list[FacetField]] = {filters: []}
    for field in FIELDS:
        others = filters.without_filter("author" if field == "authors" else field)
        by_filters.setdefault(others, []).append(field)
    counts = [_count(index, query, others, of) for others, of in by_filters.items()]
    found = {field: _facet(field, of) for _, values, _ in counts for field, of in values.items()}
    return Facets(
        counts[0][0],
        {field: found[field] for field in FIELDS},
        exact=all(exact for _, _, exact in counts),
        version=index.manifest.version,
    )


def _facet(field: FacetField, counts: Mapping[Value | None, int]) -> Facet:
    """Return the values of a field; spellings of one author or journal are one value, the most frequent."""
    spellings: dict[Value | None, list[FacetValue]] = {}
    for value, papers in counts.items():
        key = KEYS[field](value) if field in KEYS and isinstance(value, str) else value
        spellings.setdefault(key, []).append(FacetValue(value, papers))
    values = [
        replace(max(each, key=attrgetter("papers")), papers=sum(one.papers for one in each))
        for each in spellings.values()
    ]
    having = [each for each in values if each.value is not None]
    if field == "year":
        having.sort(key=lambda each: -int(each.value or 0))
    else:
        having.sort(key=lambda each: (-each.papers, str(each.value)))
    shown = having if field == "year" else having[:MOST_VALUES]
    without = [each for each in values if each.value is None]
    return Facet((*shown, *without), len(having) - len(shown))


def _count(
    index: SearchIndex, query: Query, filters: Filters, fields: Sequence[FacetField]
) -> tuple[int, Counts, bool]:
    """Count the papers of the passages that a query matches; False if the counts are estimates.

    If each paper has one passage, passages are counted. Otherwise the papers of up to 2,000 passages are
    counted exactly, and more are estimated (HyperLogLog++; most counts within 3 %).
    """
    aggregate = partial(index.engine.aggregate, query, filters)
    [passages] = index.engine.counts([(query, filters)])
    if index.manifest.papers == index.manifest.passages:
        answer = aggregate(_by_value(fields, {}, MOST_COUNTED))
        whole = not any(answer[field]["sum_other_doc_count"] for field in fields)
        return passages, _values(answer, fields), whole
    estimates = {"papers": {"cardinality": {"field": "doc_id"}}}
    if passages > EXACT_UP_TO:
        answer = aggregate(estimates | _by_value(fields, estimates, MOST_ESTIMATED))
        return round(answer["papers"]["value"]), _values(answer, fields), False
    several = [field for field in fields if field in SEVERAL_VALUES]
    single = [field for field in fields if field not in SEVERAL_VALUES]
    sources = [{name: {"terms": {"field": name, "missing_bucket": True}}} for name in ("doc_id", *single)]
    by_paper = {"papers": {"composite": {"size": EXACT_UP_TO, "sources": sources}}}
    answer = aggregate(by_paper | _by_value(several, estimates, MOST_ESTIMATED))
    keys = [bucket["key"] for bucket in answer["papers"]["buckets"]]
    values = _values(answer, several)
    for field in single:
        values[field] = Counter(value for _, value in {(key["doc_id"], key[field]) for key in keys})
    return len({key["doc_id"] for key in keys}), values, True


def _by_value(fields: Iterable[FacetField], papers: Mapping[str, Any], size: int) -> dict[str, Any]:
    """Return the aggregation of each field's values, with one of their papers."""
    return {
        field: {
            "terms": {"field": field, "size": size, "missing": MISSING[field]},
            **({"aggs": papers} if papers else {}),
        }
        for field in fields
    }


def _values(answer: Mapping[str, Any], fields: Iterable[FacetField]) -> Counts:
    """Return the number of papers of each value: the estimate of its bucket, or the number of passages."""

    def papers(bucket: Mapping[str, Any]) -> int:
        return round(bucket["papers"]["value"]) if "papers" in bucket else int(bucket["doc_count"])

    return {
        field: {
            None if bucket["key"] == MISSING[field] else bucket["key"]: papers(bucket)
            for bucket in answer[field]["buckets"]
        }
        for field in fields
    }
