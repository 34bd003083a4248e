"""Topics to a run: every question ranked by one method."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from eval.runs import Run, as_written
from indexer.ingest import Progress, no_progress
from retriever.errors import BadExpression, BadQuestion
from retriever.index import SearchIndex
from retriever.keywords import Keyword
from retriever.search import SearchRequest, rank
from retriever.settings import RetrieverSettings

NOTHING_FOUND = "nothing found"


@dataclass(frozen=True, slots=True)
class RankedTopics:
    """A run with a ranking for every topic, and why some are empty: {query_id: reason}."""

    run: Run
    without_hits: dict[str, str]
    applied: dict[str, Any]  # the configuration that took effect
    deviations: dict[str, dict[str, Any]]  # of questions for which it did not wholly: {query_id: what}


async def rank_topics(
    index: SearchIndex,
    topics: Mapping[str, str],
    request: SearchRequest,
    settings: RetrieverSettings,
    *,
    keywords: Mapping[str, tuple[Keyword, ...]] | None = None,
    progress: Progress = no_progress,
) -> RankedTopics:
    """Rank all topics as `request` says, with each topic's question and its `keywords` where it has some.

    A question that cannot be searched for has an empty ranking and its reason, and the others go on.
    """
    run: Run = {}
    without_hits: dict[str, str] = {}
    deviations: dict[str, dict[str, Any]] = {}
    applied: dict[str, Any] = {}
    for done, (query_id, question) in enumerate(topics.items()):
        progress("questions", done, len(topics))
        asked = replace(request, question=question, keywords=(keywords or {}).get(query_id, request.keywords))
        try:
            ranked = await rank(index, asked, settings)
            run[query_id] = as_written(list(ranked.hits))
            if deviation := ranked.applied.deviations():
                deviations[query_id] = deviation
            applied = applied or ranked.applied.as_record()
        except (BadQuestion, BadExpression) as error:
            run[query_id] = []
            without_hits[query_id] = str(error).splitlines()[0]
        if not run[query_id]:
            without_hits.setdefault(query_id, NOTHING_FOUND)
    return RankedTopics(run, without_hits, applied, deviations)
