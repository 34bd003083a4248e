"""Topics to a run: every question ranked by one method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eval.runs import Run, as_written
from indexer.ingest import Progress, no_progress
from retriever.errors import BadExpression, BadQuestion
from retriever.hits import AppliedSearch
from retriever.index import SearchIndex
from retriever.keywords import Keyword
from retriever.search import Further, SearchRequest, rank
from retriever.settings import RetrieverSettings

NOTHING_FOUND = "nothing found"


@dataclass(frozen=True, slots=True)
class RankedTopics:
    """A run with a ranking for every topic, and why some are empty: {query_id: reason}."""

    run: Run
    without_hits: dict[str, str]
    applied: dict[str, Any]  # the configuration that took effect
    deviations: dict[str, dict[str, Any]]  # {query_id: what was different for this question}


async def rank_topics(
    index: SearchIndex,
    topics: Mapping[str, str],
    request: SearchRequest,
    settings: RetrieverSettings,
    *,
    keywords: Mapping[str, tuple[Keyword, ...]] | None = None,
    further: Further | None = None,
    progress: Progress = no_progress,
) -> RankedTopics:
    """Rank all topics as `request` says, with each topic's question and its `keywords` where it has some.

    A `further` stage, as a second round of searches, may change each ranking.

    A question that cannot be searched for has an empty ranking and its reason, and the others go on.
    """
    run: Run = {}
    without_hits: dict[str, str] = {}
    applied: dict[str, AppliedSearch] = {}
    for done, (query_id, question) in enumerate(topics.items()):
        progress("questions", done, len(topics))
        asked = replace(request, question=question, keywords=(keywords or {}).get(query_id, request.keywords))
        try:
            ranked = await rank(index, asked, settings, further)
            run[query_id] = as_written(list(ranked.hits))
            if ranked.hits:
                applied[query_id] = ranked.applied
        except (BadQuestion, BadExpression) as error:
            run[query_id] = []
            without_hits[query_id] = str(error).splitlines()[0]
        if not run[query_id]:
            without_hits.setdefault(query_id, NOTHING_FOUND)
    of_run = configuration(list(applied.values()))
    return RankedTopics(run, without_hits, of_run, deviations(applied, of_run))


def configuration(applied: Sequence[AppliedSearch]) -> dict[str, Any]:
    """Return a run's configuration: of the first question for which nothing failed, else of the first."""
    whole = [search for search in applied if not search.deviations()]
    return next((search.as_record() for search in whole or applied), {})


def deviations(applied: Mapping[str, AppliedSearch], of_run: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return, for each question ranked with another configuration than the run's, the values that differ."""
    differences = {
        query_id: {name: value for name, value in search.as_record().items() if value != of_run[name]}
        for query_id, search in applied.items()
    }
    return {query_id: found for query_id, found in differences.items() if found}
