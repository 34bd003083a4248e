"""Counts of papers by field, in the aggregation language that both engines share."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

FacetField = Literal["year", "lang", "journal", "authors", "type"]
Value = str | int
Aggregate = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]

# The value of papers without one.
MISSING: dict[FacetField, Value] = {"year": 0, "lang": "", "journal": "", "authors": "", "type": ""}
SEVERAL_VALUES: frozenset[FacetField] = frozenset({"authors"})  # fields of which a paper has several values
EXACT_UP_TO = 2_000  # passages whose papers are counted exactly, which takes 40 µs each
MOST_VALUES, MOST_ESTIMATED = 10_000, 1_000  # counted values of a field


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """The number of papers, and the numbers by value of a field; the value None counts papers without any.

    `exact` is false if the counts are estimates, or if a field has more values than are counted.
    """

    papers: int
    values: Mapping[FacetField, Mapping[Value | None, int]]
    exact: bool


async def count_papers(
    aggregate: Aggregate, passages: int, fields: Sequence[FacetField], *, several: bool
) -> FacetCounts:
    """Count the papers of some passages with `aggregate`; with `several`, a paper may have several passages.

    If each paper has one passage, passages are counted. Otherwise the papers of up to 2,000 passages are
    counted exactly, and more are estimated (HyperLogLog++; most counts within 3 %).
    """
    if not several:
        return _counted(await aggregate(_by_value(fields)), passages, fields)
    if passages <= EXACT_UP_TO:
        listed = [field for field in fields if field in SEVERAL_VALUES]
        single = [field for field in fields if field not in SEVERAL_VALUES]
        names = ("doc_id", *single)
        sources = [{name: {"terms": {"field": name, "missing_bucket": True}}} for name in names]
        by_paper = {"papers": {"composite": {"size": EXACT_UP_TO, "sources": sources}}}
        answer = await aggregate(_by_value(listed, estimated=True) | by_paper)
        counts = _told_apart(answer, single)
        values = _counted(answer, counts.papers, listed, estimated=True).values
        return FacetCounts(counts.papers, {**counts.values, **values}, exact=True)
    answer = await aggregate(_by_value(fields, estimated=True))
    return _counted(answer, round(answer["papers"]["value"]), fields, estimated=True)


def _by_value(fields: Iterable[FacetField], *, estimated: bool = False) -> dict[str, Any]:
    papers = {"papers": {"cardinality": {"field": "doc_id"}}} if estimated else {}
    size = MOST_ESTIMATED if estimated else MOST_VALUES
    return papers | {
        field: {
            "terms": {"field": field, "size": size, "missing": MISSING[field]},
            **({"aggs": papers} if papers else {}),
        }
        for field in fields
    }


def _counted(
    answer: Mapping[str, Any], papers: int, fields: Iterable[FacetField], *, estimated: bool = False
) -> FacetCounts:
    values: dict[FacetField, Mapping[Value | None, int]] = {}
    whole = True
    for field in fields:
        whole &= not answer[field]["sum_other_doc_count"]
        values[field] = {
            None if bucket["key"] == MISSING[field] else bucket["key"]: (
                round(bucket["papers"]["value"]) if estimated else bucket["doc_count"]
            )
            for bucket in answer[field]["buckets"]
        }
    return FacetCounts(papers, values, exact=whole and not estimated)


def _told_apart(answer: Mapping[str, Any], fields: Iterable[FacetField]) -> FacetCounts:
    keys = [bucket["key"] for bucket in answer["papers"]["buckets"]]
    values: dict[FacetField, Mapping[Value | None, int]] = {
        field: Counter(value for _, value in {(key["doc_id"], key[field]) for key in keys})
        for field in fields
    }
    return FacetCounts(len({key["doc_id"] for key in keys}), values, exact=True)
