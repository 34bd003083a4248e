"""A search, stage by stage.

`search` and `rank` run all stages. To stop between two stages, edit a value and continue, open a context and
call `run_stages`, which keeps given values and computes the missing ones.

    context = open_search(index, SearchRequest("지식 그래프와 환각"), settings)
    stages = await run_stages(context, upto="plan")
    stages = await run_stages(context, stages.with_plan(stages.plan.without("SQ1")))
    result = await present(context, stages)
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import TypeAlias

from base.untrusted import one_line
from retriever.errors import BadFilter
from retriever.index import OpenIndex, SearchIndex
from retriever.keywords.given import check_given
from retriever.methods import Method, method_named
from retriever.query_plan import ALL_LEFT_OUT, NEAREST, NOTHING_TO_SEARCH
from retriever.question.analysis import analyse_question
from retriever.requests.context import PassageCache, SearchContext, SearchRecorder
from retriever.requests.request import (
    ConstraintSource,
    SearchOptions,
    SearchRequest,
    check_question,
    with_constraints,
)
from retriever.searching.penalties import penalise
from retriever.searching.presenting import applied_search, present
from retriever.searching.reranking import rerank
from retriever.searching.sorting import sorted_depth
from retriever.settings import RetrieverSettings
from retriever.stages.hits import AppliedSearch, SearchResult
from retriever.stages.papers_without_abstract import only_complete
from retriever.stages.pool import find_candidates
from retriever.stages.stages import Ranking, Stage, Stages, computed

__all__ = ["SearchRequest", "Stages", "open_search", "present", "rank", "run_stages", "search"]

MOST_HITS = 10_000
MOST_TITLE_WEIGHT = 10
MARGIN = 10  # hits ranked beyond k, since some of the first may be duplicates

Further: TypeAlias = Callable[[SearchContext, Stages], Awaitable[Stages]]


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """The run for one question, (id, score) best first, and the configuration that took effect."""

    hits: tuple[tuple[str, float], ...]
    applied: AppliedSearch


async def search(
    index: OpenIndex, request: SearchRequest, settings: RetrieverSettings, stages: Stages | None = None
) -> SearchResult:
    """Search, and return hits with the record of the search.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """

    async def of_version(version: SearchIndex) -> SearchResult:
        async def searched() -> SearchResult:
            context = open_search(version, request, settings)
            return await present(context, await run_stages(context, stages or Stages()))

        return await version.in_one_thread(searched)

    return await index.ask(of_version)


async def rank(
    index: OpenIndex, request: SearchRequest, settings: RetrieverSettings, further: Further | None = None
) -> RankedQuestion:
    """Return the run for one question: at most k hits, passage_ids or with `collapse` doc_ids.

    Duplicates and incomplete papers are kept, because runs are compared with qrels. A `further` stage may
    change the ranking.
    """

    async def of_version(version: SearchIndex) -> RankedQuestion:
        context = open_ranking(version, request, settings)
        stages = await run_stages(context)
        if further:
            stages = await further(context, stages)
        ranking = computed(stages.ranking).cut(request.k)
        by = attrgetter("doc_id" if request.collapse else "passage_id")
        hits = tuple((by(hit), score) for hit, score in ranking.hits)
        return RankedQuestion(hits, applied_search(context, stages))

    async def in_one_thread(version: SearchIndex) -> RankedQuestion:
        return await version.in_one_thread(partial(of_version, version))

    return await index.ask(of_version if further else in_one_thread)


def open_search(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> SearchContext:
    """Open a search for hits to show: a few more than k, without incomplete papers if the settings say so.

    Raises:
        BadQuestion, BadFilter: a request that cannot be used.
    """
    _check_hits(request.k, MOST_HITS)
    filters = only_complete(request.filters, settings)
    depth = sorted_depth(request)
    context = open_ranking(index, replace(request, k=depth + MARGIN, filters=filters), settings)
    return replace(context, shown=request.k, sorted=depth)


def open_ranking(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> SearchContext:
    """Open a search for exactly k hits, with the filters of the request alone.

    Raises:
        BadQuestion, BadFilter: a request that cannot be used.
    """
    method = method_named(request.method)
    check_question(request.question)
    _check_hits(request.k, MOST_HITS + MARGIN)
    if request.title_weight is not None and not 0 <= request.title_weight <= MOST_TITLE_WEIGHT:
        raise BadFilter(f"the title weight {request.title_weight} is not between 0 and {MOST_TITLE_WEIGHT}")
    if request.title_weight is not None and method.title_weight is None:
        raise BadFilter(f"method {request.method!r} has no title clause; leave the title weight out")
    if typed := request.typed_keywords:
        if method.keywords is None:
            raise BadFilter(f"method {request.method!r} takes no keywords; leave them out")
        check_given(typed)
    default_weight = method.title_weight(settings) if method.title_weight else None
    options = SearchOptions(
        method=request.method,
        title_weight=default_weight if request.title_weight is None else request.title_weight,
        keyword_count=settings.keywords,
        hits_per_query=settings.hits_per_query,
        keyword_ranking=settings.ranking,
        rank_given_keywords=settings.keywords_ranked,
        count_repeats=settings.count_repeats,
        candidates=settings.candidates,
        rerank_depth=settings.rerank_depth,
        drop_incomplete=request.filters.complete is True,
        constraints=_constraint_source(request, method, settings),
        this_year=settings.this_year or datetime.now().astimezone().year,
        without=settings.without,
    )
    request = with_constraints(request, options)
    recorder = SearchRecorder(notes=list(index.notes))
    k = request.k
    return SearchContext(index, request, options, recorder, PassageCache(index), shown=k, sorted=k)


def _constraint_source(
    request: SearchRequest, method: Method, settings: RetrieverSettings
) -> ConstraintSource | None:
    """Return the source of a search's constraints; None if it has none."""
    if "constraints" not in method.uses:
        if request.constraints:
            raise BadFilter(f"method {request.method!r} takes no constraints; leave them out")
        return None
    if request.constraints is not None:
        return "given"
    return "question" if settings.constraints else None


