"""The way from a question to its hits, stage by stage.

`search` and `rank` run all stages. To stop between two stages, edit a value and continue, open a context and
call `run_stages`: values that are given are kept, the missing ones are computed.

    context = open_search(index, SearchRequest("지식 그래프와 환각"), settings)
    stages = await run_stages(context, upto="plan")
    stages = await run_stages(context, stages.with_plan(stages.plan.without("SQ1")))
    result = await present(context, stages)
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Literal, Self, TypeAlias, TypeVar

from indexer.schema import StoredPassage
from indexer.untrusted import one_line
from retriever.abstracts import prefer_abstracts
from retriever.confidence import EVIDENCE, AnswerabilityFeatures, answerability_features, evidence_score
from retriever.context import PassageCache, SearchContext
from retriever.duplicates import without_duplicates
from retriever.errors import BadFilter, BadQuestion
from retriever.given_keywords import check_given
from retriever.highlights import snippet, title_spans
from retriever.hits import AppliedSearch, Hit, SearchResult
from retriever.index import OpenIndex, SearchIndex
from retriever.keyword_choice import KeywordChoice
from retriever.methods import Method, method_named
from retriever.penalties import penalise
from retriever.plan import QueryPlan
from retriever.pool import CandidatePool, find_candidates
from retriever.queries import searched_tokens
from retriever.query_names import ALL_LEFT_OUT, NEAREST, NOTHING_TO_SEARCH
from retriever.question import AnalysedQuestion, analyse_question
from retriever.ranking import Ranking
from retriever.recorder import SearchRecorder
from retriever.request import ConstraintSource, SearchOptions, SearchRequest, with_constraints
from retriever.reranking import rerank
from retriever.settings import RetrieverSettings
from retriever.term_statistics import inverse_document_frequency

__all__ = ["SearchRequest", "Stages", "open_search", "present", "rank", "run_stages", "search"]

MOST_CHARACTERS = 20_000  # of a question
MOST_HITS = 10_000
MOST_TITLE_WEIGHT = 10
# Hits looked at beyond k, since some of the first may be duplicates.
MARGIN = 10

T = TypeVar("T")
Stage = Literal["question", "keywords", "plan", "pool", "ranking"]


@dataclass(frozen=True, slots=True)
class Stages:
    """What the stages of one search made; None what is not computed yet.

    Methods without keywords leave `keywords` None. A value that is replaced drops those made from it.
    """

    question: AnalysedQuestion | None = None
    keywords: KeywordChoice | None = None
    plan: QueryPlan | None = None
    pool: CandidatePool | None = None
    ranking: Ranking | None = None

    def with_keywords(self, keywords: KeywordChoice) -> Self:
        """Return the stages with other keywords."""
        return replace(self, keywords=keywords, plan=None, pool=None, ranking=None)

    def with_plan(self, plan: QueryPlan) -> Self:
        """Return the stages with another query plan."""
        return replace(self, plan=plan, pool=None, ranking=None)

    def with_pool(self, pool: CandidatePool) -> Self:
        """Return the stages with another candidate pool."""
        return replace(self, pool=pool, ranking=None)


Further: TypeAlias = Callable[[SearchContext, Stages], Awaitable[Stages]]


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """The run for one question, (id, score) best first, and the configuration that took effect."""

    hits: tuple[tuple[str, float], ...]
    applied: AppliedSearch


async def search(
    index: OpenIndex, request: SearchRequest, settings: RetrieverSettings, stages: Stages | None = None
) -> SearchResult:
    """Search, and return hits with the record of how they came about.

    Raises:
        RetrieverError: a question, expression, method or filter that cannot be used.
    """

    async def of_version(version: SearchIndex) -> SearchResult:
        context = open_search(version, request, settings)
        return await present(context, await run_stages(context, stages or Stages()))

    return await index.ask(of_version)


async def rank(
    index: OpenIndex, request: SearchRequest, settings: RetrieverSettings, further: Further | None = None
) -> RankedQuestion:
    """Return the run for one question: at most k hits, passage_ids or with `collapse` doc_ids.

    Nothing is left out as a duplicate or as incomplete: a run holds what was judged. A `further` stage may
    change the ranking.
    """

    async def of_version(version: SearchIndex) -> RankedQuestion:
        context = open_ranking(version, request, settings)
        stages = await run_stages(context)
        if further:
            stages = await further(context, stages)
        ranking = _computed(stages.ranking).cut(request.k)
        by = attrgetter("doc_id" if request.collapse else "passage_id")
        hits = tuple((by(hit), score) for hit, score in ranking.hits)
        return RankedQuestion(hits, _applied(context, stages))

    return await index.ask(of_version)


def open_search(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> SearchContext:
    """Begin a search for hits to show: a few more than k, without incomplete papers if the settings say so.

    Raises:
        BadQuestion, BadFilter: a request that cannot be used.
    """
    _check_hits(request.k, MOST_HITS)
    filters = request.filters
    if settings.drop_incomplete and filters.complete is None:
        filters = replace(filters, complete=True)
    context = open_ranking(index, replace(request, k=request.k + MARGIN, filters=filters), settings)
    return replace(context, shown=request.k)


def open_ranking(index: SearchIndex, request: SearchRequest, settings: RetrieverSettings) -> SearchContext:
    """Begin a search for exactly k hits, with the filters of the request alone.

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
    return SearchContext(index, request, options, recorder, PassageCache(index), shown=request.k)


