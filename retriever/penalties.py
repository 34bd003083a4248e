"""What constraints cost a passage: a part of its score, so that it stands behind what they allow."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from retriever.constraints import Constraints
from retriever.context import SearchContext
from retriever.engines import EngineHit
from retriever.exclusions import Exclusion
from retriever.question import AnalysedQuestion
from retriever.ranking import RankedHits, Ranking
from retriever.term_statistics import term_statistics

EXCLUDED_LOSS = 0.3  # of the score of a passage that holds all that is to be left out
YEAR_LOSS = 0.3  # of one whose year is known and lies outside


@dataclass(frozen=True, slots=True)
class Penalty:
    """What a passage has of what constraints do not allow."""

    shares: tuple[float, ...]  # of the words of each exclusion that it holds, by idf
    year: int | None
    is_outside: bool  # whether its year is known and lies outside

    @property
    def kept(self) -> float:
        """The share of its score that is left."""
        return (1 - EXCLUDED_LOSS * max(self.shares, default=0.0)) * (1 - YEAR_LOSS * self.is_outside)


async def penalise(context: SearchContext, question: AnalysedQuestion, ranking: Ranking) -> Ranking:
    """Order a ranking anew by the constraints of its question; without any it stays as it is."""
    constraints = question.constraints
    if not constraints or not ranking.hits:
        return ranking
    words, years, idf = await _held(context, constraints, [hit for hit, _ in ranking.hits])
    with context.recorder.timed("order"):
        hits = penalised(ranking.hits, words, years, constraints, idf)
    before = {hit.passage_id: score for hit, score in ranking.hits}
    losses = {hit.passage_id: before[hit.passage_id] - score for hit, score in hits}
    return replace(ranking, hits=hits, losses={hit: lost for hit, lost in losses.items() if lost})


async def penalty_of(context: SearchContext, constraints: Constraints, hit: EngineHit) -> Penalty:
    """Compute what one passage holds of what is excluded, and whether its year lies outside."""
    words, years, idf = await _held(context, constraints, [hit])
    return _penalty(constraints, words.get(hit.passage_id, frozenset()), years[hit.passage_id], idf)


async def _held(
    context: SearchContext, constraints: Constraints, hits: Sequence[EngineHit]
) -> tuple[dict[str, frozenset[str]], dict[str, int | None], dict[str, float]]:
    """Return the words and years of hits, words only where some are excluded, and the idf of these."""
    stored = await context.passages.of_hits(hits)
    tokens = {token for exclusion in constraints.exclusions for token in exclusion.searched()}
    statistics = await term_statistics(context.index.engine, tokens)
    with context.recorder.timed("order"):
        words = {}
        for passage_id, passage in stored.items() if tokens else ():
            held = context.index.tokens_of(passage)
            words[passage_id] = frozenset(held.text.words()).union(held.title2.words())
    years = {passage_id: passage.year for passage_id, passage in stored.items()}
    return words, years, {token: statistics.idf(token) for token in tokens}


def _penalty(
    constraints: Constraints, words: AbstractSet[str], year: int | None, idf: Mapping[str, float]
) -> Penalty:
    shares = tuple(excluded_share(exclusion, words, idf) for exclusion in constraints.exclusions)
    outside = year is not None and not all(asked.holds(year) for asked in constraints.years)
    return Penalty(shares, year, outside)


def penalised(
    ranked: RankedHits,
    words: Mapping[str, AbstractSet[str]],
    years: Mapping[str, int | None],
    constraints: Constraints,
    idf: Mapping[str, float],
) -> tuple[tuple[EngineHit, float], ...]:
    """Take from each score what the constraints cost the passage, and order by what is left.

    `words` are the tokens of title and text by passage_id, `idf` is of the tokens of the exclusions and their
    translations. A passage without a year loses nothing for it.
    """
    scored = []
    for hit, score in ranked:
        held, year = words.get(hit.passage_id, frozenset()), years.get(hit.passage_id)
        kept = _penalty(constraints, held, year, idf).kept
        # A cross-encoder's raw score can be negative.
        scored.append((hit, score - (1 - kept) * abs(score)))
    return tuple(sorted(scored, key=lambda pair: (-pair[1], pair[0].passage_id)))


def excluded_share(exclusion: Exclusion, words: AbstractSet[str], idf: Mapping[str, float]) -> float:
    """Return how much of what is to be left out words hold, by idf.

    A token that no passage holds counts as its translations do.
    """
    translated: dict[str, float] = {}
    for translation in exclusion.translations:
        weight = sum(idf.get(token, 0.0) for word in translation.words for token in word.tokens)
        for token in translation.source:
            translated[token] = max(weight / len(translation.source), translated.get(token, 0.0))
    weights = {token: idf.get(token) or translated.get(token, 0.0) for token in exclusion.tokens}
    total = sum(weights.values())
    return sum(weights[token] for token in sorted(exclusion.held(words))) / total if total else 0.0
