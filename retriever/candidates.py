"""Candidates of method `shrag`: the hits of a pool with scores on one scale, and their features."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from indexer.schema import StoredPassage
from retriever.context import SearchContext
from retriever.engines import EngineHit
from retriever.features import FEEDBACK_PASSAGES, Candidate, Features, features, feedback_tokens
from retriever.index import SearchIndex
from retriever.keyword_choice import KeywordChoice
from retriever.plan import QueryPlan
from retriever.pool import CandidatePool
from retriever.queries import Or, Query, Term
from retriever.query_names import NEAREST, QUESTION, TRANSLATION
from retriever.question import AnalysedQuestion
from retriever.term_statistics import TermStatistics, term_statistics

POOL = 100  # candidates that the whole question brings to the lexical order
OTHER_POOL = 30  # candidates that the question's words in the other language bring
NEAREST_POOL = 100  # candidates that the question's vector brings


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates, best first by the engine's score over the attainable, with their features.

    `replaced` names the passages that a candidate stands for: those of its paper that have no text.
    """

    hits: tuple[EngineHit, ...] = ()
    features: tuple[Features, ...] = ()
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


async def make_candidates(
    context: SearchContext,
    question: AnalysedQuestion,
    chosen: KeywordChoice,
    plan: QueryPlan,
    pool: CandidatePool,
) -> Candidates:
    """Scale the scores of a pool's hits, and compute their features."""
    index, found = context.index, await _on_one_scale(context, chosen, plan, pool)
    with context.recorder.timed("stored"):
        statistics, (hits, replaced) = await asyncio.gather(
            _feedback_statistics(context, chosen, found), prefer_abstracts(context, found)
        )
        stored = await context.passages.of_hits(hits)
    with context.recorder.timed("order"):
        candidates = [make_candidate(index, stored[hit.passage_id], hit.score) for hit in hits]
        if hits[:FEEDBACK_PASSAGES] != found[:FEEDBACK_PASSAGES]:  # other passages are among the best
            statistics = await term_statistics(index.engine, feedback_tokens(candidates), statistics)
        rarity = {token: statistics.idf(token) for token, held in statistics.frequencies.items() if held > 1}
        rows = await index.threads.run(
            features,
            question.tokens,
            chosen.concepts,
            candidates,
            rarity,
            unweighted=context.all_features,
        )
    return Candidates(tuple(hits), tuple(rows), replaced)


async def _feedback_statistics(
    context: SearchContext, chosen: KeywordChoice, hits: Sequence[EngineHit]
) -> TermStatistics:
    """Return the term statistics of the best passages, for the feedback feature.

    As a rule the engine sent these passages along with the hits, so reading them takes no request.
    """
    stored = await context.passages.of_hits(hits[:FEEDBACK_PASSAGES])
    candidates = [make_candidate(context.index, passage, 0.0) for passage in stored.values()]
    return await term_statistics(context.index.engine, feedback_tokens(candidates), chosen.statistics)


async def _on_one_scale(
    context: SearchContext, chosen: KeywordChoice, plan: QueryPlan, pool: CandidatePool
) -> list[EngineHit]:
    """Divide the scores of the question and its translation by the maximum; put all other hits below them."""
    # The other language's words stand for a part of the question only.
    shares = {QUESTION: 1.0, TRANSLATION: _translated_share(chosen)}
    scaled: dict[str, EngineHit] = {}
    for name, share in shares.items():
        hits = pool.found.get(name, ())
        query = plan.query(name)
        max_score = await _max_score(context, chosen, query) if query else 1.0
        for hit in hits[:POOL]:
            candidate = replace(hit, score=share * hit.score / max_score)
            known = scaled.get(hit.passage_id, candidate)
            scaled[hit.passage_id] = max(known, candidate, key=lambda either: either.score)
    # What only a short query or the vector found lies below the whole question's last.
    floor = min((hit.score for hit in scaled.values()), default=0.0)
    short = [hit for name, hits in pool.found.items() if name not in {*shares, NEAREST} for hit in hits]
    for hit in short:
        scaled.setdefault(hit.passage_id, replace(hit, score=floor))
    if context.options.candidates == "progressive":
        union = {hit.passage_id for hit in short}
        scaled = {passage_id: hit for passage_id, hit in scaled.items() if passage_id in union}
    for hit in pool.found.get(NEAREST, ()):
        scaled.setdefault(hit.passage_id, replace(hit, score=floor))
    return sorted(scaled.values(), key=lambda hit: (-hit.score, hit.passage_id))


def _translated_share(chosen: KeywordChoice) -> float:
    """Return the share of the question's weight that has translations; 1 where keywords were given."""
    if chosen.given and chosen.keywords:
        return 1.0
    sources = {token for translation in chosen.translations for token in translation.source}
    total = sum(concept.weight for concept in chosen.concepts)
    translated = sum(concept.weight for concept in chosen.concepts if concept.tokens.keys() & sources)
    return translated / total if total else 0.0


async def _max_score(context: SearchContext, chosen: KeywordChoice, query: Query) -> float:
    """Return the sum of a query's tokens' idf; BM25 gives a text at most 2.2 times that."""
    clauses = query.clauses if isinstance(query, Or) else (query,)
    tokens = {token for clause in clauses if isinstance(clause, Term) for token in clause.tokens}
    statistics = await term_statistics(context.index.engine, tokens, chosen.statistics)
    return sum(statistics.idf(token) for token in sorted(tokens)) or 1.0


async def prefer_abstracts(
    context: SearchContext, hits: Sequence[EngineHit]
) -> tuple[list[EngineHit], dict[str, tuple[str, ...]]]:
    """Replace a passage that is only a title in the other language by its paper's abstract.

    Return the hits, and the passages that each abstract replaced. Without `collapse` nothing is replaced.
    """
    stored = await context.passages.of_hits(hits)
    hits = [hit for hit in hits if hit.passage_id in stored]  # another source may name what is not there
    if not context.request.collapse:
        return list(hits), {}
    without_text = {hit.doc_id for hit in hits if not stored[hit.passage_id].text}
    abstracts = {
        doc_id: passage.passage_id
        for doc_id, passage in (await context.passages.papers(without_text)).items()
        if passage.text and _is_allowed(context, passage)
    }
    best: dict[str, EngineHit] = {}
    replaced: dict[str, tuple[str, ...]] = {}
    for hit in hits:
        shown = hit
        if not stored[hit.passage_id].text and hit.doc_id in abstracts:
            shown = replace(hit, passage_id=abstracts[hit.doc_id])
            replaced[shown.passage_id] = (*replaced.get(shown.passage_id, ()), hit.passage_id)
        best.setdefault(shown.passage_id, shown)
    return list(best.values()), replaced


def _is_allowed(context: SearchContext, passage: StoredPassage) -> bool:
    filters = context.request.filters
    return (
        passage.passage_id not in filters.without
        and filters.lang in {None, passage.lang}
        and (not filters.parts or passage.part in filters.parts)
    )


def make_candidate(index: SearchIndex, passage: StoredPassage, score: float) -> Candidate:
    """Make a candidate of a passage; its paper's title in the other language counts with its own."""
    tokens = index.tokens_of(passage)
    title = f"{passage.title} {passage.title2}" if passage.title2 else passage.title
    return Candidate(passage.passage_id, title, tokens, score)
