"""The evidence of several searches for one question, as one result."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from retriever.hits import Hit, SearchResult, summed_milliseconds

MOST_EVIDENCE = 20  # papers; the model's context may shorten them further


def joined(searches: Sequence[SearchResult], most: int = MOST_EVIDENCE) -> SearchResult:
    """Return the first search with the hits of all, taken in turn, each once; at most `most`.

    A hit scores 1 / its best rank. The likelihood of an answer is the highest of all, and what was searched
    for is quoted by the highest weight.
    """
    first = searches[0]
    ranked: dict[str, Hit] = {}
    for place in range(max(len(search.hits) for search in searches)):
        for search in searches:
            if place < len(search.hits):
                hit = search.hits[place]
                ranked.setdefault(hit.passage_id, replace(hit, score=round(1 / (place + 1), 4)))
    hits = [replace(hit, rank=rank) for rank, hit in enumerate(list(ranked.values())[:most], 1)]
    likelihoods = [search.evidence_score for search in searches if search.evidence_score is not None]
    return replace(
        first,
        hits=tuple(hits),
        token_weights=_highest([search.token_weights for search in searches]),
        milliseconds=summed_milliseconds(searches),
        evidence_score=max(likelihoods, default=None),
        notes=tuple(dict.fromkeys(note for search in searches for note in search.notes)),
    )


def papers_of(searches: Iterable[SearchResult]) -> int:
    """Count the papers that searches found."""
    return len({hit.doc_id for search in searches for hit in search.hits})


def _highest(weights: Sequence[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for of_one in weights:
        for token, weight in of_one.items():
            found[token] = max(weight, found.get(token, 0.0))
    return found
