"""What the best passages are about: their terms, looked for in all candidates (RM3, no second search)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from retriever.order.candidates import Candidate, Scale
from retriever.term_statistics import TermStatistics

PASSAGES = 5
TERMS = 40
FALL = 3  # a passage counts by the third power of its share of the best score
FEWEST_PASSAGES = 2
MOST_SHARE = 0.25  # of all passages; a term of more says nothing


def feedback_terms(
    candidates: Sequence[Candidate], base: Sequence[float], statistics: TermStatistics
) -> dict[str, float]:
    """Weigh the terms of the best passages; `statistics` must know them, the base scores fall."""
    best = max(base[:PASSAGES], default=0.0)
    weighed: dict[str, float] = defaultdict(float)
    for candidate, score in zip(candidates[:PASSAGES], base, strict=False):
        share = (score / best) ** FALL / (candidate.length or 1) if best else 0.0
        for token, count in candidate.counts.items():
            weighed[token] += share * count
    most = MOST_SHARE * statistics.passages
    strengths = {
        token: value * statistics.idf(token)
        for token, value in weighed.items()
        if FEWEST_PASSAGES <= statistics.frequencies.get(token, 0) <= most and not token.isdecimal()
    }
    ranked = sorted(strengths.items(), key=lambda item: (-item[1], item[0]))
    return dict(ranked[:TERMS])


def feedback_scores(
    terms: Mapping[str, float], candidates: Sequence[Candidate], scale: Scale, statistics: TermStatistics
) -> list[float]:
    """Return the BM25 of candidates by the terms, over what their weights make of their idf."""
    rarity = {token: statistics.idf(token) for token in terms}
    attainable = sum(weight * rarity[token] for token, weight in terms.items())
    scores = scale.scores(candidates, rarity, titles=False)
    columns = [[weight * score for score in scores[token]] for token, weight in terms.items()]
    if not attainable:
        return [0.0] * len(candidates)
    return [sum(column) / attainable for column in zip(*columns, strict=True)]
