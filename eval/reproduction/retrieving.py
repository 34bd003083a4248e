"""Retrieval of a topic by progressive queries, with changes to its keywords or queries."""

import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace

from eval.keywords import ask_for_keywords
from eval.reproduction.materials import Materials
from eval.runs import Ranking
from generator.llm import LanguageModel
from retriever.queries.boolean import Or, Phrase, Query, Term
from retriever.queries.keywords import Keyword
from retriever.query_plan import QueryPlan
from retriever.requests.context import SearchContext
from retriever.requests.request import SearchRequest
from retriever.search import open_search, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.pool import CandidatePool
from retriever.stages.stages import Stages, computed

METHOD = "paper"  # Algorithm 1 of SHRAG

# Questions of the running topic for which statistics replaced the keywords of the model.
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


async def open_topic(
    question: str,
    k: int,
    materials: Materials,
    *,
    settings: RetrieverSettings | None = None,
    keywords: Sequence[Keyword] | None = None,
) -> OpenTopic:
    """Choose the keywords of a topic of which k documents are retrieved.

    `settings` replace the settings of the materials. Without `keywords` the language model gives them, or
    statistics if there is none.

    Raises:
        ModelFailed: the language model failed.
    """
    settings = settings or materials.settings.retriever
    if keywords is None and materials.model:
        keywords = await keywords_of_model(question, materials.model, materials, settings)
    given = None if keywords is None else tuple(keywords)
    request = SearchRequest(question, method=METHOD, k=k, collapse=materials.collapses, keywords=given)
    context = open_search(materials.index, request, settings)
    return OpenTopic(context, await run_stages(context, upto="keywords"))


async def keywords_of_model(
    question: str, model: LanguageModel, materials: Materials, settings: RetrieverSettings
) -> tuple[Keyword, ...] | None:
    """Return the keywords of a language model; None if its answer is unusable, so that statistics choose.

    Questions with an unusable answer are added to `unusable_replies`.
    """
    most = None if settings.keywords_ranked else settings.keywords
    found = (await ask_for_keywords(question, model, materials.index.analyzer, most=most)).keywords
    if found is None:
        unusable_replies.get([]).append(question)
    return found


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
    if keywords and stages.keywords:
        kept = keywords(stages.keywords.keywords)
        if not kept:
            return Retrieved([], frozenset())
        stages = stages.with_keywords(replace(stages.keywords, keywords=tuple(kept)))
    if plan:
        stages = await run_stages(context, stages, upto="plan")
        stages = stages.with_plan(plan(computed(stages.plan)))
    stages = await run_stages(context, stages)
    return Retrieved(ranking_of(stages, materials, context.shown), union_of(computed(stages.pool), materials))


def ranking_of(stages: Stages, materials: Materials, k: int) -> Ranking:
    """Return the first k documents of a search, in the unit of the index."""
    hits = computed(stages.ranking).cut(k).hits
    return [(materials.id_of(hit), score) for hit, score in hits]


def relevant_in(ranking: Ranking, relevant: frozenset[str]) -> int:
    """Count the relevant documents of a ranking."""
    return len(relevant.intersection(found for found, _ in ranking))


def run_name(row: str) -> str:
    """Return the name of the run of a table's row, for a file."""
    return re.sub(r"[^\w.]+", "-", row).strip("-")


def whole_compounds(plan: QueryPlan) -> QueryPlan:
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
