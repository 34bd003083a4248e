"""The candidate pool: the hits of each query of a plan, and the question's vector."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from base.errors import ResourceError
from base.notes import Note
from indexer.encoders import Stored
from indexer.files.schema import StoredPassage
from retriever.engines import EngineHit, NumberedRows
from retriever.queries.boolean import Query, describe
from retriever.query_plan import NEAREST, NamedQuery, QueryPlan
from retriever.request import SearchContext
from retriever.stages.hits import SentQuery
from retriever.stages.paper_sets import query_for_papers

NEAREST_DESCRIBED = "(the passages nearest to the question's vector)"


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """Hits by the name of the query that found them, in the order of the plan."""

    found: Mapping[str, tuple[EngineHit, ...]] = field(default_factory=dict)
    incomplete: tuple[EngineHit, ...] = ()  # papers without text that the first query finds
    sent: Mapping[str, Query] = field(default_factory=dict)  # by name; the nearest passages have none
    vector: Stored | None = None  # the question's

    def with_nearest(self, hits: Sequence[EngineHit]) -> "CandidatePool":
        """Return the pool with the passages nearest to the question's vector as its last entry."""
        others = {name: found for name, found in self.found.items() if name != NEAREST}
        return replace(self, found={**others, NEAREST: tuple(hits)})

    def with_answers(
        self, queries: Sequence[NamedQuery], answers: Sequence[Sequence[EngineHit]]
    ) -> "CandidatePool":
        """Return the pool with further queries, and the hits of each."""
        names = [named.name for named in queries]
        return replace(
            self,
            found={**self.found, **dict(zip(names, map(tuple, answers), strict=True))},
            sent={**self.sent, **{named.name: named.query for named in queries}},
        )

    def traces(self) -> tuple[SentQuery, ...]:
        """Describe each query, with the number of its hits, and of papers that no earlier query found."""
        known: set[str] = set()
        traces = []
        for name, hits in self.found.items():
            papers = {hit.doc_id for hit in hits}
            if name == NEAREST or name in self.sent:
                query = NEAREST_DESCRIBED if name == NEAREST else describe(self.sent[name])
                traces.append(SentQuery(name, query, len(hits), len(papers - known)))
            known |= papers
        return tuple(traces)

    def cosines(self) -> dict[str, float]:
        """Return the known cosines: the scores of the nearest passages."""
        return {hit.passage_id: hit.score for hit in self.found.get(NEAREST, ())}


def find_candidates(context: SearchContext, plan: QueryPlan, text: str) -> CandidatePool:
    """Send all queries of a plan in one call, and find the passages nearest to `text`."""
    sent = [(query_for_papers(context.index, named.query), named.k) for named in plan.queries]
    searched, incomplete = _search(context, sent, plan.read), _find_incomplete(context, sent[:1])
    vector = encode_question(context, text) if plan.nearest else None
    pool = CandidatePool(incomplete=incomplete, vector=vector).with_answers(plan.queries, searched)
    return pool if vector is None else pool.with_nearest(nearest_passages(context, vector, plan.nearest))


def find_all(context: SearchContext, pool: CandidatePool, plan: QueryPlan) -> CandidatePool:
    """Send further queries in one call, and return the pool with their hits."""
    sent = [(named.query, named.k) for named in plan.queries]
    return pool.with_answers(plan.queries, _search(context, sent, plan.read))


def _search(
    context: SearchContext, queries: Sequence[tuple[Query, int]], read: int
) -> Sequence[Sequence[EngineHit]]:
    if not queries:
        return []
    request = context.request
    with context.recorder.timed("search"):
        return context.index.engine.search(
            queries, filters=request.filters, collapse=request.collapse, read=read
        )


def _find_incomplete(context: SearchContext, first: Sequence[tuple[Query, int]]) -> tuple[EngineHit, ...]:
    """Return the papers without an abstract that match the first query of a plan but not the filter.

    They are no evidence of an answer, so the engine leaves them out (`complete` in `queries/filters.py`; the
    indexing stage marks them incomplete). `SHRAG_DROP_INCOMPLETE=false` keeps them.
    """
    request = context.request
    if not first or request.filters.complete is not True:
        return ()
    [hits] = context.index.engine.search(
        [(first[0][0], request.k)],
        filters=replace(request.filters, complete=False),
        collapse=request.collapse,
    )
    return tuple(hits)


def encode_question(context: SearchContext, text: str) -> Stored | None:
    """Return the vector of a question; None without one, and a note says why.

    If the encoder fails, the failure is recorded.
    """
    vectors, vector = context.index.vectors, None
    if not (vectors.usable or vectors.disabled_reason):
        return None
    with context.recorder.timed("vector"):
        try:
            vector = vectors.encode(text)
        except ResourceError as error:
            context.recorder.failed("encoder", Note("encoder_failed", error=str(error)))
    if vectors.disabled_reason:
        context.recorder.note(vectors.disabled_reason)
    return vector


def nearest_passages(context: SearchContext, vector: Stored, k: int) -> list[EngineHit]:
    """Return the k passages nearest to a vector; if hits are papers, enough passages for k papers."""
    request, engine = context.request, context.index.engine
    find = engine.nearest_papers if request.collapse else engine.nearest
    with context.recorder.timed("vector"):
        return find(vector, k, filters=request.filters)


def find_cosines(context: SearchContext, pool: CandidatePool, passage_ids: Sequence[str]) -> dict[str, float]:
    """Return the cosines of passages with the question's vector; passages without a vector are left out."""
    known = pool.cosines()
    if pool.vector is None:
        return known
    missing = [passage_id for passage_id in passage_ids if passage_id not in known]
    with context.recorder.timed("vector"):
        return known | context.index.engine.similarities(pool.vector, missing)


class ReadHits(NamedTuple):
    """Hits, each passage once, without those missing from the index, and their rows in the same order."""

    hits: tuple[EngineHit, ...]
    read: NumberedRows


def read_hits(context: SearchContext, hits: Sequence[EngineHit], without: Container[str] = ()) -> ReadHits:
    """Read the rows of hits; if hits are papers, abstracts replace titles in the other language.

    Abstracts that are among the passages of `without` replace titles, but are left out.
    """
    engine, by_id = context.index.engine, {hit.passage_id: hit for hit in reversed(hits)}
    read = engine.rows(list(dict.fromkeys(hit.passage_id for hit in hits)))
    found = [by_id[passage_id] for passage_id in read.ids]
    if not context.request.collapse or read.rows.has_text.all():
        return ReadHits(tuple(found), read)
    titles = {name for name, has in zip(read.ids, read.rows.has_text.tolist(), strict=True) if not has}
    papers = context.passages.papers(hit.doc_id for hit in found if hit.passage_id in titles)
    abstracts = {
        name: first.passage_id for name, first in papers.items() if first.text and _is_allowed(context, first)
    }
    best: dict[str, EngineHit] = {}
    for hit in found:
        shown = abstracts.get(hit.doc_id, hit.passage_id) if hit.passage_id in titles else hit.passage_id
        best.setdefault(shown, hit._replace(passage_id=shown))
    read = engine.rows([passage_id for passage_id in best if passage_id not in without])
    return ReadHits(tuple(best[passage_id] for passage_id in read.ids), read)


def _is_allowed(context: SearchContext, passage: StoredPassage) -> bool:
    filters = context.request.filters
    return (
        passage.passage_id not in filters.without
        and filters.lang in {None, passage.lang}
        and (not filters.parts or passage.part in filters.parts)
    )
