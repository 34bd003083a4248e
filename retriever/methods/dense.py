"""All passages by the cosine of their vectors with the question's."""

from retriever.errors import BadFilter
from retriever.keywords.choice import KeywordChoice
from retriever.methods import Method
from retriever.query_plan import NEAREST, QueryPlan
from retriever.question.analysis import AnalysedQuestion
from retriever.requests.context import SearchContext
from retriever.stages.pool import CandidatePool
from retriever.stages.stages import Ranking, collapsed

CONFIGURE = "configure an encoder (SHRAG_ENCODER__PROVIDER) and encode the passages"


def plan(context: SearchContext, _: AnalysedQuestion, __: KeywordChoice | None) -> QueryPlan:
    """Plan a search for the nearest passages."""
    return QueryPlan(nearest=context.request.k)


async def rank(
    context: SearchContext,
    question: AnalysedQuestion,
    chosen: KeywordChoice | None,
    planned: QueryPlan,
    pool: CandidatePool,
) -> Ranking:
    """Keep the order of the cosines.

    Raises:
        BadFilter: the index has no vectors, or they cannot be compared with the question.
        ResourceError: the encoder failed.
    """
    del question, chosen, planned
    if pool.vector is None:
        if pool.encoder_failure:
            raise pool.encoder_failure
        name = context.index.manifest.name
        reason = context.index.vectors.disabled_reason or f"index {name!r} has none"
        remedy = "" if context.index.vectors.disabled_reason else CONFIGURE
        raise BadFilter(f"method 'dense' needs vectors: {reason}", remedy=remedy, index=name)
    return nearest_first(context, pool)


def nearest_first(context: SearchContext, pool: CandidatePool) -> Ranking:
    """Order the nearest passages by cosine; each paper once if hits are papers."""
    ranked = [(hit, hit.score) for hit in pool.found[NEAREST]]
    hits = collapsed(ranked) if context.request.collapse else tuple(ranked)
    return Ranking(hits, cosines=pool.cosines(), by_vectors=True)


METHOD = Method(
    plan=plan,
    rank=rank,
    order="cosine of the question's and the passages' vectors",
    order_by_vectors="cosine of the question's and the passages' vectors",
    uses=frozenset({"constraints"}),
    reranks=True,
)