async def run_stages(
    context: SearchContext, stages: Stages | None = None, *, upto: Stage = "ranking"
) -> Stages:
    """Compute the missing stages up to `upto`."""
    stages = stages or Stages()
    method = method_named(context.request.method)
    order = [stage.name for stage in fields(Stages)]
    with context.recorder.timed("total"):
        for stage in order[: order.index(upto) + 1]:
            if getattr(stages, stage) is None:
                stages = await _STAGES[stage](context, method, stages)
    return stages


async def _analyse(context: SearchContext, method: Method, stages: Stages) -> Stages:
    with context.recorder.timed("keywords"):
        constraints = context.request.constraints
        analyse = method.analyse or partial(
            analyse_question,
            constraints=constraints,
            synonyms=method.synonyms,
            plain_words=method.plain_words and "word-forms" not in context.options.without,
        )
        question = await context.index.threads.run(analyse, context.index, context.request.question)
    for note in question.constraints.notes():
        context.recorder.note(note)
    if question.is_empty:
        context.recorder.note(NOTHING_TO_SEARCH)
    if context.index.synonyms and not method.synonyms:
        context.recorder.note(f"method {context.request.method!r} searches without synonyms")
    for expansion in question.synonyms:
        if expansion.is_noted:
            others = ", ".join(equivalent.text for equivalent in expansion.equivalents)
            context.recorder.note(f"{expansion.text} is also searched for as {others}")
    return replace(stages, question=question)


async def _choose_keywords(context: SearchContext, method: Method, stages: Stages) -> Stages:
    question = computed(stages.question)
    if method.keywords is None or question.is_empty:
        return stages
    with context.recorder.timed("keywords"):
        return replace(stages, keywords=await method.keywords(context, question))


async def _plan(context: SearchContext, method: Method, stages: Stages) -> Stages:
    question, skip = computed(stages.question), context.request.skip
    plan = method.plan(context, question, stages.keywords)
    if skip and not question.is_empty:
        names = plan.names if context.index.vectors.usable else plan.without(NEAREST).names
        if unknown := [name for name in skip if name not in {*names, *method.later}]:
            raise BadFilter(f"no query {one_line(unknown[0])!r} to leave out; there are {', '.join(names)}")
        if set(names) <= set(skip):
            context.recorder.note(ALL_LEFT_OUT)
    return replace(stages, plan=plan.without(*skip))


async def _find(context: SearchContext, _: Method, stages: Stages) -> Stages:
    return replace(stages, pool=await find_candidates(context, computed(stages.plan)))


async def _rank(context: SearchContext, method: Method, stages: Stages) -> Stages:
    question, plan, pool = computed(stages.question), computed(stages.plan), computed(stages.pool)
    if context.request.skip and not plan.names and not any(pool.found.values()):
        return replace(stages, ranking=Ranking())
    ranking = await method.rank(context, question, stages.keywords, plan, pool)
    ranking = await rerank(context, ranking) if method.reranks else ranking
    return replace(stages, ranking=await penalise(context, question, ranking))


_STAGES = {"question": _analyse, "keywords": _choose_keywords, "plan": _plan, "pool": _find, "ranking": _rank}


def _check_hits(k: int, most: int) -> None:
    if not 1 <= k <= most:
        raise BadFilter(f"{k} hits were requested; request 1 to {MOST_HITS:,}")
