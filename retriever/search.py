"""A search, stage by stage.

`search` and `rank` run all stages in a thread of the index. To stop between two stages, edit a value and
continue, open a context and call `run_stages`, which keeps given values and computes the missing ones. Stages
are synchronous; a coroutine calls them by `index.run`.

    context = open_search(index, SearchRequest("지식 그래프와 환각"), settings)
    stages = run_stages(context, upto="plan")
    stages = run_stages(context, stages.with_plan(stages.plan.without("SQ1")))
    result = present(context, stages)
"""

from dataclasses import dataclass, fields, replace
from operator import attrgetter

from base.notes import Note
from base.untrusted import one_line
from indexer.corpora.papers import LAST_YEAR
from retriever.conditions import Conditions, find_conditions
from retriever.errors import BadFilter
from retriever.index import OpenIndex, SearchIndex
from retriever.known_items import known_first, known_items
from retriever.methods import Method, method_named
from retriever.opening.worker_threads import check_cancelled
from retriever.presenting import applied_search, present, sorted_depth
from retriever.queries.boolean import Range
from retriever.query_plan import ALL_LEFT_OUT, BRIDGES, FEEDBACK, NEAREST, NOTHING_TO_SEARCH
from retriever.question import Question
from retriever.ranking import plan_queries, rank_pool
from retriever.request import (
    PassageCache,
    SearchContext,
    SearchRecorder,
    SearchRequest,
    check_question,
)
from retriever.settings import RetrieverSettings
from retriever.stages.hits import AppliedSearch, SearchResult
from retriever.stages.pool import find_candidates
from retriever.stages.stages import Ranking, Stage, Stages, computed
from retriever.terms import SearchTerms, choose_terms, read_question
from retriever.written_filters import written_filters

__all__ = ["SearchRequest", "Stages", "open_search", "present", "rank", "run_stages", "search", "terms_of"]

MAX_HITS = 10_000
MAX_TITLE_WEIGHT = 10
MARGIN = 10  # hits ranked beyond k, since some of the first may be duplicates


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

    def of_version(version: SearchIndex) -> SearchResult:
        return run_search(open_search(version, request, settings), stages)[1]

    return await index.run(of_version)


def run_search(context: SearchContext, stages: Stages | None = None) -> tuple[Stages, SearchResult]:
    """Run the missing stages, and return all stages and the result; known items first if none are given."""
    known = known_items(context) if stages is None else None
    only = Stages(ranking=Ranking()) if known and known.kind == "doi" else None
    found = run_stages(context, stages or only)
    if known is None:
        return found, present(context, found)
    found = replace(found, ranking=known_first(known, computed(found.ranking)))
    result = present(context, found)
    notes = (*(note for note in result.notes if note != NOTHING_TO_SEARCH), known.note)
    return found, replace(result, notes=notes, likelihood=None, unknown_words=())


async def rank(index: OpenIndex, request: SearchRequest, settings: RetrieverSettings) -> RankedQuestion:
    """Return the run for one question: at most k hits, passage_ids or with `collapse` doc_ids.

    Duplicates and incomplete papers are kept, because runs are compared with qrels.
    """

    def of_version(version: SearchIndex) -> RankedQuestion:
        context = open_ranking(version, replace(request, phrases=False), settings)
        stages = run_stages(context)
        ranking = computed(stages.ranking).cut(request.k)
        by = attrgetter("doc_id" if request.collapse else "passage_id")
        hits = tuple((by(hit), score) for hit, score in ranking.hits)
        return RankedQuestion(hits, applied_search(context, stages))

    return await index.run(of_version)


