"""Algorithm 1 of the SHRAG paper: ten papers for each of SQ10 … SQ1, and their union in one order.

It has no additions: no title clause, no near spellings, no synonyms.
"""

from functools import partial

from retriever.keywords.choice import KeywordChoice, choose_keywords
from retriever.methods import Method
from retriever.query_plan import QueryPlan, progressive_name, progressive_queries
from retriever.question.analysis import AnalysedQuestion
from retriever.requests.context import SearchContext
from retriever.stages.fusion import cosine_order, reciprocal_rank_fusion
from retriever.stages.pool import CandidatePool, find_cosines, with_vector
from retriever.stages.stages import Ranking, collapsed


def plan(context: SearchContext, question: AnalysedQuestion, chosen: KeywordChoice | None) -> QueryPlan:
    """Plan the progressive queries."""
    if chosen is None:
        return QueryPlan()
    return QueryPlan(progressive_queries(question, chosen, hits_per_query=context.options.hits_per_query))


async def rank(
    context: SearchContext,
    question: AnalysedQuestion,
    chosen: KeywordChoice | None,
    planned: QueryPlan,
    pool: CandidatePool,
) -> Ranking:
    """Order the union by cosine, or by reciprocal rank fusion without vectors."""
    del question, planned
    found = list(pool.found.values())
    if not found or chosen is None:
        return Ranking()
    hits = {hit.passage_id: hit for ranked in reversed(found) for hit in ranked}
    # If a question has m < 10 keywords, SQ10 … SQm are one query, sent once.
    m = len(chosen.keywords)
    longest = [pool.found[progressive_name(m)]] if progressive_name(m) in pool.found else []
    repeated = longest * (context.options.keyword_count - m)
    fused = reciprocal_rank_fusion([[hit.passage_id for hit in ranked] for ranked in (*repeated, *found)])
    cosines = await find_cosines(context, await with_vector(context, pool), list(hits))
    ordered = cosine_order(fused, cosines) if cosines else fused
    ranked_hits = [(hits[scored.item], scored.score) for scored in ordered]
    return Ranking(
        collapsed(ranked_hits) if context.request.collapse else tuple(ranked_hits),
        cosines=cosines,
        by_vectors=bool(cosines),
    )


METHOD = Method(
    keywords=partial(choose_keywords, spellings=False),
    plan=plan,
    rank=rank,
    order="reciprocal rank fusion of the progressive queries",
    order_by_vectors="cosine of the question's and the passages' vectors, of the progressive queries' union",
    synonyms=False,
    uses=frozenset({"hits_per_query"}),
    reranks=True,
)
