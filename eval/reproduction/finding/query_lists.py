"""Lists of papers for a question by single queries to a source, the baselines of SPAR's table 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generator.finding.agents.query_writing import write_queries
from generator.finding.agents.understanding import understand
from generator.finding.request import FindRequest, FindResources
from generator.finding.state import SearchQuery
from generator.tracing.steps import Step
from indexer.corpora.papers import Paper
from retriever.engines.ordering import reciprocal_rank_fusion
from retriever.errors import SourceFailed
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.relevance.asked_words import words_query
from retriever.sources.merging import LimitedSource, ask_sources, merge

TYPED, REFINED, KEYWORDS = "question as typed", "refined queries", "keywords by a model"
FORMS = (TYPED, REFINED, KEYWORDS)


@dataclass(frozen=True, slots=True)
class QueryList:
    """The first papers of a source, or the reason why it did not answer."""

    papers: tuple[Paper, ...] = ()
    failure: str = ""


async def query_forms(
    request: FindRequest, resources: FindResources, kinds: Sequence[str], step: Step
) -> dict[str, Mapping[str, tuple[Query, ...]]]:
    """Write the queries of a question in each form, by kind of source; without a model only as typed.

    A refined form has the queries of the understanding agent, or the question if it needs no expansion.
    """

    async def words_of(texts: Sequence[str]) -> dict[str, tuple[Query, ...]]:
        queries = [words_query(await resources.relevance.words(text)) for text in texts]
        return dict.fromkeys(kinds, tuple(query for query in queries if query.clauses))

    forms: dict[str, Mapping[str, tuple[Query, ...]]] = {TYPED: await words_of([request.question])}
    if resources.model is not None:
        subject = resources.conditions.remaining
        understanding = await understand(resources, step, subject)
        if understanding.by == "model":
            forms[REFINED] = await words_of(understanding.queries or (subject,))
        question = [SearchQuery(request.question, "question")]
        [written] = await write_queries(question, kinds, resources, step)
        if written.has_other_words:
            forms[KEYWORDS] = {kind: (query,) for kind, query in written.by_kind.items()}
    return forms


async def query_list(source: LimitedSource, queries: Sequence[Query], k: int, filters: Filters) -> QueryList:
    """Return the first k papers of a source; the lists of several queries are fused by reciprocal ranks."""
    if not queries:
        return QueryList()
    try:
        given = await ask_sources(
            [source], lambda asked: asked.search([(query, k) for query in queries], filters=filters)
        )
    except SourceFailed as error:
        return QueryList(failure=str(error))
    merged = merge(given.answers, {}, several=False)
    ranked = [[paper_id for paper_id, _ in found] for found in merged.found]
    ids = ranked[0] if len(ranked) == 1 else [each.item for each in reciprocal_rank_fusion(ranked)]
    return QueryList(tuple(merged.papers[paper_id].paper for paper_id in ids[:k]))
