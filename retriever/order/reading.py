"""The candidates of a question with their features, read once; a second search may bring more."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from retriever.abstracts import prefer_abstracts
from retriever.context import SearchContext
from retriever.engines import EngineHit
from retriever.keyword_choice import KeywordChoice
from retriever.order.candidates import Candidate, Scale
from retriever.order.concepts import Concept
from retriever.order.features import Features, base_scores, coverage_of, neighbours_of
from retriever.order.feedback import PASSAGES, feedback_scores, feedback_terms
from retriever.question import AnalysedQuestion
from retriever.term_statistics import TermStatistics, term_statistics

READ_AHEAD = 8  # passages by the engine's score whose terms are looked up while the others are read


@dataclass(frozen=True, slots=True)
class ReadCandidates:
    """Candidates with their features, the best by base first, and what these are measured by.

    `replaced` names the passages that a candidate stands for: those of its paper that have no text.
    """

    candidates: tuple[Candidate, ...]
    features: tuple[Features, ...]
    scale: Scale
    statistics: TermStatistics
    feedback: Mapping[str, float]  # terms of the best passages
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


async def read_candidates(
    context: SearchContext, question: AnalysedQuestion, chosen: KeywordChoice, hits: Sequence[EngineHit]
) -> ReadCandidates:
    """Read what is stored of hits, and compute their features."""
    run = context.index.threads.run
    with context.recorder.timed("stored"):
        first = await _candidates(context, hits[:READ_AHEAD])
        ahead = _frequencies(context, first, chosen.statistics)
        statistics, (shown, replaced) = await asyncio.gather(ahead, prefer_abstracts(context, hits))
        unordered = await _candidates(context, shown, first)
    with context.recorder.timed("order"):
        scale = await run(Scale.of, unordered, context.options.title_weight or 0.0)
        candidates, base = await run(_best_base_first, chosen.concepts, unordered, scale, statistics)
        statistics = await _frequencies(context, candidates[:PASSAGES], statistics)
        feedback = await run(feedback_terms, candidates, base, statistics)
        rows = await run(_features, question, chosen, candidates, scale, statistics, feedback, base)
    return ReadCandidates(candidates, rows, scale, statistics, feedback, replaced)


async def with_more(
    context: SearchContext,
    question: AnalysedQuestion,
    chosen: KeywordChoice,
    read: ReadCandidates,
    hits: Sequence[EngineHit],
) -> ReadCandidates:
    """Add the hits of a second search, measured as the first."""
    known = {candidate.passage_id for candidate in read.candidates}
    with context.recorder.timed("stored"):
        shown, replaced = await prefer_abstracts(
            context, [hit for hit in hits if hit.passage_id not in known]
        )
        more = await _candidates(context, [hit for hit in shown if hit.passage_id not in known])
    with context.recorder.timed("order"):
        rows = await context.index.threads.run(
            _features, question, chosen, more, read.scale, read.statistics, read.feedback
        )
    return replace(
        read,
        candidates=(*read.candidates, *more),
        features=(*read.features, *rows),
        replaced=_joined(read.replaced, replaced),
    )


def _joined(
    replaced: Mapping[str, tuple[str, ...]], more: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Join what candidates stand for; one may stand for passages that both searches found."""
    return {
        passage_id: tuple(dict.fromkeys((*replaced.get(passage_id, ()), *more.get(passage_id, ()))))
        for passage_id in {**replaced, **more}
    }


async def with_frequencies(
    context: SearchContext, read: ReadCandidates, tokens: Sequence[str]
) -> ReadCandidates:
    """Add the document frequencies of more tokens."""
    return replace(read, statistics=await term_statistics(context.index.engine, tokens, read.statistics))


async def _candidates(
    context: SearchContext, hits: Sequence[EngineHit], known: Sequence[Candidate] = ()
) -> list[Candidate]:
    """Return the candidates of the hits that are stored, those known as they are."""
    index, stored = context.index, await context.passages.of_hits(hits)
    by_hit = {candidate.hit: candidate for candidate in known}
    found = [(hit, stored[hit.passage_id]) for hit in hits if hit.passage_id in stored]
    return await index.threads.run(
        lambda: [by_hit.get(hit) or Candidate.of(hit, passage, index) for hit, passage in found]
    )


async def _frequencies(
    context: SearchContext, candidates: Sequence[Candidate], known: TermStatistics
) -> TermStatistics:
    tokens = await context.index.threads.run(
        lambda: {token for candidate in candidates for token in candidate.counts}
    )
    return await term_statistics(context.index.engine, tokens, known)


def _best_base_first(
    concepts: Sequence[Concept], candidates: Sequence[Candidate], scale: Scale, statistics: TermStatistics
) -> tuple[tuple[Candidate, ...], list[float]]:
    base = base_scores(concepts, candidates, scale, statistics)
    ranked = sorted(zip(base, candidates, strict=True), key=lambda each: (-each[0], each[1].passage_id))
    return tuple(candidate for _, candidate in ranked), [score for score, _ in ranked]


def _features(
    question: AnalysedQuestion,
    chosen: KeywordChoice,
    candidates: Sequence[Candidate],
    scale: Scale,
    statistics: TermStatistics,
    feedback: Mapping[str, float],
    base: Sequence[float] | None = None,
) -> tuple[Features, ...]:
    """Compute the features of candidates, whose base may be known."""
    columns = (
        base_scores(chosen.concepts, candidates, scale, statistics) if base is None else base,
        coverage_of(chosen.concepts, candidates),
        feedback_scores(feedback, candidates, scale, statistics),
        neighbours_of(question, chosen.concepts, candidates),
    )
    return tuple(Features(*row) for row in zip(*columns, strict=True))