def _constraint_source(
    request: SearchRequest, method: Method, settings: RetrieverSettings
) -> ConstraintSource | None:
    """Say where the constraints of a search come from; None where none can have a part in it."""
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
    """Compute the stages that are missing, up to one of them."""
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
            analyse_question, constraints=constraints, synonyms=method.synonyms
        )
        question = await context.index.threads.run(analyse, context.index, context.request.question)
    if asked := question.constraints.describe():
        context.recorder.note(asked)
    if question.is_empty:
        context.recorder.note(NOTHING_TO_SEARCH)
    if context.index.synonyms and not method.synonyms:
        context.recorder.note(f"method {context.request.method!r} searches without synonyms")
    for expansion in question.synonyms:
        others = ", ".join(equivalent.text for equivalent in expansion.equivalents)
        context.recorder.note(f"{expansion.text} is also searched for as {others}")
    return replace(stages, question=question)


async def _choose_keywords(context: SearchContext, method: Method, stages: Stages) -> Stages:
    question = _computed(stages.question)
    if method.keywords is None or question.is_empty:
        return stages
    with context.recorder.timed("keywords"):
        return replace(stages, keywords=await method.keywords(context, question))


async def _plan(context: SearchContext, method: Method, stages: Stages) -> Stages:
    question, skip = _computed(stages.question), context.request.skip
    plan = method.plan(context, question, stages.keywords)
    if skip and not question.is_empty:
        names = plan.names if context.index.vectors.usable else plan.without(NEAREST).names
        if unknown := [name for name in skip if name not in {*names, *method.later}]:
            raise BadFilter(f"no query {one_line(unknown[0])!r} to leave out; there are {', '.join(names)}")
        if set(names) <= set(skip):
            context.recorder.note(ALL_LEFT_OUT)
    return replace(stages, plan=plan.without(*skip))


async def _find(context: SearchContext, _: Method, stages: Stages) -> Stages:
    return replace(stages, pool=await find_candidates(context, _computed(stages.plan)))


async def _rank(context: SearchContext, method: Method, stages: Stages) -> Stages:
    question, plan, pool = _computed(stages.question), _computed(stages.plan), _computed(stages.pool)
    if context.request.skip and not plan.names and not any(pool.found.values()):
        return replace(stages, ranking=Ranking())
    ranking = await method.rank(context, question, stages.keywords, plan, pool)
    ranking = await rerank(context, ranking) if method.reranks else ranking
    return replace(stages, ranking=await penalise(context, question, ranking))


_STAGES = {"question": _analyse, "keywords": _choose_keywords, "plan": _plan, "pool": _find, "ranking": _rank}


