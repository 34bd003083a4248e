"""Joint evidence of several searches for one question."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from retriever.stages.hits import Hit, SearchResult, summed_milliseconds


def joined(searches: Sequence[SearchResult], most: int) -> SearchResult:
    """Return the first search with the interleaved hits of all searches, without repetitions; at most `most`.

    A hit's score is 1 / its best rank. The likelihood of an answer is the highest of all searches, and each
    token has its highest weight.
    """
    first = searches[0]
    if len(searches) == 1:
        return first
    ranked: dict[str, Hit] = {}
    for place, hits in enumerate(zip_longest(*(search.hits for search in searches)), 1):
        for hit in filter(None, hits):
            ranked.setdefault(hit.passage_id, replace(hit, score=round(1 / place, 4)))
    kept = [replace(hit, rank=rank) for rank, hit in enumerate(list(ranked.values())[:most], 1)]
    likelihoods = [search.likelihood for search in searches if search.likelihood is not None]
    return replace(
        first,
        hits=tuple(kept),
        token_weights=_highest([search.token_weights for search in searches]),
        milliseconds=summed_milliseconds(searches),
        likelihood=max(likelihoods, default=None),
        notes=tuple(dict.fromkeys(note for search in searches for note in search.notes)),
    )


def papers_of(searches: Iterable[SearchResult]) -> int:
    """Count the distinct papers of several searches."""
    return len({hit.doc_id for search in searches for hit in search.hits})


def _highest(weights: Sequence[Mapping[str, float]]) -> dict[str, float]:
    tokens = dict.fromkeys(token for each in weights for token in each)
    return {token: max(each.get(token, 0.0) for each in weights) for token in tokens}
