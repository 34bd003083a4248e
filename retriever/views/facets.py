"""Counts of the papers that a search matches, by year, language, journal, author and type.

The counts cover the papers that the main query of a search matches under its filters. For method `boolean`
this is the expression itself, so the counts describe the whole result. For a question it is the OR of all its
words, which matches far more papers than are shown. A field ignores its own filter, so that other values can
be chosen too. Counting is a separate call. If a search requests facets, the server counts after the hits are
found, and sends the hits even if counting fails or takes too long.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, get_args
from weakref import WeakKeyDictionary

from pydantic import Field, PlainSerializer
from typing_extensions import TypedDict

from base.records import Recordable
from retriever.engines.facets import FacetCounts, FacetField, Value
from retriever.index import OpenIndex, SearchIndex
from retriever.queries.boolean import EVERYTHING, Query
from retriever.queries.filters import Filters
from retriever.request import SearchRequest
from retriever.search import in_years, open_search, run_stages
from retriever.settings import RetrieverSettings

FIELDS: tuple[FacetField, ...] = get_args(FacetField)
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


async def facets(index: OpenIndex, request: SearchRequest | None, settings: RetrieverSettings) -> Facets:
    """Count the papers of a search, or all papers of the index, by their fields.

    The whole index is counted once per version. At most 20 values of a field are returned, but all years.
    Counts are exact if each paper of the index has one passage, and for up to 2,000 matching passages.
    Otherwise they are estimates, most within 3 %.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """

    async def of_version(version: SearchIndex) -> Facets:
        if request is not None:
            return await _of_search(version, request, settings)
        if version not in _OF_INDEX:
            _OF_INDEX[version] = await _facets(version, EVERYTHING, Filters())
        return _OF_INDEX[version]

    return await index.ask(of_version)


async def _of_search(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> Facets:
    context = open_search(index, request, settings)
    stages = await run_stages(context, upto="plan")
    query = stages.main_query(title_weight=settings.title_weight)
    if query is None or stages.plan is None or not stages.plan.names:
        nothing = {field: Facet((), 0) for field in FIELDS}
        return Facets(0, nothing, exact=True, version=index.manifest.version)
    return await _facets(index, query, in_years(context, stages).request.filters)


async def _facets(index: SearchIndex, query: Query, filters: Filters) -> Facets:
    """Count each field under all filters except its own; fields with the same filters share a call."""
    by_filters: dict[Filters, list[FacetField]] = {filters: []}
    for field in FIELDS:
        others = filters.without_filter("author" if field == "authors" else field)
        by_filters.setdefault(others, []).append(field)
    several = index.manifest.papers != index.manifest.passages
    counts = await asyncio.gather(
        *(
            index.engine.facets(query, filters=others, fields=of, several=several)
            for others, of in by_filters.items()
        )
    )
    found = {field: _facet(field, count) for count in counts for field in count.values}
    return Facets(
        counts[0].papers,
        {field: found[field] for field in FIELDS},
        exact=all(count.exact for count in counts),
        version=index.manifest.version,
    )


def _facet(field: FacetField, counts: FacetCounts) -> Facet:
    values = [FacetValue(value, papers) for value, papers in counts.values[field].items()]
    having = [each for each in values if each.value is not None]
    if field == "year":
        having.sort(key=lambda each: -int(each.value or 0))
    else:
        having.sort(key=lambda each: (-each.papers, str(each.value)))
    shown = having if field == "year" else having[:MOST_VALUES]
    without = [each for each in values if each.value is None]
    return Facet((*shown, *without), len(having) - len(shown))
