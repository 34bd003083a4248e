"""Retrieval of a topic by progressive queries, with changes to its keywords or queries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from eval.reproduction.experiment import Materials
from retriever.queries.keywords import Keyword
from retriever.query_plan import QueryPlan
from retriever.requests.request import SearchRequest
from retriever.search import open_search, run_stages
from retriever.settings import KeywordRanking
from retriever.stages.stages import computed

METHOD = "paper"  # Algorithm 1 of SHRAG

ChangeKeywords = Callable[[Sequence[Keyword]], Sequence[Keyword]]
ChangePlan = Callable[[QueryPlan], QueryPlan]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The first documents of a topic with their scores, and the union of the documents of all queries."""

    ranking: list[tuple[str, float]]
    union: frozenset[str]


async def retrieve(
    question: str,
    k: int,
    materials: Materials,
    *,
    keywords: ChangeKeywords | None = None,
    plan: ChangePlan | None = None,
    importance: KeywordRanking | None = None,
) -> Retrieved:
    """Retrieve at most k documents by the progressive queries of the paper.

    `keywords` and `plan` change the chosen keywords and the queries; `importance` replaces that of the
    settings. A topic whose keywords are all dropped retrieves nothing.
    """
    settings = materials.settings
    if importance:
        settings = settings.model_copy(update={"ranking": importance})
    request = SearchRequest(question, method=METHOD, k=k, collapse=materials.collapses)
    context = open_search(materials.index, request, settings)
    stages = await run_stages(context, upto="keywords")
    if keywords and stages.keywords:
        kept = keywords(stages.keywords.keywords)
        if not kept:
            return Retrieved([], frozenset())
        stages = stages.with_keywords(replace(stages.keywords, keywords=tuple(kept)))
    if plan:
        stages = await run_stages(context, stages, upto="plan")
        stages = stages.with_plan(plan(computed(stages.plan)))
    stages = await run_stages(context, stages)
    hits = computed(stages.ranking).cut(k).hits
    union = (hit for of_query in computed(stages.pool).found.values() for hit in of_query)
    return Retrieved(
        [(materials.id_of(hit), score) for hit, score in hits], frozenset(map(materials.id_of, union))
    )
