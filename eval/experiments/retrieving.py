"""Retrieval of a topic by progressive queries, with changes to its keywords or queries."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace

from eval.experiments.materials import Materials
from eval.runs import Ranking
from eval.strategies import strategy_of_topic
from generator.llm import LanguageModel
from retriever.queries.boolean import Or, Phrase, Query, Term
from retriever.queries.keywords import Keyword
from retriever.query_plan import QueryPlan
from retriever.request import SearchContext, SearchRequest
from retriever.search import open_search, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.pool import CandidatePool
from retriever.stages.stages import Stages, computed
from retriever.strategy import Strategy

METHOD = "paper"  # Algorithm 1 of SHRAG

# Questions of the running topic for which statistics replaced the strategy of the model.
unusable_replies: ContextVar[list[str]] = ContextVar("unusable_replies")

ChangeKeywords = Callable[[Sequence[Keyword]], Sequence[Keyword]]
ChangePlan = Callable[[QueryPlan], QueryPlan]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The first documents of a topic with their scores, and the union of the documents of all queries."""

    ranking: Ranking
    union: frozenset[str]


@dataclass(frozen=True, slots=True)
class OpenTopic:
    """A topic whose keywords are chosen: its search, and the stages so far. Variants of it start here."""

    context: SearchContext
    stages: Stages

    @property
    def keywords(self) -> Sequence[Keyword]:
        """The keywords, most important first; none for a question without words."""
        return self.stages.terms.keywords if self.stages.terms else ()


async def strategy_of(
    materials: Materials, query_id: str, question: str, model: LanguageModel | None = None
) -> Strategy | None:
    """Return the recorded strategy of a topic, or that of the language model; None leads to statistics.

    Questions with an unusable answer of the model are added to `unusable_replies`.

    Raises:
        ModelFailed: the language model failed.
    """
    model = model or materials.model
    if query_id in materials.strategies or model is None:
        return materials.strategies.get(query_id)
    strategy = (await strategy_of_topic(SearchRequest(question), model)).strategy
    if strategy is None:
        unusable_replies.get([]).append(question)
    return strategy


async def open_topic(
    question: str,
    k: int,
    materials: Materials,
    strategy: Strategy | None,
    settings: RetrieverSettings | None = None,
) -> OpenTopic:
    """Analyse the keywords of a topic of which k documents are retrieved; without a strategy by statistics.

    `settings` replace the settings of the materials.
    """
    request = SearchRequest(question, method=METHOD, k=k, collapse=materials.collapses, strategy=strategy)
    context = open_search(materials.index, request, settings or materials.settings.retriever)
    return OpenTopic(context, await run_stages(context, upto="terms"))


async def retrieve(
    topic: OpenTopic,
    materials: Materials,
    *,
    keywords: ChangeKeywords | None = None,
    plan: ChangePlan | None = None,
) -> Retrieved:
    """Retrieve the documents of a topic by the progressive queries of the paper.

    `keywords` and `plan` change the chosen keywords and the queries. A topic whose keywords are all dropped
    retrieves nothing.
    """
    context, stages = topic.context, topic.stages
    if keywords and stages.terms:
        kept = keywords(stages.terms.keywords)
        if not kept:
            return Retrieved([], frozenset())
        stages = replace(stages, terms=replace(stages.terms, keywords=tuple(kept)))
    if plan:
        stages = await run_stages(context, stages, upto="plan")
        stages = stages.with_plan(plan(computed(stages.plan)))
    stages = await run_stages(context, stages)
    return Retrieved(ranking_of(stages, materials, context.shown), union_of(computed(stages.pool), materials))


async def ranked_by(materials: Materials, request: SearchRequest, settings: RetrieverSettings) -> Ranking:
    """Return the first documents of a search, in the unit of the index."""
    context = open_search(materials.index, replace(request, collapse=materials.collapses), settings)
    return ranking_of(await run_stages(context), materials, request.k)


def ranking_of(stages: Stages, materials: Materials, k: int) -> Ranking:
    """Return the first k documents of a search, in the unit of the index."""
    hits = computed(stages.ranking).cut(k).hits
    return [(materials.id_of(hit), score) for hit, score in hits]


def share_of(relevant: frozenset[str], found: Iterable[str]) -> float:
    """Return the share of the relevant documents that were found."""
    return len(relevant.intersection(found)) / len(relevant)


def ids_of(ranking: Ranking) -> list[str]:
    """Return the ids of a ranking, best first."""
    return [found for found, _ in ranking]


def run_name(row: str) -> str:
    """Return the name of the run of a table's row, for a file."""
    return re.sub(r"[^\w.]+", "-", row).strip("-")


def runs_by_row(rankings: Mapping[str, Ranking]) -> dict[str, Ranking]:
    """Return the rankings of rows by the names of their runs."""
    return {run_name(row): ranking for row, ranking in rankings.items()}


def as_phrases(plan: QueryPlan) -> QueryPlan:
    """Search for a keyword of several tokens as a phrase, instead of any of its tokens."""
    return replace(
        plan,
        queries=tuple(replace(named, query=_with_phrases(named.query)) for named in plan.queries),
    )


def _with_phrases(query: Query) -> Query:
    if isinstance(query, Or):
        return Or(tuple(map(_with_phrases, query.clauses)))
    if isinstance(query, Term) and len(query.tokens) > 1:
        return Phrase(query.text, tuple(enumerate(query.tokens)), query.field, query.weight)
    return query


def union_of(pool: CandidatePool, materials: Materials) -> frozenset[str]:
    """Return the documents that any query found."""
    return frozenset(materials.id_of(hit) for hits in pool.found.values() for hit in hits)
