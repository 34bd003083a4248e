"""The baseline: one OR query of the whole question with a small title clause, ordered by BM25."""

from retriever.keywords.choice import KeywordChoice
from retriever.methods import Method
from retriever.query_plan import QUESTION, NamedQuery, QueryPlan, question_query
from retriever.question.analysis import AnalysedQuestion
from retriever.requests.context import SearchContext
from retriever.stages.pool import CandidatePool
from retriever.stages.stages import Ranking


def plan(context: SearchContext, question: AnalysedQuestion, _: KeywordChoice | None) -> QueryPlan:
    """Plan one query of the whole question."""
    if question.is_empty:
        return QueryPlan()
    options = context.options
    query = question_query(
        question, title_weight=options.title_weight or 0.0, count_repeats=options.count_repeats
    )
    return QueryPlan((NamedQuery(QUESTION, query, context.request.k),))


async def rank(
    context: SearchContext,
    question: AnalysedQuestion,
    chosen: KeywordChoice | None,
    planned: QueryPlan,
    pool: CandidatePool,
) -> Ranking:
    """Keep the engine's order."""
    del context, question, chosen, planned
    return Ranking(tuple((hit, hit.score) for hits in pool.found.values() for hit in hits))


METHOD = Method(
    plan=plan,
    rank=rank,
    order="BM25 of one OR query over the question's words",
    title_weight=lambda settings: settings.title_weight,
    uses=frozenset({"count_repeats"}),
)
