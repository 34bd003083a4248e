"""The candidate pool: what each query of a plan found, and the question's vector."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from indexer.encoders.arrays import Stored
from indexer.errors import IndexerError
from retriever.context import SearchContext
from retriever.engines import EngineHit
from retriever.hits import QueryTrace
from retriever.plan import NamedQuery, QueryPlan
from retriever.queries import describe
from retriever.query_names import NEAREST

NEAREST_DESCRIBED = "(the passages nearest to the question's vector)"


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """Hits by the name of the query that found them, in the order of the plan."""

    found: Mapping[str, tuple[EngineHit, ...]] = field(default_factory=dict)
    incomplete: Mapping[str, float] = field(
        default_factory=dict
    )  # scores of papers that the filter keeps out
    traces: tuple[QueryTrace, ...] = ()  # what was sent, and how much it found
    vector: Stored | None = None  # the question's
    encoder_failure: IndexerError | None = None

    def with_hits(self, name: str, hits: Sequence[EngineHit]) -> "CandidatePool":
        """Return the pool with hits from elsewhere, under a name of their own."""
        return replace(self, found={**self.found, name: tuple(hits)})

    def with_nearest(self, hits: Sequence[EngineHit]) -> "CandidatePool":
        """Return the pool with the passages nearest to the question's vector."""
        kept = replace(
            self,
            found={name: found for name, found in self.found.items() if name != NEAREST},
            traces=tuple(known for known in self.traces if known.name != NEAREST),
        )
        return kept.with_query(NEAREST, NEAREST_DESCRIBED, hits)

    def with_query(self, name: str, described: str, hits: Sequence[EngineHit]) -> "CandidatePool":
        """Return the pool with a query behind the others, and what it found."""
        known = {hit.doc_id for found in self.found.values() for hit in found}
        trace = QueryTrace(name, described, len(hits), len({hit.doc_id for hit in hits} - known))
        return replace(self.with_hits(name, hits), traces=(*self.traces, trace))

    def found_by(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the queries that found each passage, by passage_id."""
        names: dict[str, list[str]] = {}
        for name, hits in self.found.items():
            for hit in hits:
                names.setdefault(hit.passage_id, []).append(name)
        return {passage_id: tuple(found) for passage_id, found in names.items()}

    def cosines(self) -> dict[str, float]:
        """Return the cosines that are known already: those of the nearest passages."""
        return {hit.passage_id: hit.score for hit in self.found.get(NEAREST, ())}


async def find_candidates(context: SearchContext, plan: QueryPlan) -> CandidatePool:
    """Send all queries of a plan in one call to the engine, and look for the nearest passages beside it."""
    searched, incomplete, (vector, failure, nearest) = await asyncio.gather(
        _search(context, plan), _find_incomplete(context, plan), _find_nearest(context, plan.nearest)
    )
    pool = CandidatePool(incomplete=incomplete, vector=vector, encoder_failure=failure)
    for named in plan.queries:
        pool = pool.with_query(named.name, describe(named.query), searched[named.name])
    return pool.with_nearest(nearest) if vector is not None and plan.nearest else pool


async def find_more(context: SearchContext, pool: CandidatePool, query: NamedQuery) -> CandidatePool:
    """Send one query more, and return the pool with its hits."""
    return await find_all(context, pool, QueryPlan((query,), read=1))


async def find_all(context: SearchContext, pool: CandidatePool, plan: QueryPlan) -> CandidatePool:
    """Send further queries in one call, and return the pool with their hits."""
    found = await _search(context, plan)
    for named in plan.queries:
        pool = pool.with_query(named.name, describe(named.query), found[named.name])
    return pool


async def _search(context: SearchContext, plan: QueryPlan) -> dict[str, tuple[EngineHit, ...]]:
    if not plan.queries:
        return {}
    request = context.request
    with context.recorder.timed("search"):
        found = await context.index.engine.search(
            [(named.query, named.k) for named in plan.queries],
            filters=request.filters,
            collapse=request.collapse,
            read=plan.read,
        )
    return {named.name: tuple(hits) for named, hits in zip(plan.queries, found, strict=True)}


async def _find_incomplete(context: SearchContext, plan: QueryPlan) -> dict[str, float]:
    """Return the papers without text that the first query of a plan finds and the filter keeps out."""
    request = context.request
    if not plan.queries or request.filters.complete is not True:
        return {}
    [hits] = await context.index.engine.search(
        [(plan.queries[0].query, request.k)],
        filters=replace(request.filters, complete=False),
        collapse=request.collapse,
    )
    return {hit.passage_id: hit.score for hit in hits}


async def _find_nearest(
    context: SearchContext, k: int
) -> tuple[Stored | None, IndexerError | None, list[EngineHit]]:
    if not k:
        return None, None, []
    vector, failure = await encode_question(context)
    return vector, failure, [] if vector is None else await nearest_passages(context, vector, k)


async def encode_question(context: SearchContext) -> tuple[Stored | None, IndexerError | None]:
    """Return the question's vector, or why the encoder failed; neither where the index has no vectors.

    What keeps vectors from being used is noted.
    """
    vectors = context.index.vectors
    vector, failure = None, None
    if not (vectors.usable or vectors.disabled_reason):
        return vector, failure
    with context.recorder.timed("vector"):
        try:
            vector = await vectors.encode(context.request.question)
        except IndexerError as error:
            failure = error
            context.recorder.failed("encoder", f"ranked without vectors, the encoder failed: {error}")
    if vectors.disabled_reason:
        context.recorder.note(vectors.disabled_reason)
    return vector, failure


async def with_vector(context: SearchContext, pool: CandidatePool) -> CandidatePool:
    """Return the pool with the question's vector, if the encoder gives one."""
    if pool.vector is not None or pool.encoder_failure:
        return pool
    vector, failure = await encode_question(context)
    return replace(pool, vector=vector, encoder_failure=failure)


async def nearest_passages(context: SearchContext, vector: Stored, k: int) -> list[EngineHit]:
    """Return the passages nearest to a vector; where papers are asked for, enough for k of them."""
    request, limit = context.request, k
    with context.recorder.timed("vector"):
        while True:
            hits = await context.index.engine.nearest(vector, limit, filters=request.filters)
            papers = len({hit.doc_id for hit in hits})
            if not request.collapse or papers >= k or len(hits) < limit:
                return hits
            limit *= 2


async def find_cosines(
    context: SearchContext, pool: CandidatePool, passage_ids: Sequence[str]
) -> dict[str, float]:
    """Return the cosines of passages with the question's vector; of those that have a vector."""
    known = pool.cosines()
    if pool.vector is None:
        return known
    missing = [passage_id for passage_id in passage_ids if passage_id not in known]
    with context.recorder.timed("vector"):
        return known | await context.index.engine.similarities(pool.vector, missing)
