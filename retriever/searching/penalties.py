"""Score penalties for passages that violate constraints.

A paper whose title or keywords name an excluded thing is about it, and is ranked below all others. A text
that only mentions it loses a part of its score, and so does a paper of another year.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from indexer.analysis import Analyzer
from indexer.files.schema import StoredPassage
from retriever.constraints.exclusions import Exclusion, Writing
from retriever.constraints.parsing import Constraints
from retriever.engines import EngineHit
from retriever.index import SearchIndex
from retriever.question.analysis import AnalysedQuestion
from retriever.requests.context import SearchContext
from retriever.stages.stages import RankedHits, Ranking

EXCLUDED_LOSS = 0.8  # maximum share of the score lost by a text that mentions an excluded thing
MENTIONS = 2  # mentions that cost half of EXCLUDED_LOSS
YEAR_LOSS = 0.5  # share of the score lost by a passage of another year
FIRST_CHARACTERS = 4  # of a name's first token, which its stem shares with the word as written


@dataclass(frozen=True, slots=True)
class Penalty:
    """The share of each exclusion that counts against a passage, and its year.

    A share is 1 if the paper is about the excluded thing, less if the text mentions it.
    """

    shares: tuple[float, ...]
    year: int | None
    is_outside: bool  # whether its year is known and outside

    @property
    def is_about(self) -> bool:
        """Whether its paper is about an excluded thing."""
        return max(self.shares, default=0.0) >= 1

    @property
    def kept(self) -> float:
        """The remaining share of its score."""
        return (1 - EXCLUDED_LOSS * max(self.shares, default=0.0)) * (1 - YEAR_LOSS * self.is_outside)


async def penalise(context: SearchContext, question: AnalysedQuestion, ranking: Ranking) -> Ranking:
    """Reorder a ranking by the constraints of its question; unchanged if there are none."""
    constraints = question.constraints
    if not constraints or not ranking.hits:
        return ranking
    hits = [hit for hit, _ in ranking.hits]
    stored, records = await _read(context, constraints, hits)
    with context.recorder.timed("order"):
        penalties = partial(_penalty, context.index, constraints)
        in_keywords = partial(_in_keywords, context.index.analyzer, constraints.exclusions)
        return await context.index.threads.run(
            penalised,
            ranking,
            lambda hit: penalties(stored.get(hit.passage_id)),
            lambda hit: any(in_keywords(records.get(hit.doc_id, ""))),
            context.request.k,
        )


async def penalty_of(context: SearchContext, constraints: Constraints, hit: EngineHit) -> Penalty:
    """Return the penalty of one passage."""
    stored, records = await _read(context, constraints, [hit])
    found = _penalty(context.index, constraints, stored.get(hit.passage_id))
    named = _in_keywords(context.index.analyzer, constraints.exclusions, records.get(hit.doc_id, ""))
    shares = (1.0 if by_keyword else share for share, by_keyword in zip(found.shares, named, strict=True))
    return replace(found, shares=tuple(shares))


async def _read(
    context: SearchContext, constraints: Constraints, hits: Sequence[EngineHit]
) -> tuple[dict[str, StoredPassage], dict[str, str]]:
    """Return the stored passages of hits, and the records of their papers, which hold the keywords."""
    stored = await context.passages.of_hits(hits)
    if not constraints.exclusions or context.index.manifest.unit != "paper":
        return stored, {}
    papers = await context.passages.papers(hit.doc_id for hit in hits)
    return stored, {doc_id: paper.record for doc_id, paper in papers.items()}


def _penalty(index: SearchIndex, constraints: Constraints, passage: StoredPassage | None) -> Penalty:
    if passage is None:
        return Penalty((0.0,) * len(constraints.exclusions), None, is_outside=False)
    shares: tuple[float, ...] = ()
    if constraints.exclusions:
        tokens = index.tokens_of(passage)
        titles = (
            Writing.of_packed(tokens.title, passage.title),
            Writing.of_packed(tokens.title2, passage.title2),
        )
        text = Writing.of_packed(tokens.text, passage.text)
        shares = tuple(excluded_share(exclusion, titles, text) for exclusion in constraints.exclusions)
    outside = passage.year is not None and not all(asked.holds(passage.year) for asked in constraints.years)
    return Penalty(shares, passage.year, outside)


def penalised(
    ranking: Ranking,
    penalty: Callable[[EngineHit], Penalty],
    is_in_keywords: Callable[[EngineHit], bool],
    k: int,
) -> Ranking:
    """Order hits by their remaining scores; papers about an excluded thing come last.

    Keywords are read only until k hits are known not to be about an excluded thing.
    """
    found = {hit: penalty(hit) for hit, _ in ranking.hits}
    # A cross-encoder's raw score can be negative.
    scored = [(hit, score - (1 - found[hit].kept) * abs(score)) for hit, score in ranking.hits]
    by_title = {hit.doc_id for hit in found if found[hit].is_about}
    allowed: list[tuple[EngineHit, float]] = []
    about: list[tuple[EngineHit, float]] = []
    for hit, score in sorted(scored, key=lambda pair: (-pair[1], pair[0].passage_id)):
        is_about = hit.doc_id in by_title or (len(allowed) < k and is_in_keywords(hit))
        (about if is_about else allowed).append((hit, score))
    ordered = (*allowed, *_below(allowed, about))
    before = dict(ranking.hits)
    return replace(
        ranking,
        hits=ordered,
        losses={hit.passage_id: before[hit] - score for hit, score in ordered if score != before[hit]},
        about=frozenset(hit.doc_id for hit, _ in about),
        mentioning=frozenset(hit.doc_id for hit, _ in allowed if any(found[hit].shares)),
    )


def _below(allowed: RankedHits, about: RankedHits) -> list[tuple[EngineHit, float]]:
    """Lower the scores of hits below the last allowed one, and keep their order."""
    if not allowed or not about:
        return list(about)
    lowest, highest = allowed[-1][1], about[0][1]
    if 0 < lowest <= highest:
        return [(hit, score * 0.99 * lowest / highest) for hit, score in about]
    return [(hit, score - max(0.0, highest - lowest) - 1e-3) for hit, score in about]


def excluded_share(exclusion: Exclusion, titles: Iterable[Writing], text: Writing) -> float:
    """Return the share of an exclusion in a paper: 1 by its titles, n / (n + 2) by n mentions."""
    if exclusion.is_subject(*titles):
        return 1.0
    mentions = exclusion.mentions(text)
    return mentions / (mentions + MENTIONS)


def keywords_naming(exclusion: Exclusion, keywords: Iterable[str], analyzer: Analyzer) -> bool:
    """Check whether a paper's keywords name an excluded thing."""
    names = (*exclusion.names, *exclusion.written)
    firsts = tuple(name.partition(" ")[0][:FIRST_CHARACTERS] for name in names)
    return any(
        exclusion.is_subject(Writing.of((token[0] for token in analyzer.analyze(keyword)), keyword))
        for keyword in keywords
        if any(first in keyword.lower() for first in firsts)  # few keywords need an analysis
    )


def _in_keywords(analyzer: Analyzer, exclusions: Sequence[Exclusion], record: str) -> list[bool]:
    """Return for each exclusion whether the keywords of a record, which is JSON, name it."""
    if '"keywords"' not in record:
        return [False] * len(exclusions)
    keywords = json.loads(record).get("keywords") or ()
    return [keywords_naming(exclusion, keywords, analyzer) for exclusion in exclusions]


def excluded_loss(
    exclusions: Iterable[Exclusion],
    titles: Writing,
    text: Writing,
    keywords: Sequence[str],
    analyzer: Analyzer,
) -> float:
    """Return the share of its relevance that a paper loses to exclusions."""
    shares = (
        1.0 if keywords_naming(exclusion, keywords, analyzer) else excluded_share(exclusion, (titles,), text)
        for exclusion in exclusions
    )
    return EXCLUDED_LOSS * max(shares, default=0.0)
