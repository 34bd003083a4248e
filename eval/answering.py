"""Topics to a run by the evidence of their answers: every question asked as `shrag ask` does."""

from collections.abc import Mapping
from dataclasses import replace

from eval.ranking import NOTHING_FOUND, RankedTopics, configuration, deviations
from eval.runs import Run, as_written
from generator.llm import LanguageModel
from generator.pipeline import AskRequest, Settings, answer_question
from indexer.ingest import Progress, no_progress
from indexer.papers import Unit
from retriever.errors import BadExpression, BadQuestion
from retriever.hits import AppliedSearch
from retriever.index import SearchIndex


async def answer_topics(
    index: SearchIndex,
    topics: Mapping[str, str],
    request: AskRequest,
    settings: Settings,
    *,
    unit: Unit,
    model: LanguageModel | None = None,
    progress: Progress = no_progress,
) -> RankedTopics:
    """Answer all topics as `request` says, and rank the evidence of each: passages, or papers by their best.

    A question that cannot be searched for has an empty ranking and its reason, and the others go on. Where
    something failed and was done without, the deviations hold the notes.
    """
    run: Run = {}
    without_hits: dict[str, str] = {}
    applied: dict[str, AppliedSearch] = {}
    notes: dict[str, list[str]] = {}
    for done, (query_id, question) in enumerate(topics.items()):
        progress("questions", done, len(topics))
        try:
            asked = await answer_question(index, replace(request, question=question), settings, model=model)
        except (BadQuestion, BadExpression) as error:
            run[query_id], without_hits[query_id] = [], str(error).splitlines()[0]
            continue
        ranked: dict[str, float] = {}
        for hit in asked.evidence:
            ranked.setdefault(hit.doc_id if unit == "paper" else hit.passage_id, hit.score)
        run[query_id] = as_written(ranked.items())
        if not ranked:
            without_hits[query_id] = NOTHING_FOUND
        if asked.result.applied:
            applied[query_id] = asked.result.applied
        if failed := [step["name"] for step in asked.trace.steps() if model and step.get("fallback")]:
            notes[query_id] = failed
    of_run = configuration(list(applied.values()))
    differ = deviations(applied, of_run)
    for query_id, failed in notes.items():
        differ[query_id] = differ.get(query_id, {}) | {"without the model": failed}
    return RankedTopics(run, without_hits, of_run, differ)
