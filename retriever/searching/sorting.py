"""The order of the hits shown: by relevance, or the most relevant papers by year or citations."""

from collections.abc import Callable, Mapping, Sequence

from retriever.requests.request import RELEVANCE, SearchRequest, Sort
from retriever.stages.hits import Hit

MOST_SORTED = 100  # most relevant papers that are sorted, if no more are requested

KEYS: Mapping[Sort, Callable[[Hit], int]] = {
    "year": lambda hit: hit.passage.year or 0,
    "citations": lambda hit: hit.paper.get("cited_by_count") or 0,
}


def sorted_depth(request: SearchRequest) -> int:
    """Return the number of papers that are found and sorted, of which `k` are shown."""
    return request.k if request.sort == RELEVANCE else max(request.k, MOST_SORTED)


def sorted_hits(hits: Sequence[Hit], sort: Sort) -> list[Hit]:
    """Return the hits in the chosen order, highest values first; equal values stay in order of relevance."""
    return list(hits) if sort == RELEVANCE else sorted(hits, key=KEYS[sort], reverse=True)