def open_search(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> SearchContext:
    """Open a search for hits to show: a few more than k, without incomplete papers if the settings say so.

    Raises:
        BadQuestion, BadFilter: a request that cannot be used.
    """
    _check_hits(request.k, MAX_HITS)
    filters, depth = request.filters, sorted_depth(request)
    if settings.drop_incomplete and filters.complete is None:
        filters = replace(filters, complete=True)
    context = open_ranking(index, replace(request, k=depth + MARGIN, filters=filters), settings)
    return replace(context, shown=request.k, sorted=depth)


def open_ranking(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> SearchContext:
    """Open a search for exactly k hits, with the filters of the request alone.

    Raises:
        BadQuestion, BadFilter: a request that cannot be used.
    """
    method = method_named(request.method)
    check_question(request.question)
    _check_hits(request.k, MAX_HITS + MARGIN)
    weight = request.title_weight
    if weight is not None and not 0 <= weight <= MAX_TITLE_WEIGHT:
        raise BadFilter(f"the title weight {weight} is not between 0 and {MAX_TITLE_WEIGHT}")
    if weight is not None and not method.has_title_clause:
        raise BadFilter(f"method {request.method!r} has no title clause; leave the title weight out")
    if weight is None and method.has_title_clause:
        weight = settings.title_weight
    request = replace(request, title_weight=weight)
    conditions = Conditions(request.question)
    if request.conditions and method.has_conditions:
        conditions = find_conditions(request.question, fields=index.engine.lexicon is not None)
    recorder = SearchRecorder(notes=list(index.notes))
    if not method.uses_strategy and (request.strategy or request.keywords or request.exclude):
        recorder.note(Note("strategy_ignored", method=request.method))
        request = replace(request, strategy=None, keywords=None, exclude=())
    k = request.k
    passages = PassageCache(index)
    return SearchContext(index, request, settings, conditions, recorder, passages, shown=k, sorted=k)


def run_stages(context: SearchContext, stages: Stages | None = None, *, upto: Stage = "ranking") -> Stages:
    """Compute the missing stages up to `upto`."""
    stages = stages or Stages()
    method = method_named(context.request.method)
    order = [stage.name for stage in fields(Stages)]
    with context.recorder.timed("total"):
        for stage in order[: order.index(upto) + 1]:
            if getattr(stages, stage) is None:
                check_cancelled()
                stages = _STAGES[stage](with_conditions(context, stages), method, stages)
    return stages


def terms_of(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> SearchTerms | None:
    """Return the strategy of a search with its tokens; None without words, or if its method has none."""
    context = open_ranking(index, request, settings)
    return run_stages(context, upto="terms").terms


def with_conditions(context: SearchContext, stages: Stages) -> SearchContext:
    """Return the context with the years of the strategy, and the filters of the question, in its filters.

    Raises:
        BadFilter: no year is in both the strategy and the filter.
    """
    filters = context.request.filters
    if not method_named(context.request.method).has_conditions or not stages.question:
        return context
    filters = replace(filters, written=(*filters.written, *stages.question.filters))
    if asked := stages.terms.strategy.year_range if stages.terms else None:
        given = filters.years or Range(None, None)
        if (asked.low or 0) > (given.high or LAST_YEAR) or (given.low or 0) > (asked.high or LAST_YEAR):
            raise BadFilter(Note("years_exclude_each_other"))
        filters = replace(filters, years_if_known=asked)
    return context.with_filters(filters)


def _analyse(context: SearchContext, method: Method, stages: Stages) -> Stages:
    index, request = context.index, context.request
    with context.recorder.timed("keywords"):
        if method.is_expression:
            from retriever.queries.expert import expression_notes, parse_expression

            query = parse_expression(request.question, index.analyzer)
            for note in expression_notes(request.question):
                context.recorder.note(note)
            question = Question(request.question, expression=query and index.synonyms.expanded(query))
        else:
            question = read_question(context, synonyms=method.synonyms)
            question = replace(question, filters=written_filters(context, question.conditions))
    if question.is_empty:
        context.recorder.note(NOTHING_TO_SEARCH)
    if index.synonyms and not method.synonyms:
        context.recorder.note(Note("synonyms_ignored", method=request.method))
    for expansion in question.synonyms:
        others = ", ".join(equivalent.text for equivalent in expansion.equivalents)
        context.recorder.note(Note("searched_also", text=expansion.text, others=others))
    return replace(stages, question=question)


def _choose_terms(context: SearchContext, method: Method, stages: Stages) -> Stages:
    question = computed(stages.question)
    if not method.uses_strategy or question.is_empty or question.expression is not None:
        return stages
    with context.recorder.timed("keywords"):
        terms = choose_terms(context, question)
    for each in terms.exclusions if method.has_conditions else ():
        if not each.names:
            context.recorder.note(Note("exclusion_empty", text=each.text))
    if terms.exclusions and not method.has_conditions:
        context.recorder.note(Note("exclusions_ignored", method=context.request.method))
    if method.has_conditions and (years := terms.strategy.year_range):
        range_ = f"{years.low or ''}–{years.high or ''}"
        context.recorder.note(Note("years_only", years=range_))
    return replace(stages, terms=terms)


def _plan(context: SearchContext, method: Method, stages: Stages) -> Stages:
    question, skip = computed(stages.question), context.request.skip
    plan = plan_queries(context, question, stages.terms)
    if skip and not question.is_empty:
        later = (NEAREST, BRIDGES, FEEDBACK) if method.has_conditions else ()
        names = plan.names if context.index.vectors.usable else plan.without(NEAREST).names
        if unknown := [name for name in skip if name not in {*names, *later}]:
            raise BadFilter(Note("no_such_query", query=one_line(unknown[0]), there=", ".join(names)))
        if set(names) <= set(skip):
            context.recorder.note(ALL_LEFT_OUT)
    return replace(stages, plan=plan.without(*skip))


def _find(context: SearchContext, _: Method, stages: Stages) -> Stages:
    text = computed(stages.question).text
    return replace(stages, pool=find_candidates(context, computed(stages.plan), text))


def _rank(context: SearchContext, _: Method, stages: Stages) -> Stages:
    plan, pool = computed(stages.plan), computed(stages.pool)
    if context.request.skip and not plan.names and not any(pool.found.values()):
        return replace(stages, ranking=Ranking())
    return replace(stages, ranking=rank_pool(context, computed(stages.question), stages.terms, pool))


_STAGES = {"question": _analyse, "terms": _choose_terms, "plan": _plan, "pool": _find, "ranking": _rank}


def _check_hits(k: int, most: int) -> None:
    if not 1 <= k <= most:
        raise BadFilter(Note("hits_out_of_range", k=k, most=MAX_HITS))
