"""The default method: candidates by keywords, question and vector, ordered by concepts and feedback."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from indexer.corpora.papers import language_of
from retriever.engines import EngineHit
from retriever.keywords.choice import KeywordChoice, choose_keywords
from retriever.methods import Method
from retriever.methods.dense import nearest_first
from retriever.order.bm25 import Scores
from retriever.order.candidate_features import CandidateFeatures, Measure, measure, measure_first
from retriever.order.patterns import TokenPlaces
from retriever.order.score_parts import ScoredCandidates, with_mean_of_title, with_other_language
from retriever.order.second_search import (
    SecondSearch,
    find_sources,
    gains,
    plan_second_search,
)
from retriever.order.weights import BRIDGE_GAIN, LINK_GAIN, SEMANTIC_GAIN, lexical_parts, semantic_parts
from retriever.query_plan import (
    BRIDGES,
    FEEDBACK,
    NEAREST,
    QUESTION,
    NamedQuery,
    QueryPlan,
    concept_query,
    feedback_query,
    progressive_queries,
)
from retriever.question.analysis import AnalysedQuestion
from retriever.requests.context import SearchContext
from retriever.stages.abstracts_for_titles import ReadHits, of_hits
from retriever.stages.pool import CandidatePool, find_all, find_cosines, nearest_passages, with_vector
from retriever.stages.stages import Ranking, collapsed

TITLE_WEIGHT = 1.0  # the weights of order/weights.py were chosen with it
POOL = 100  # candidates of the whole question
NEAREST_POOL = 100  # candidates of the question's vector
FEEDBACK_POOL = 50  # candidates of the feedback terms


def plan(context: SearchContext, question: AnalysedQuestion, chosen: KeywordChoice | None) -> QueryPlan:
    """Plan the whole question with its counterparts, SQ10 … SQ1, and the nearest passages."""
    options = context.options
    if question.is_empty or chosen is None:
        return QueryPlan(nearest=context.request.k)  # a question without tokens
    whole = concept_query(question, chosen.concepts, title_weight=options.title_weight or 0.0)
    queries = (
        NamedQuery(QUESTION, whole, max(POOL, context.request.k)),
        *progressive_queries(question, chosen, hits_per_query=options.hits_per_query),
    )
    return QueryPlan(queries, NEAREST_POOL if options.candidates == "both" else 0, read=1)


@dataclass(frozen=True, slots=True)
class FirstSearch:
    """The first candidates with their features, and the second search that they lead to."""

    found: ReadHits
    by: Measure
    measured: CandidateFeatures
    second: SecondSearch | None


@dataclass(frozen=True, slots=True)
class ScoredHits:
    """All candidates with their features and scores; `more` are the hits of the further searches."""

    more: ReadHits
    measured: CandidateFeatures
    candidates: ScoredCandidates
    cosines: Mapping[str, float]


async def rank(
    context: SearchContext,
    question: AnalysedQuestion,
    chosen: KeywordChoice | None,
    planned: QueryPlan,
    pool: CandidatePool,
) -> Ranking:
    """Order the candidates; the other hits of the whole question follow."""
    del planned
    pool = await with_vector(context, pool)
    if chosen is None or not any(pool.found.values()) or pool.found.keys() == {NEAREST}:
        return await _nearest_only(context, pool)
    with context.recorder.timed("order"):
        first = await of_hits(
            context, _candidates(context, pool), partial(_first_search, context, question, chosen)
        )
    if not first.found.hits and pool.vector is not None:
        return await _nearest_only(context, pool)
    pool, new = await _further(context, pool, first)
    score = partial(_scored, context, first, chosen.has_counterparts)
    known = _known(first.found)
    if pool.vector is None:
        with context.recorder.timed("order"):
            scored = await of_hits(context, new, partial(score, {}), known)
    else:
        more = await of_hits(context, new, lambda found: found, known)
        # One call for all: the last digit of a cosine depends on the batch.
        cosines = await find_cosines(context, pool, (*first.found.read.ids, *more.read.ids))
        with context.recorder.timed("order"):
            scored = await context.index.threads.run(score, cosines, more)
    return _ranking(context, pool, first, scored)


def _ranking(context: SearchContext, pool: CandidatePool, first: FirstSearch, scored: ScoredHits) -> Ranking:
    candidates, found = scored.candidates, first.found
    hits = {hit.passage_id: hit for hit in (*found.hits, *scored.more.hits)}
    scores = candidates.scores.tolist()
    ordered = [(hits[candidates.ids[row]], scores[row]) for row in candidates.order]
    ranked = [*ordered, *_other_hits(ordered, pool.found.get(QUESTION, ()))]
    return Ranking(
        collapsed(ranked) if context.request.collapse else tuple(ranked),
        scored=candidates,
        cosines=scored.cosines,
        by_vectors=bool(scored.cosines),
        replaced=_joined(found, scored.more),
        measure=first.by,
        measured=scored.measured,
        second=first.second,
        pool=pool,
    )


def _candidates(context: SearchContext, pool: CandidatePool) -> list[EngineHit]:
    """Return the hits to order, each once: first the hits of the whole question, then the others."""
    found = dict(pool.found)
    if context.options.candidates == "progressive":
        found.pop(QUESTION, None)
    return list({hit.passage_id: hit for hits in found.values() for hit in hits}.values())


def _first_search(
    context: SearchContext, question: AnalysedQuestion, chosen: KeywordChoice, found: ReadHits
) -> FirstSearch:
    """Measure the first candidates, and plan a second search if the question has one."""
    without, statistics, read = context.options.without, chosen.statistics, found.read
    by, measured, places = measure_first(
        question, chosen.concepts, statistics, read, context.options.title_weight or 0.0
    )
    second = None
    if question.relates_names and "second-search" not in without and BRIDGES not in context.request.skip:
        scored = _with_parts(context, read.ids, measured, lexical_parts(measured.features))
        sources = find_sources(question, chosen.concepts, scored, places)
        second = plan_second_search(question, sources, scored, read, statistics.passages)
    return FirstSearch(found, by, measured, second)


async def _further(
    context: SearchContext, pool: CandidatePool, first: FirstSearch
) -> tuple[CandidatePool, list[EngineHit]]:
    """Search by feedback terms and bridges in one call; return the pool with the hits, and the new ones."""
    queries = []
    if first.by.feedback.strengths and "feedback" not in context.options.without:
        queries.append(NamedQuery(FEEDBACK, feedback_query(first.by.feedback.strengths), FEEDBACK_POOL))
    if first.second:
        queries.append(first.second.query(context.options.title_weight or 0.0))
    queries = [named for named in queries if named.name not in context.request.skip]
    if queries:
        pool = await find_all(context, pool, QueryPlan(tuple(queries), read=len(queries)))
    known = _known(first.found)
    return pool, [hit for named in queries for hit in pool.found[named.name] if hit.passage_id not in known]


def _known(found: ReadHits) -> set[str]:
    """Return the passages that are candidates already, and the passages that these replaced."""
    return {hit.passage_id for hit in found.hits} | {one for of in found.replaced.values() for one in of}


def _scored(
    context: SearchContext,
    first: FirstSearch,
    has_counterparts: bool,
    cosines: Mapping[str, float],
    more: ReadHits,
) -> ScoredHits:
    """Measure the further candidates, and score all candidates."""
    by, read = first.by, first.found.read.joined(more.read)
    measured = first.measured.joined(measure(by, more.read)) if more.hits else first.measured
    of_candidates = np.array([cosines.get(passage_id, np.nan) for passage_id in read.ids])
    by_vectors = not np.isnan(of_candidates).all()
    features = measured.features
    parts = semantic_parts(features, of_candidates) if by_vectors else lexical_parts(features)
    scored = _with_parts(context, read.ids, measured, parts)
    if first.second:
        places = TokenPlaces.of(read, first.second.tokens)
        gained = gains(first.second, by.question, read, places, by.scale)
        weight = SEMANTIC_GAIN if by_vectors else 1.0
        scored = scored.with_part("bridge", gained.bridges, weight * BRIDGE_GAIN)
        scored = scored.with_part("title in passage", gained.titles, weight * LINK_GAIN)
    if not has_counterparts and "other-language" not in context.options.without:
        language = language_of(by.question.text)
        scored = with_other_language(scored, language, measured.language, measured.shares_word)
    return ScoredHits(more, measured, scored, cosines if by_vectors else {})


def _with_parts(
    context: SearchContext,
    ids: Sequence[str],
    measured: CandidateFeatures,
    parts: dict[str, tuple[Scores, float]],
) -> ScoredCandidates:
    """Weigh the parts of scores, without the parts that the settings leave out."""
    without = context.options.without
    scored = ScoredCandidates(tuple(ids), {name: of for name, of in parts.items() if name not in without})
    return scored if "same-title" in without else with_mean_of_title(scored, measured.same_title)


def _joined(first: ReadHits, more: ReadHits) -> dict[str, tuple[str, ...]]:
    """Join the replaced passages; both searches may find some of one paper."""
    return {
        passage_id: (*first.replaced.get(passage_id, ()), *more.replaced.get(passage_id, ()))
        for passage_id in {**first.replaced, **more.replaced}
    }


async def _nearest_only(context: SearchContext, pool: CandidatePool) -> Ranking:
    """Rank the nearest passages if no query found anything and the question has a vector.

    They have no score by words, so there is no evidence of an answer.
    """
    nothing = ScoredCandidates((), {})
    if pool.vector is None or NEAREST in context.request.skip:
        return Ranking(scored=nothing)
    if not pool.found.get(NEAREST):
        pool = pool.with_nearest(await nearest_passages(context, pool.vector, context.request.k))
    return replace(nearest_first(context, pool), scored=nothing, pool=pool)


def _other_hits(
    ordered: Sequence[tuple[EngineHit, float]], by_question: Sequence[EngineHit]
) -> list[tuple[EngineHit, float]]:
    """Return the hits of the whole question that are no candidates, with lower scores, in their order."""
    taken = {hit.passage_id for hit, _ in ordered}
    rest = [hit for hit in by_question if hit.passage_id not in taken]
    last = ordered[-1][1] if ordered else 1.0
    top = (rest[0].score if rest else 0.0) or 1.0  # a word that all passages hold scores 0
    return [(hit, last * 0.999 * hit.score / top) for hit in rest]


METHOD = Method(
    plain_words=True,
    keywords=choose_keywords,
    plan=plan,
    rank=rank,
    order="BM25 by concepts, feedback and a second search over the candidates of the progressive queries",
    order_by_vectors="cosine and BM25 by concepts of the candidates of queries and vectors",
    title_weight=lambda _: TITLE_WEIGHT,
    uses=frozenset({"hits_per_query", "candidates", "without", "constraints"}),
    reranks=True,
    later=(NEAREST, BRIDGES, FEEDBACK),
)
