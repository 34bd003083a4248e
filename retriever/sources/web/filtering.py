"""Filters of services: lifted out of a query, and looked at again in what a service found.

Each service filters by what it can; whatever it let through is compared here, so a filter always holds.
"""

from collections.abc import Iterator
from dataclasses import replace

from indexer.papers import Paper
from retriever.queries import And, Exact, Filters, Query, Range

EARLIEST, LATEST = 1000, 2100


def lift_filters(query: Query, filters: Filters) -> tuple[Query, Filters] | None:
    """Take years, language and journal that a query as a whole asks for into the filters.

    None where they contradict each other: nothing can be found.
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
    low = max(one.low or EARLIEST, other.low or EARLIEST)
    high = min(one.high or LATEST, other.high or LATEST)
    return Range(low, high) if low <= high else None


def satisfies(paper: Paper, filters: Filters) -> bool:
    """Tell whether a record is what the filters ask for; one without a year is of no year."""
    years = filters.years
    if years and (paper.year is None or not (years.low or EARLIEST) <= paper.year <= (years.high or LATEST)):
        return False
    if filters.doc_ids and paper.id not in filters.doc_ids:
        return False
    complete = bool(paper.abstract or paper.abstract2 or paper.body)
    return (
        filters.lang in {None, "", paper.lang}
        and filters.journal in {None, "", paper.journal}
        and paper.id not in filters.without
        and filters.complete in {None, complete}
    )
