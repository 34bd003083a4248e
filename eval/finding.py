"""Topics to a run by the papers found for them: every question searched for as `shrag find-papers` does."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from eval.ranking import RankedTopics
from eval.runs import Run, as_written
from generator.finding.finding import find_in_sources, index_as_source
from generator.finding.request import FindRequest
from generator.llm import LanguageModel
from generator.pipeline import Settings
from indexer.ingest import Progress, no_progress
from retriever.errors import BadQuestion
from retriever.index import SearchIndex


async def find_for_topics(
    index: SearchIndex,
    topics: Mapping[str, str],
    request: FindRequest,
    settings: Settings,
    *,
    model: LanguageModel | None = None,
    progress: Progress = no_progress,
) -> RankedTopics:
    """Find papers for all topics as `request` says, each from the beginning; a run of papers, best first.

    A question that cannot be searched for has an empty list and its reason, and the others go on. The
    deviations hold the notes of questions for which a budget ended or something failed.
    """
    run: Run = {}
    without_hits: dict[str, str] = {}
    differ: dict[str, dict[str, Any]] = {}
    opened = index_as_source(index.manifest.name, index)
    for done, (query_id, question) in enumerate(topics.items()):
        progress("questions", done, len(topics))
        try:
            asked = replace(request, question=question)
        except BadQuestion as error:
            run[query_id], without_hits[query_id] = [], str(error).splitlines()[0]
            continue
        found = await find_in_sources(opened, asked, settings, model=model)
        run[query_id] = as_written([(ranked.paper_id, ranked.score) for ranked in found.papers])
        if not found.papers:
            without_hits[query_id] = found.notes[-1]
        elif found.notes:
            differ[query_id] = {"complete": found.complete, "notes": list(found.notes)}
    options = {name: value for name, value in request.as_record().items() if name != "question"}
    return RankedTopics(run, without_hits, {"finding": options}, differ)
