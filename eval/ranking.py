"""How the questions of a run are ranked: by a search, the evidence of an answer, or the papers found.

Every question is ranked by itself, so that a failure does not affect the others. Its strategy is that of a
file, of the language model, or of statistics.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from base.amounts import counted
from base.errors import InvalidCall
from base.logs import get_logger
from base.progress import Progress, no_progress
from base.untrusted import one_line
from eval.files import Input
from eval.kept import KeptTopics
from eval.places import Places
from eval.progress import work_through
from eval.runs import Ranking, Run, as_written
from generator.calls import MOST_EVIDENCE
from generator.errors import ModelAnswerInvalid
from generator.finding.calls import FindRequest
from generator.finding.finding import find_in_sources
from generator.llm import LanguageModel
from generator.pipeline import AskRequest, Settings, answer_question
from generator.settings import HopsMode, LanguageModelSettings
from generator.strategist import model_strategy
from generator.tracing import Step, error_text
from generator.ways import make_request
from indexer.corpora.papers import Unit
from retriever.errors import BadExpression, BadQuestion
from retriever.index import OpenIndex
from retriever.search import SearchRequest, rank
from retriever.settings import RetrieverSettings
from retriever.stages.hits import AppliedSearch
from retriever.strategy import Strategy, read_strategies

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


def read_recorded(path: Path, topics: Iterable[str]) -> tuple[dict[str, Strategy], Input]:
    """Read the strategies of topics by query_id; return also the file.

    Raises:
        InvalidCall: the file cannot be read, has an invalid line, or lacks a topic.
    """
    file = Input(path)
    read = read_strategies(path, file.update)
    if missing := [query_id for query_id in topics if query_id not in read]:
        count = counted(len(missing), "topic")
        raise InvalidCall(f"{path} has no strategy for {count}; the first is {missing[0]}")
    return read, file


async def strategy_of_topic(
    request: SearchRequest, model: LanguageModel
) -> tuple[Strategy | None, dict[str, list[int]]]:
    """Ask a model for the strategy of a search; return it, and the versions of the prompts.

    The strategy is None if the replies were unusable.

    Raises:
        ModelFailed: the model is unreachable, too slow, or refuses.
        CallNotRecorded, CacheUnusable: a call is missing in a replay, or its file is unusable.
    """
    root = Step("topic")
    with root.running():
        strategy = await model_strategy(root, request, model)
    prompts: dict[str, list[int]] = {}
    for step in root.walk():
        if step.failure is not None and not isinstance(step.failure, ModelAnswerInvalid):
            raise step.failure
        if version := (step.model_call or {}).get("prompt_version"):
            prompts[step.name] = sorted({version, *prompts.get(step.name, ())})
    return strategy, prompts


def strategist_record(
    recorded: Mapping[str, Strategy],
    file: Input | None,
    settings: LanguageModelSettings | None,
    topics: Mapping[str, RankedTopic],
) -> dict[str, Any]:
    """Describe the origin of the strategies for the manifest: a file, a model, or statistics.

    `unusable` lists the questions for which statistics replaced the model.
    """
    if file:
        origins = sorted({strategy.origin for strategy in recorded.values()})
        return {"source": "recorded", **file.record, "origins": origins}
    if settings is None:
        return {"source": "statistics"}
    prompts: dict[str, set[int]] = {}
    for topic in topics.values():
        for name, versions in topic.prompts.items():
            prompts.setdefault(name, set()).update(versions)
    record = {
        "source": "model",
        "model": settings.model,
        "temperature": settings.temperature,
        "seed": settings.seed,
        "revision": settings.revision,
        "prompts": {name: sorted(versions) for name, versions in sorted(prompts.items())},
    }
    given = {query_id: topic.strategy for query_id, topic in topics.items() if topic.strategy is not None}
    if not given:  # a way or agents used the model
        return record
    return record | {
        "strategies": {query_id: strategy for query_id, strategy in given.items() if strategy},
        "unusable": [query_id for query_id, strategy in given.items() if not strategy],
    }


HITS = 100

# Of query_id, question and model.
Rank: TypeAlias = Callable[[str, str, LanguageModel | None], Awaitable[RankedTopic]]


@dataclass(frozen=True, slots=True)
class KindOfRun:
    """A ranking method, and its name."""

    name: str  # in the run's tag and the manifest
    k: int
    unit: Unit
    request: dict[str, Any]  # everything that a question's ranking depends on, except settings
    rank: Rank
    applied: dict[str, Any] = field(default_factory=dict)  # shown with the applied configuration
    asks_at_once: bool = False  # the model is asked for strategies only, of several questions in parallel


def search_kind(
    of: Places,
    settings: Settings,
    strategies: Mapping[str, Strategy],
    *,
    method: str,
    k: int | None,
    unit: Unit,
    title_weight: float | None,
) -> KindOfRun:
    """Rank by a search without filters for duplicates."""
    request = SearchRequest(
        "", method=method, k=k or HITS, collapse=unit == "paper", title_weight=title_weight
    )
    one_at_a_time = asyncio.Lock()

    async def ranked(query_id: str, question: str, model: LanguageModel | None) -> RankedTopic:
        asked = replace(request, question=question, strategy=strategies.get(query_id))
        record, prompts = None, dict[str, list[int]]()
        if model:
            strategy, prompts = await strategy_of_topic(asked, model)
            asked = replace(asked, strategy=strategy)
            record = strategy.as_record() if strategy else {}
        async with one_at_a_time:
            topic = await rank_topic(of.searched, asked, settings.retriever)
        return replace(topic, strategy=record, prompts=prompts)

    return KindOfRun(method, request.k, unit, {"title_weight": title_weight}, ranked, asks_at_once=True)


def ask_kind(
    of: Places,
    settings: Settings,
    strategies: Mapping[str, Strategy],
    *,
    way: str | None,
    method: str,
    hops: HopsMode,
    k: int | None,
    unit: Unit,
) -> KindOfRun:
    """Rank by the evidence of an answer, as in `ask`: passages, or papers by their best passage.

    If the model failed and a fallback was used, failures and deviations name the steps.
    """
    if k is not None and k > MOST_EVIDENCE:
        raise InvalidCall(f"an answer uses at most {MOST_EVIDENCE} papers: -k {k:,} is too large")
    asked_as = make_request(settings, "?", way=way or "shrag", method=method, evidence=k, hops=hops)
    request = replace(asked_as, low_scores=True)

    async def ranked(query_id: str, question: str, model: LanguageModel | None) -> RankedTopic:
        asking = replace(request, question=question, strategy=strategies.get(query_id))
        try:
            asked = await answer_question(of.searched, asking, _with(model, settings), model=model)
        except (BadQuestion, BadExpression) as error:
            return without_hits(error)
        found: dict[str, float] = {}
        for hit in asked.evidence:
            found.setdefault(hit.doc_id if unit == "paper" else hit.passage_id, hit.score)
        applied, steps = asked.result.applied, list(asked.trace.steps())
        calls = [(step["name"], step.get("model_call") or {}) for step in steps]
        alone = [step["name"] for step in steps if model and step.get("fallback")]
        return RankedTopic(
            as_written(found.items()),
            "" if found else NOTHING_FOUND,
            applied,
            {"without the model": alone} if alone else {},
            (*(applied.failures if applied else ()), *(f"without the model: {name}" for name in alone)),
            prompts={name: [call["prompt_version"]] for name, call in calls if "prompt_version" in call},
        )

    shown = {"way": request.way, "hops": hops, "searched by": request.method}
    return KindOfRun(request.way, request.evidence, unit, _without_question(request), ranked, shown)


def find_kind(of: Places, settings: Settings, request: FindRequest, *, unit: Unit) -> KindOfRun:
    """Rank by the papers found from scratch, best first, as in `find-papers` with its options.

    The deviations contain notes if a budget ended the search or something failed.
    """
    if unit != "paper":
        raise InvalidCall(
            "the results are papers, but passages are judged", remedy="set the unit: --unit paper"
        )
    request = request.changed(this_year=request.year)

    async def ranked(query_id: str, question: str, model: LanguageModel | None) -> RankedTopic:
        del query_id
        try:
            asked = request.changed(question=question)
        except BadQuestion as error:
            return without_hits(error)
        found = await find_in_sources(of.together(), asked, _with(model, settings), model=model)
        ranking = as_written([(ranked.paper_id, ranked.score) for ranked in found.papers])
        return RankedTopic(
            ranking,
            "" if ranking else found.notes[-1],
            deviations={"complete": found.complete, "notes": list(found.notes)}
            if ranking and found.notes
            else {},
            failures=tuple(part.error for part in found.step.walk() if part.failure),
            prompts={
                part.model_call["prompt"]: [part.model_call["prompt_version"]]
                for part in found.step.walk()
                if part.model_call and "prompt" in part.model_call
            },
        )

    asked = _without_question(request)
    return KindOfRun("find-papers", request.papers, unit, asked, ranked, {"finding": asked})


def _without_question(request: AskRequest | FindRequest) -> dict[str, Any]:
    return {name: value for name, value in request.as_record().items() if name != "question"}


def _with(model: LanguageModel | None, settings: Settings) -> Settings:
    """Return the settings, without a language model if none is used."""
    return settings if model else settings.with_llm(base_url=None)