async def present(context: SearchContext, stages: Stages) -> SearchResult:
    """Make the hits that are shown: duplicates left out and counted, each with its paper and snippet."""
    weights, ranking = _token_weights(_computed(stages.question), stages.keywords), _computed(stages.ranking)
    with context.recorder.timed("total"):
        shown, filtered, likelihood = await _shown(context, stages, weights)
    return SearchResult(
        question=context.request.question,
        method=context.request.method,
        keywords=stages.keywords.keywords if stages.keywords else (),
        token_weights=weights,
        queries=_pool(stages).traces,
        hits=shown,
        filtered=filtered,
        milliseconds=dict(context.recorder.milliseconds),
        applied=_applied(context, stages),
        evidence_score=likelihood,
        notes=(*context.recorder.notes, *context.index.engine.notes),
        version=context.index.manifest.version,
        constraints=_computed(stages.question).constraints,
        concepts=stages.keywords.concepts if stages.keywords and ranking.scored is not None else (),
        bridges=ranking.hop.bridges if ranking.hop else (),
    )


async def _shown(
    context: SearchContext, stages: Stages, weights: Mapping[str, float]
) -> tuple[tuple[Hit, ...], dict[str, int], float | None]:
    """Return the hits to show, how many were left out and why, and the likelihood that they answer."""
    k = context.shown
    hits, incomplete = await _stored_hits(context, stages), _computed(stages.pool).incomplete
    kept = without_duplicates(hits)
    filtered = {
        "incomplete": _ranked_before(incomplete, stages, kept[:k]) if len(kept) >= k else len(incomplete),
        "duplicates": len(hits) - len(kept),
    }
    with context.recorder.timed("order"):
        first = kept[:EVIDENCE]
        likelihood = await context.index.threads.run(_likelihood, context, stages, first)
    with context.recorder.timed("snippets"):
        shown = await context.index.threads.run(_with_snippets, kept[:k], weights)
    return shown, filtered, likelihood


def _with_snippets(hits: Sequence[Hit], weights: Mapping[str, float]) -> tuple[Hit, ...]:
    return tuple(
        replace(
            hit,
            rank=rank,
            marked=snippet(hit.passage, weights),
            title_marks=title_spans(hit.passage, weights),
        )
        for rank, hit in enumerate(hits, 1)
    )


async def _stored_hits(context: SearchContext, stages: Stages) -> list[Hit]:
    """Fetch what is stored of the ranked passages and their papers."""
    ranking = _computed(stages.ranking).cut(context.request.k)
    found_by = _pool(stages).found_by()
    ranked, replaced = list(ranking.hits), dict(ranking.replaced)
    with context.recorder.timed("stored"):
        shown, newly_replaced = await prefer_abstracts(context, [hit for hit, _ in ranked])
        by = attrgetter("doc_id" if context.request.collapse else "passage_id")
        scores = {by(hit): score for hit, score in ranked}
        ranked = [(hit, scores[by(hit)]) for hit in shown]
        replaced |= newly_replaced
        stored = await context.passages.of_hits([hit for hit, _ in ranked])
        papers = await context.passages.papers(
            passage.doc_id for passage in stored.values() if not passage.record
        )
    names = list(_pool(stages).found)
    hits = []
    for hit, score in ranked:
        finders = {
            name
            for passage_id in (hit.passage_id, *replaced.get(hit.passage_id, ()))
            for name in found_by.get(passage_id, ())
        }
        passage = stored[hit.passage_id]
        paper = passage.paper or (papers[hit.doc_id].paper if hit.doc_id in papers else None)
        in_order = tuple(name for name in names if name in finders)
        hits.append(Hit(0, passage, round(score, 4), in_order, paper=paper or {}))
    return hits


def _pool(stages: Stages) -> CandidatePool:
    """Return all that was found, by a second search too."""
    return _computed(stages.ranking).pool or _computed(stages.pool)


