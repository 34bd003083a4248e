"""Filters lifted out of a query, because each service supports different filters."""

from collections.abc import Iterator
from dataclasses import replace

from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR
from retriever.queries.boolean import And, Exact, Filters, Query, Range


def lift_filters(query: Query, filters: Filters) -> tuple[Query, Filters] | None:
    """Move years, language and journal that apply to a whole query into the filters.

    None if they contradict each other, so that nothing can be found.
    """
    words: list[Query] = []
    for clause in _conjuncts(query):
        match clause:
            case Range(low=low, high=high):
                years = _both(filters.years, Range(low, high))
                if years is None:
                    return None
                filters = replace(filters, years=years)
            case Exact(field="lang", values=(value,)) if filters.lang in {None, value}:
                filters = replace(filters, lang=value)
            case Exact(field="journal", values=(value,)) if filters.journal in {None, value}:
                filters = replace(filters, journal=value)
            case Exact(field="lang" | "journal", values=(_,)):
                return None
            case _:
                words.append(clause)
    return words[0] if len(words) == 1 else And(tuple(words)), filters


def _conjuncts(query: Query) -> Iterator[Query]:
    if isinstance(query, And):
        for clause in query.clauses:
            yield from _conjuncts(clause)
    else:
        yield query


def _both(one: Range | None, other: Range) -> Range | None:
    if one is None:
        return other
    low = max(one.low or FIRST_YEAR, other.low or FIRST_YEAR)
    high = min(one.high or LAST_YEAR, other.high or LAST_YEAR)
    return Range(low, high) if low <= high else None
