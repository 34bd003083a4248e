"""Runs from topics: every question is ranked by itself, so that a failure does not affect the others."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from base.logs import get_logger
from base.progress import Progress, no_progress
from base.untrusted import one_line
from eval.kept import KeptTopics
from eval.progress import work_through
from eval.runs import Ranking, Run, as_written
from generator.tracing import error_text
from retriever.errors import BadExpression, BadQuestion
from retriever.index import OpenIndex
from retriever.search import SearchRequest, rank
from retriever.settings import RetrieverSettings
from retriever.stages.hits import AppliedSearch
from retriever.strategy import Strategy

NOTHING_FOUND = "nothing found"

log = get_logger("eval")


@dataclass(frozen=True, slots=True)
class RankedTopic:
    """The ranking of one question, and its circumstances.

    `failures` are errors: the question was ranked in spite of them, or not at all, and `ranking` is None.
    """

    ranking: Ranking | None = None
    reason: str = ""  # why the ranking is empty
    applied: AppliedSearch | None = None
    deviations: dict[str, Any] = field(default_factory=dict)  # in addition to those of `applied`
    failures: tuple[str, ...] = ()
    strategy: dict[str, Any] | None = None  # of the model, if it was asked; {} if unusable
    prompts: dict[str, list[int]] = field(default_factory=dict)  # versions of the prompts used


RankOne: TypeAlias = Callable[[str, str], Awaitable[RankedTopic]]  # of query_id and question


async def rank_all(
    topics: Mapping[str, str],
    rank_one: RankOne,
    kept: KeptTopics[RankedTopic],
    *,
    at_once: int = 1,
    progress: Progress = no_progress,
) -> dict[str, RankedTopic]:
    """Rank all topics except kept ones without failures, and keep each new ranking immediately.

    An incomplete ranking that is kept stays if the question fails now. Raises as `work_through`.
    """
    before = dict(kept.topics)
    found = {query_id: topic for query_id, topic in before.items() if not topic.failures}

    async def ranked(query_id: str, question: str) -> None:
        found[query_id] = await rank_one(query_id, question)
        if found[query_id].ranking is not None:  # another one is repeated
            kept.keep(query_id, found[query_id])

    def not_ranked(query_id: str, error: Exception) -> None:
        log.warning("question not ranked", query_id=query_id, error=repr(error))
        found[query_id] = before.get(query_id, RankedTopic(failures=(one_line(error_text(error)),)))

    waiting = {query_id: question for query_id, question in topics.items() if query_id not in found}
    await work_through(
        waiting,
        ranked,
        total=len(topics),
        at_once=at_once,
        tolerated=(Exception,),
        on_failure=not_ranked,
        progress=progress,
    )
    return {query_id: found[query_id] for query_id in topics}


async def rank_topics(
    index: OpenIndex,
    topics: Mapping[str, str],
    request: SearchRequest,
    settings: RetrieverSettings,
    strategies: Mapping[str, Strategy] | None = None,
    *,
    progress: Progress = no_progress,
) -> Run:
    """Rank all topics by a search with `request` and each topic's question; an error ends the run.

    Topics without one of the `strategies` are searched for with statistics.
    """
    run: Run = {}
    for query_id, question in topics.items():
        progress("questions", len(run), len(topics))
        asked = replace(request, question=question, strategy=(strategies or {}).get(query_id))
        run[query_id] = (await rank_topic(index, asked, settings)).ranking or []
    return run


async def rank_topic(index: OpenIndex, request: SearchRequest, settings: RetrieverSettings) -> RankedTopic:
    """Rank a question; one that cannot be searched for has an empty ranking and a reason."""
    try:
        ranked = await rank(index, request, settings)
    except (BadQuestion, BadExpression) as error:
        return without_hits(error)
    if not ranked.hits:
        return RankedTopic([], NOTHING_FOUND, failures=ranked.applied.failures)
    return RankedTopic(as_written(ranked.hits), applied=ranked.applied, failures=ranked.applied.failures)


def without_hits(error: Exception) -> RankedTopic:
    """Return the result of a question that cannot be searched for."""
    return RankedTopic([], str(error).splitlines()[0])


def configuration(topics: Mapping[str, RankedTopic]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the configuration of a run that took effect, and the deviations of questions from it.

    It is that of the first question without failures, else of the first one.
    """
    applied = [topic.applied for topic in topics.values() if topic.applied]
    whole = [search for search in applied if not search.deviations()]
    of_run = next((search.as_record() for search in whole or applied), {})
    deviations = {}
    for query_id, topic in topics.items():
        record = topic.applied.as_record() if topic.applied else {}
        differs = {name: value for name, value in record.items() if value != of_run[name]}
        if topic.ranking is not None:
            differs |= topic.deviations | ({"failures": list(topic.failures)} if topic.failures else {})
        if differs:
            deviations[query_id] = differs
    return of_run, deviations