def _ranked_before(incomplete: Mapping[str, float], stages: Stages, shown: Sequence[Hit]) -> int:
    """Count incomplete papers that score at least as much as the last hit that is shown."""
    found = next(iter(_computed(stages.pool).found.values()), ())
    scores = {hit.doc_id: hit.score for hit in found}
    least = min((scores.get(hit.doc_id, 0.0) for hit in shown), default=0.0)
    return sum(score >= least for score in incomplete.values())


def _likelihood(context: SearchContext, stages: Stages, evidence: Sequence[Hit]) -> float | None:
    """Return the likelihood that the first hits answer; None where the method has no features."""
    if _computed(stages.ranking).scored is None:
        return None
    if not evidence or stages.keywords is None:
        return 0.0
    return evidence_score(answerability(context, stages, [hit.passage for hit in evidence]))


def answerability(
    context: SearchContext, stages: Stages, first: Sequence[StoredPassage]
) -> AnswerabilityFeatures:
    """Compute the answerability features of the first passages; only candidates have features."""
    scored = _computed(stages.ranking).scored or {}
    held = [scored[passage.passage_id] for passage in first if passage.passage_id in scored]
    concepts = stages.keywords.concepts if stages.keywords else ()
    unseen = inverse_document_frequency(0, context.index.engine.passage_count)
    return answerability_features(held, _computed(stages.question), concepts, unseen)


def _token_weights(question: AnalysedQuestion, keywords: KeywordChoice | None) -> dict[str, float]:
    """Return the tokens that were searched for with their weights, for snippets and quotations."""
    if keywords and keywords.token_weights:
        return dict(keywords.token_weights)
    if question.expression is not None:
        return searched_tokens(question.expression)
    return {token[0]: 1.0 for token in question.tokens}


def _applied(context: SearchContext, stages: Stages) -> AppliedSearch:
    """Return the configuration that took effect."""
    options, ranking, recorder = context.options, _computed(stages.ranking), context.recorder
    method, vectors, keywords = method_named(options.method), context.index.vectors, stages.keywords
    order = method.order_by_vectors if ranking.by_vectors else method.order
    if ranking.reranker:
        order = f"{order}; the first {options.rerank_depth} by {ranking.reranker}"
    unused = ""
    if method.order_by_vectors and not ranking.by_vectors:
        unused = vectors.disabled_reason or recorder.failures.get("encoder", "")
    return AppliedSearch(
        method=options.method,
        order=order,
        title_weight=options.title_weight,
        keyword_source=None if keywords is None else "given" if keywords.given else "statistics",
        keyword_count=options.keyword_count if keywords else None,
        keyword_ranking=options.keyword_ranking if keywords and keywords.ranked else None,
        hits_per_query=options.hits_per_query if "hits_per_query" in method.uses else None,
        count_repeats=options.count_repeats if "count_repeats" in method.uses else None,
        candidates=options.candidates if "candidates" in method.uses else None,
        skip=context.request.skip,
        without=tuple(sorted(options.without)) if "without" in method.uses else None,
        vectors=vectors.model if ranking.by_vectors else "",
        vectors_unused=unused,
        reranker=ranking.reranker,
        rerank_depth=options.rerank_depth if ranking.reranker else None,
        drop_incomplete=options.drop_incomplete,
        constraints=options.constraints,
        this_year=options.this_year if options.constraints else None,
        failures=tuple(recorder.failures.values()),
    )


def _computed(value: T | None) -> T:
    """Return a stage's value, which is there by now."""
    if value is None:
        raise ValueError("a stage of the search has not been computed; see run_stages")
    return value


def _check_hits(k: int, most: int) -> None:
    if not 1 <= k <= most:
        raise BadFilter(f"{k} hits are asked for; ask for 1 to {MOST_HITS:,}")


def check_question(question: str) -> None:
    """Raise BadQuestion for a question that cannot be searched for: empty, too long, no text."""
    if len(question) > MOST_CHARACTERS:
        raise BadQuestion(
            f"the question has {len(question):,} characters, {MOST_CHARACTERS:,} are allowed; shorten it"
        )
    if not question.strip():
        raise BadQuestion("the question is empty")
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadQuestion(f"the question holds a lone surrogate at character {error.start}") from None
