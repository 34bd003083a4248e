"""What constraints cost a passage: a part of its score, so that it stands behind what they allow."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from indexer.packing import PassageTokens
from indexer.schema import StoredPassage
from retriever.constraints import Constraints
from retriever.context import SearchContext
from retriever.engines import EngineHit
from retriever.exclusions import Exclusion
from retriever.index import SearchIndex
from retriever.question import AnalysedQuestion
from retriever.ranking import RankedHits, Ranking
from retriever.term_statistics import term_statistics

EXCLUDED_LOSS = 0.8  # of the score of a passage that is about all that is to be left out
MENTIONS = 2  # in the text, that make a word count half of what it counts in the title
YEAR_LOSS = 0.5  # of the score of a passage whose year is known and lies outside


@dataclass(frozen=True, slots=True)
class Penalty:
    """What a passage has of what constraints do not allow."""

    shares: tuple[float, ...]  # of each exclusion that it is about, by idf
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
        hits = await context.index.threads.run(penalised, ranking.hits, words, years, constraints, idf)
    before = {hit.passage_id: score for hit, score in ranking.hits}
    losses = {hit.passage_id: before[hit.passage_id] - score for hit, score in hits}
    return replace(ranking, hits=hits, losses={hit: lost for hit, lost in losses.items() if lost})


async def penalty_of(context: SearchContext, constraints: Constraints, hit: EngineHit) -> Penalty:
    """Compute what one passage holds of what is excluded, and whether its year lies outside."""
    words, years, idf = await _held(context, constraints, [hit])
    return _penalty(constraints, words.get(hit.passage_id, {}), years[hit.passage_id], idf)


async def _held(
    context: SearchContext, constraints: Constraints, hits: Sequence[EngineHit]
) -> tuple[dict[str, dict[str, float]], dict[str, int | None], dict[str, float]]:
    """Return how much hits are about excluded words, their years, and the idf of the words."""
    stored = await context.passages.of_hits(hits)
    tokens = {token for exclusion in constraints.exclusions for token in exclusion.searched()}
    statistics = await term_statistics(context.index.engine, tokens)
    with context.recorder.timed("order"):
        words = await context.index.threads.run(_words_of, context.index, stored if tokens else {}, tokens)
    years = {passage_id: passage.year for passage_id, passage in stored.items()}
    return words, years, {token: statistics.idf(token) for token in tokens}


def _words_of(
    index: SearchIndex, stored: Mapping[str, StoredPassage], tokens: AbstractSet[str]
) -> dict[str, dict[str, float]]:
    return {
        passage_id: _prominence_in(index.tokens_of(passage), tokens) for passage_id, passage in stored.items()
    }


def _prominence_in(tokens: PassageTokens, wanted: AbstractSet[str]) -> dict[str, float]:
    titles = {*tokens.title.words(), *tokens.title2.words()}
    return prominence(Counter(tokens.text.words()), titles, wanted)


def _penalty(
    constraints: Constraints, words: Mapping[str, float], year: int | None, idf: Mapping[str, float]
) -> Penalty:
    shares = tuple(excluded_share(exclusion, words, idf) for exclusion in constraints.exclusions)
    outside = year is not None and not all(asked.holds(year) for asked in constraints.years)
    return Penalty(shares, year, outside)


def penalised(
    ranked: RankedHits,
    words: Mapping[str, Mapping[str, float]],
    years: Mapping[str, int | None],
    constraints: Constraints,
    idf: Mapping[str, float],
) -> tuple[tuple[EngineHit, float], ...]:
    """Take from each score what the constraints cost the passage, and order by what is left.

    `words` says by passage_id how much a passage is about which tokens (see `prominence`), `idf` is of the
    tokens of the exclusions and their translations. A passage without a year loses nothing for it.
    """
    scored = []
    for hit, score in ranked:
        held, year = words.get(hit.passage_id, {}), years.get(hit.passage_id)
        kept = _penalty(constraints, held, year, idf).kept
        # A cross-encoder's raw score can be negative.
        scored.append((hit, score - (1 - kept) * abs(score)))
    return tuple(sorted(scored, key=lambda pair: (-pair[1], pair[0].passage_id)))


def prominence(
    counts: Mapping[str, int], titles: Container[str], wanted: AbstractSet[str]
) -> dict[str, float]:
    """Return how much a paper is about the wanted tokens that it holds.

    A word of a title counts 1; one of the text the more the more often it stands there, since papers name
    what they leave aside or compare with.
    """
    found = {
        word: 1.0 if word in titles else counts.get(word, 0) / (counts.get(word, 0) + MENTIONS)
        for word in wanted
    }
    return {word: share for word, share in found.items() if share}


def excluded_share(exclusion: Exclusion, words: Mapping[str, float], idf: Mapping[str, float]) -> float:
    """Return how much of what is to be left out a passage is about, by idf.

    A token that no passage holds counts as its translations do.
    """
    translated: dict[str, float] = {}
    for translation in exclusion.translations:
        weight = sum(idf.get(token, 0.0) for word in translation.words for token in word.tokens)
        for token in translation.source:
            translated[token] = max(weight / len(translation.source), translated.get(token, 0.0))
    weights = {token: idf.get(token) or translated.get(token, 0.0) for token in exclusion.tokens}
    total = sum(weights.values())
    held = sum(weights[token] * exclusion.prominence(token, words) for token in exclusion.tokens)
    return held / total if total else 0.0


def excluded_loss(
    exclusions: Iterable[Exclusion], counts: Mapping[str, int], titles: Container[str]
) -> float:
    """Return the share of its score that a paper loses to exclusions, whose words weigh alike."""
    shares = []
    for exclusion in exclusions:
        searched = exclusion.searched()
        held = prominence(counts, titles, searched)
        shares.append(excluded_share(exclusion, held, dict.fromkeys(searched, 1.0)))
    return EXCLUDED_LOSS * max(shares, default=0.0)
