"""The tuned default: candidates of keywords, whole question and vector, by lexical features and cosine."""

from retriever.candidates import NEAREST_POOL, OTHER_POOL, POOL, make_candidates
from retriever.context import SearchContext
from retriever.engines import EngineHit
from retriever.feature_ranking import lexical_order, semantic_order
from retriever.keyword_choice import KeywordChoice, choose_keywords
from retriever.methods import Method
from retriever.methods.dense import nearest_first
from retriever.plan import NamedQuery, QueryPlan, progressive_queries, respelled_query, translated_query
from retriever.pool import CandidatePool, find_cosines, nearest_passages, with_vector
from retriever.query_names import NEAREST, QUESTION, TRANSLATION
from retriever.question import AnalysedQuestion
from retriever.ranking import Ranking, collapsed

TITLE_WEIGHT = 0.4  # the weights of feature_ranking.py were found with it


def plan(context: SearchContext, question: AnalysedQuestion, chosen: KeywordChoice | None) -> QueryPlan:
    """Ask for the whole question, its words in the other language, SQ10 … SQ1, and the nearest passages."""
    options = context.options
    if question.is_empty or chosen is None:
        return QueryPlan(nearest=context.request.k)  # a question without tokens
    title_weight = options.title_weight or 0.0
    whole = respelled_query(question, chosen, title_weight=title_weight)
    queries = [NamedQuery(QUESTION, whole, max(POOL, context.request.k))]
    if other := translated_query(question, chosen, title_weight=title_weight):
        queries.append(NamedQuery(TRANSLATION, other, OTHER_POOL))
    read = len(queries)
    queries += progressive_queries(question, chosen, hits_per_query=options.hits_per_query)
    return QueryPlan(tuple(queries), NEAREST_POOL if options.candidates == "both" else 0, read)


async def rank(
    context: SearchContext,
    question: AnalysedQuestion,
    chosen: KeywordChoice | None,
    planned: QueryPlan,
    pool: CandidatePool,
) -> Ranking:
    """Order the candidates; the other hits of the whole question follow behind them."""
    pool = await with_vector(context, pool)
    if chosen is None or not any(pool.found.values()) or pool.found.keys() == {NEAREST}:
        return await _nearest_only(context, pool)
    candidates = await make_candidates(context, question, chosen, planned, pool)
    if not candidates.hits and pool.vector is not None:
        return await _nearest_only(context, pool)
    cosines = await find_cosines(context, pool, [hit.passage_id for hit in candidates.hits])
    of_candidates = [cosines.get(hit.passage_id) for hit in candidates.hits]
    by_vectors = any(cosine is not None for cosine in of_candidates)
    with context.recorder.timed("order"):
        rows = candidates.features
        places = semantic_order(rows, of_candidates) if by_vectors else lexical_order(rows)
        ordered = [(candidates.hits[place], score) for place, score in places]
        ranked = [*ordered, *_behind(ordered, pool.found.get(QUESTION, ()))]
        by_passage = {hit.passage_id: row for hit, row in zip(candidates.hits, rows, strict=True)}
    return Ranking(
        collapsed(ranked) if context.request.collapse else tuple(ranked),
        features=by_passage,
        cosines=cosines,
        by_vectors=by_vectors,
        replaced=candidates.replaced,
    )


async def _nearest_only(context: SearchContext, pool: CandidatePool) -> Ranking:
    """Rank the nearest passages, if the question has a vector, where no query found anything."""
    if pool.vector is None:
        return Ranking(features={})
    if not pool.found.get(NEAREST):
        pool = pool.with_hits(NEAREST, await nearest_passages(context, pool.vector, context.request.k))
    return nearest_first(context, pool)


def _behind(
    ordered: list[tuple[EngineHit, float]], by_question: tuple[EngineHit, ...]
) -> list[tuple[EngineHit, float]]:
    """Return the hits of the whole question that are no candidates, scored below them in their order."""
    taken = {hit.passage_id for hit, _ in ordered}
    rest = [hit for hit in by_question if hit.passage_id not in taken]
    last = ordered[-1][1] if ordered else 1.0
    top = (rest[0].score if rest else 0.0) or 1.0  # a word that all passages hold scores 0
    return [(hit, last * 0.999 * hit.score / top) for hit in rest]


METHOD = Method(
    keywords=choose_keywords,
    plan=plan,
    rank=rank,
    order="weighted lexical features of the progressive queries' candidates",
    order_by_vectors="weighted lexical features and cosine of the candidates of queries and vectors",
    title_weight=lambda _: TITLE_WEIGHT,
    uses=frozenset({"hits_per_query", "candidates", "word_forms", "constraints"}),
    reranks=True,
)
