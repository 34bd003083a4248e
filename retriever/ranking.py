"""The plan and the order of each method: queries of a question, and the ranking of what they find."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from base.errors import ResourceError
from base.notes import Note
from indexer.vectors.spool import text_to_encode
from retriever.engines import EngineHit, NumberedRows
from retriever.engines.ordering import Scored, reciprocal_rank_fusion
from retriever.errors import BadFilter
from retriever.exclusions import demote
from retriever.formula import ScoredCandidates, Scores, scored
from retriever.methods import method_named
from retriever.queries.filters import Filters
from retriever.query_plan import (
    BRIDGES,
    EXPRESSION,
    FEEDBACK,
    NEAREST,
    QUESTION,
    NamedQuery,
    QueryPlan,
    progressive_name,
    progressive_queries,
    question_query,
    weighted_query,
)
from retriever.question import Question
from retriever.request import SearchContext
from retriever.second_search import (
    Feedback,
    SecondSearch,
    feedback_terms,
    has_feedback,
    has_second_search,
    plan_second_search,
)
from retriever.stages.pool import (
    CandidatePool,
    ReadHits,
    encode_question,
    find_all,
    find_cosines,
    nearest_passages,
    read_hits,
)
from retriever.stages.stages import Ranking, collapsed
from retriever.terms import SearchTerms

POOL = 100  # candidates of the question and the keywords
NEAREST_POOL = 100  # candidates of the question's vector
LATER_POOL = 50  # candidates of feedback terms, and of bridges
COSINE_WEIGHT = 0.7  # of the cosine beside the score by words, which is divided by its attainable value
CONFIGURE = "configure an encoder (SHRAG_ENCODER__PROVIDER) and encode the passages"


def plan_queries(context: SearchContext, question: Question, terms: SearchTerms | None) -> QueryPlan:
    """Return the queries of a question by the method of its request; nothing is sent."""
    request, settings = context.request, context.settings
    if question.expression is not None:
        return QueryPlan((NamedQuery(EXPRESSION, question.expression, request.k),))
    match request.method:
        case "boolean":
            return QueryPlan()
        case "dense":
            return QueryPlan(nearest=request.k)
        case "or":
            query = question_query(question, title_weight=request.title_weight or 0.0)
            return QueryPlan() if question.is_empty else QueryPlan((NamedQuery(QUESTION, query, request.k),))
    progressive = progressive_queries(terms.keywords if terms else (), hits_per_query=settings.hits_per_query)
    if request.method == "paper":
        return QueryPlan(progressive)
    if terms is None:
        return QueryPlan(nearest=request.k)  # a question without tokens
    whole = weighted_query(terms.formula.query_weights(), terms.texts)
    first = NamedQuery(QUESTION, whole, max(POOL, request.k))
    return QueryPlan((first, *progressive), NEAREST_POOL, read=1)


def rank_pool(
    context: SearchContext, question: Question, terms: SearchTerms | None, pool: CandidatePool
) -> Ranking:
    """Order what the queries found, rerank it and apply exclusions, as the method does."""
    method = method_named(context.request.method)
    ranking = rank_by_method(context, question, terms, pool)
    if method.reranks and question.expression is None:
        ranking = rerank(context, ranking, question.text)
    if terms and terms.exclusions and method.has_conditions and ranking.hits:
        ranking = apply_exclusions(context, terms, ranking)
    return ranking


def rank_by_method(
    context: SearchContext, question: Question, terms: SearchTerms | None, pool: CandidatePool
) -> Ranking:
    """Order what the queries found by the method of the request, without re-ranking and exclusions."""
    if question.expression is not None or context.request.method in {"boolean", "or"}:  # the engine's order
        return Ranking(tuple((hit, hit.score) for hits in pool.found.values() for hit in hits))
    match context.request.method:
        case "dense":
            return _rank_dense(context, pool, question.text)
        case "paper":
            return _rank_paper(context, question, terms, pool)
    return _rank_shrag(context, question, terms, pool)


def _rank_dense(context: SearchContext, pool: CandidatePool, text: str) -> Ranking:
    """Keep the order of the cosines.

    Raises:
        BadFilter: the index has no vectors, or they cannot be compared with the question.
        ResourceError: the encoder failed.
    """
    if pool.vector is None:
        context.index.vectors.encode(text)  # raises the failure of the encoder
        name, reason = context.index.manifest.name, context.index.vectors.disabled_reason
        remedy = "" if reason else CONFIGURE
        raise BadFilter(
            Note("dense_without_vectors", reason=reason or f"index {name!r} has none"),
            remedy=remedy,
            index=name,
        )
    return _nearest_first(context, pool)


def _nearest_first(context: SearchContext, pool: CandidatePool) -> Ranking:
    """Order the nearest passages by cosine; each paper once if hits are papers."""
    ranked = [(hit, hit.score) for hit in pool.found[NEAREST]]
    hits = collapsed(ranked) if context.request.collapse else tuple(ranked)
    return Ranking(hits, by_vectors=True)


def _rank_paper(
    context: SearchContext, question: Question, terms: SearchTerms | None, pool: CandidatePool
) -> Ranking:
    """Order the union of SQ10 … SQ1 by cosine, or by reciprocal rank fusion without vectors (Algorithm 1)."""
    found = list(pool.found.values())
    if not found or terms is None:
        return Ranking()
    hits = {hit.passage_id: hit for ranked in reversed(found) for hit in ranked}
    # If a strategy has m < 10 keywords, SQ10 … SQm are one query, sent once.
    m = len(terms.keywords)
    longest = [pool.found[progressive_name(m)]] if progressive_name(m) in pool.found else []
    repeated = longest * (context.settings.keywords - m)
    fused = reciprocal_rank_fusion([[hit.passage_id for hit in ranked] for ranked in (*repeated, *found)])
    pool = replace(pool, vector=encode_question(context, question.text))
    cosines = find_cosines(context, pool, list(hits))
    if not cosines:
        context.recorder.note(Note("ordered_by_fusion"))
    ordered = _cosine_order(fused, cosines) if cosines else fused
    ranked_hits = [(hits[each.item], each.score) for each in ordered]
    return Ranking(
        collapsed(ranked_hits) if context.request.collapse else tuple(ranked_hits),
        by_vectors=bool(cosines),
    )


def _cosine_order(ranking: Sequence[Scored], cosines: Mapping[str, float]) -> list[Scored]:
    """Order by cosine; items without a vector follow in their given order.

    Scores are cosines, and below -1 for items without a vector.
    """
    with_vector = [Scored(item, cosines[item]) for item, _ in ranking if item in cosines]
    without = [item for item, _ in ranking if item not in cosines]
    ordered = sorted(with_vector, key=lambda scored: (-scored.score, scored.item))
    return ordered + [Scored(item, -1 - place) for place, item in enumerate(without, 1)]


def _rank_shrag(
    context: SearchContext, question: Question, terms: SearchTerms | None, pool: CandidatePool
) -> Ranking:
    """Order the candidates by the formula; the other hits of the first query follow."""
    if pool.vector is None:  # queries of its plan were left out
        pool = replace(pool, vector=encode_question(context, question.text))
    hits = _candidates(pool)
    if terms is None or not hits or pool.found.keys() == {NEAREST}:
        return _nearest_only(context, pool)
    with context.recorder.timed("order"):
        found = read_hits(context, hits)
        parts = terms.formula.parts(found.read)
    if not found.hits and pool.vector is not None:
        return _nearest_only(context, pool)
    pool, feedback, second = _search_again(context, terms, pool, found, parts)
    known = {hit.passage_id for hit in found.hits}
    new = [hit for hit in _candidates(pool) if hit.passage_id not in known]
    more = read_hits(context, new, known)
    of_more = terms.formula.parts(more.read)
    read = found.read.joined(more.read)
    parts = {name: np.concatenate([values, of_more[name]]) for name, values in parts.items()}
    # One call for all: the last digit of a cosine depends on the batch.
    cosines = {} if pool.vector is None else find_cosines(context, pool, read.ids)
    with context.recorder.timed("order"):
        candidates = _scored(context, terms, read, parts, feedback, second, cosines)
    by_id = {hit.passage_id: hit for hit in (*found.hits, *more.hits)}
    scores = candidates.scores.tolist()
    ordered = [(by_id[candidates.ids[row]], scores[row]) for row in candidates.order]
    ranked = [*ordered, *_other_hits(ordered, pool.found.get(QUESTION, ()))]
    return Ranking(
        collapsed(ranked) if context.request.collapse else tuple(ranked),
        scored=candidates,
        by_vectors=bool(cosines),
        feedback=feedback.weights,
        bridges=second.bridges if second else (),
        pool=pool,
    )


def _candidates(pool: CandidatePool) -> list[EngineHit]:
    """Return the hits to order, each once: the first `POOL` of the first query, then the others."""
    found = {name: hits[:POOL] if name == QUESTION else hits for name, hits in pool.found.items()}
    return list({hit.passage_id: hit for hits in found.values() for hit in hits}.values())


def _search_again(
    context: SearchContext,
    terms: SearchTerms,
    pool: CandidatePool,
    found: ReadHits,
    parts: Mapping[str, Scores],
) -> tuple[CandidatePool, Feedback, SecondSearch | None]:
    """Search by feedback terms and by names of the best passages, in one call."""
    first = scored(found.read.ids, parts, context.settings.without)
    left_out = {*context.settings.without, *context.request.skip}
    feeds = has_feedback(terms) and FEEDBACK not in left_out
    follows = has_second_search(terms) and not left_out & {"second-search", BRIDGES}
    feedback, second = Feedback(), None
    if feeds or follows:
        sources, scores = _sources(context, terms, found, first)
        feedback = feedback_terms(sources.read, scores, terms) if feeds else feedback
        second = plan_second_search(terms, scores, sources.read) if follows else None
    queries = []
    if feedback.weights:
        query = weighted_query(feedback.query_weights, terms.texts)
        queries.append(NamedQuery(FEEDBACK, query, LATER_POOL))
    if second:
        queries.append(NamedQuery(BRIDGES, weighted_query(second.query_weights, terms.texts), LATER_POOL))
    if queries:
        pool = find_all(context, pool, QueryPlan(tuple(queries), read=len(queries)))
    return pool, feedback, second


def _sources(
    context: SearchContext, terms: SearchTerms, found: ReadHits, first: ScoredCandidates
) -> tuple[ReadHits, ScoredCandidates]:
    """Return the passages of feedback and bridges: found without filters, which never change scores."""
    filters = context.request.filters
    is_whole = filters == Filters(complete=filters.complete)
    if is_whole or context.index.engine.lexicon is None:  # sources are not asked again
        return found, first
    unfiltered = context.with_filters(Filters(complete=filters.complete))
    whole = weighted_query(terms.formula.query_weights(), terms.texts)
    plan = QueryPlan((NamedQuery(QUESTION, whole, POOL),), read=1)
    pool = find_all(unfiltered, CandidatePool(), plan)
    read = read_hits(unfiltered, pool.found[QUESTION])
    parts = terms.formula.parts(read.read)
    return read, scored(read.read.ids, parts, context.settings.without)


def _scored(
    context: SearchContext,
    terms: SearchTerms,
    read: NumberedRows,
    parts: dict[str, Scores],
    feedback: Feedback,
    second: SecondSearch | None,
    cosines: Mapping[str, float],
) -> ScoredCandidates:
    """Return all candidates with the parts of their scores."""
    formula = terms.formula
    if feedback.weights:
        parts["feedback"] = feedback.scores(read, formula.statistics)
    if second:
        parts["second-search"] = second.scores(read, formula.statistics)
    if cosines:
        # One convex sum: scores by words as shares of the attainable one.
        base = (1 - COSINE_WEIGHT) / formula.attainable
        parts = {name: base * values for name, values in parts.items()}
        parts["cosine"] = COSINE_WEIGHT * np.array([cosines.get(passage_id, 0.0) for passage_id in read.ids])
    return scored(read.ids, parts, context.settings.without)


def _nearest_only(context: SearchContext, pool: CandidatePool) -> Ranking:
    """Rank the nearest passages if no query found anything and the question has a vector.

    They have no score by words, so there is no evidence of an answer.
    """
    nothing = ScoredCandidates()
    if pool.vector is None or NEAREST in context.request.skip:
        return Ranking(scored=nothing)
    if not pool.found.get(NEAREST):
        pool = pool.with_nearest(nearest_passages(context, pool.vector, context.request.k))
    return replace(_nearest_first(context, pool), scored=nothing, pool=pool)


def _other_hits(
    ordered: Sequence[tuple[EngineHit, float]], by_question: Sequence[EngineHit]
) -> list[tuple[EngineHit, float]]:
    """Return the hits of the first query that are no candidates, with lower scores, in their order."""
    taken = {hit.passage_id for hit, _ in ordered}
    rest = [hit for hit in by_question if hit.passage_id not in taken]
    last = ordered[-1][1] if ordered else 1.0
    top = (rest[0].score if rest else 0.0) or 1.0  # a word that all passages hold scores 0
    return [(hit, last * 0.999 * hit.score / top) for hit in rest]


def rerank(context: SearchContext, ranking: Ranking, text: str) -> Ranking:
    """Order the first hits by the cross-encoder, if one is configured; the others follow them.

    Args:
        context: its `rerank_depth` hits are scored, for any number of requested hits.
        ranking: the hits.
        text: the question without its conditions.

    If the model fails, the order is unchanged, and the failure is recorded.
    """
    depth, encoder = context.settings.rerank_depth, context.index.cross_encoder
    if not encoder.configured or not ranking.hits:
        return ranking
    first, rest = ranking.hits[:depth], ranking.hits[depth:]
    stored = context.passages.of_hits([hit for hit, _ in first])
    texts = [text_to_encode(stored[hit.passage_id]) for hit, _ in first]
    with context.recorder.timed("rerank"):
        try:
            scored_by = encoder.scores(text, texts)
        except ResourceError as error:
            context.recorder.failed("reranker", Note("reranker_failed", error=str(error)))
            return ranking
    if scored_by is None:
        return ranking
    model, scores = scored_by
    pairs = [(hit, score) for (hit, _), score in zip(first, scores, strict=True)]
    ordered = sorted(pairs, key=lambda ranked: (-ranked[1], ranked[0].passage_id))
    lowest = ordered[-1][1]
    behind = [(hit, lowest - place) for place, (hit, _) in enumerate(rest, 1)]
    return replace(ranking, hits=(*ordered, *behind), reranker=model)


def apply_exclusions(context: SearchContext, terms: SearchTerms, ranking: Ranking) -> Ranking:
    """Lower the scores of hits that name an excluded thing."""
    index, hits = context.index, [hit for hit, _ in ranking.hits]
    records: dict[str, str] = {}
    if index.manifest.unit == "paper":
        papers = context.passages.papers(hit.doc_id for hit in hits)
        records = {doc_id: paper.record for doc_id, paper in papers.items()}
    read = index.engine.rows([hit.passage_id for hit in hits])
    with context.recorder.timed("order"):
        kept, losses = demote(ranking.hits, terms.exclusions, read, records, index.analyzer)
    return replace(ranking, hits=tuple(kept), losses=losses)
