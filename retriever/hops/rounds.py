"""Two rounds of searches: the second follows the bridges of the best passages of the first.

    stages = await run_stages(context)
    result = await present(context, await with_second_round(context, stages))

The second round is one call to the engine, with a query for each passage with bridges.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from retriever.engines import EngineHit
from retriever.engines.term_statistics import term_statistics
from retriever.hops.bridges import Lead, lead_from, read_entities
from retriever.keywords.plan import NamedQuery, QueryPlan
from retriever.question.analysis import AnalysedQuestion
from retriever.question.question_form import question_form
from retriever.requests.context import SearchContext
from retriever.search import Stages
from retriever.searching.penalties import penalise
from retriever.stages.pool import find_all
from retriever.stages.ranking import Ranking

# Tuned on HotpotQA; python -m eval.experiments.hops --grid shows other values, cross-validated.
SOURCES = 3  # passages of the first round that may have bridges
SECOND_SHARE = 0.55  # of the score of the same rank in the first round; the first ten ranks do not tie
TITLE_WEIGHT = 0.6  # if the method has none
FOUND = 20  # hits of each query of the second round
ROUND = "second round"


async def with_second_round(
    context: SearchContext, stages: Stages, *, sources: int = SOURCES, share: float = SECOND_SHARE
) -> Stages:
    """Return the stages of a search with a second round's hits among those of their ranking.

    Bridges come from the first `sources` passages, and the second round counts `share` of the first. Nothing
    is added to an expression, to a text without words, or if there are no bridges.
    """
    question, ranking = stages.question, stages.ranking
    pool = ranking.pool if ranking and ranking.pool else stages.pool
    if question is None or ranking is None or pool is None or not question.tokens:
        return stages  # an expression has no tokens
    leads = await find_leads(context, question, [hit for hit, _ in ranking.hits[:sources]])
    if not leads:
        return stages
    for lead in leads:
        context.recorder.note(f"also searched for {', '.join(lead.bridges.values())}, from {lead.passage_id}")
    weight = TITLE_WEIGHT if context.options.title_weight is None else context.options.title_weight
    queries = tuple(
        NamedQuery(f"{ROUND} {number}", lead.query(weight), FOUND) for number, lead in enumerate(leads, 1)
    )
    pool = await find_all(context, pool, QueryPlan(queries))
    found = [
        [hit for hit in await _allowed(context, question, pool.found[named.name]) if not _is(hit, lead)]
        for named, lead in zip(queries, leads, strict=True)
    ]
    hits = interleaved(
        [hit for hit, _ in ranking.hits], in_turn(found), share, collapse=context.request.collapse
    )
    return replace(stages, ranking=replace(ranking, hits=hits, pool=pool))


async def second_round_where_asked_for(context: SearchContext, stages: Stages) -> Stages:
    """Return the stages, with a second round if the question has the form of several steps."""
    form = await context.index.threads.run(question_form, context.request.question, context.index.analyzer)
    return await with_second_round(context, stages) if form.has_several_steps else stages


async def find_leads(
    context: SearchContext, question: AnalysedQuestion, sources: Sequence[EngineHit]
) -> list[Lead]:
    """Return the leads of the source passages; passages without bridges are skipped."""
    stored = await context.passages.of_hits(sources)
    with context.recorder.timed("order"):
        entities = await context.index.threads.run(
            lambda: [read_entities(context.index, passage, question) for passage in stored.values()]
        )
    tokens = {token for each in entities for token in each.tokens()}
    statistics = await term_statistics(context.index.engine, tokens)
    return [lead for each in entities if (lead := lead_from(each, question, statistics))]


async def _allowed(
    context: SearchContext, question: AnalysedQuestion, hits: Sequence[EngineHit]
) -> list[EngineHit]:
    """Order hits by the question's constraints, without those about an excluded thing."""
    ranking = await penalise(context, question, Ranking(tuple((hit, hit.score) for hit in hits)))
    return [hit for hit, _ in ranking.hits if hit.doc_id not in ranking.about]


def _is(hit: EngineHit, lead: Lead) -> bool:
    return hit.passage_id == lead.passage_id


def in_turn(found: Sequence[Sequence[EngineHit]]) -> list[EngineHit]:
    """Interleave several lists of hits, each hit once."""
    taken: dict[str, EngineHit] = {}
    for hits in zip_longest(*found):
        for hit in filter(None, hits):
            taken.setdefault(hit.passage_id, hit)
    return list(taken.values())


def interleaved(
    first: Sequence[EngineHit], second: Sequence[EngineHit], share: float, *, collapse: bool
) -> tuple[tuple[EngineHit, float], ...]:
    """Interleave two rounds: a hit scores 1 / rank in the first or share / rank in the second, if higher.

    With `collapse` a paper comes once, by the passage that the first round found.
    """
    hits: dict[str, tuple[EngineHit, float]] = {}
    for weight, found in ((1.0, first), (share, second)):
        for rank, hit in enumerate(found, 1):
            key = hit.doc_id if collapse else hit.passage_id
            known, score = hits.get(key, (hit, 0.0))
            hits[key] = known, max(score, weight / rank)
    return tuple(sorted(hits.values(), key=lambda pair: (-pair[1], pair[0].passage_id)))
