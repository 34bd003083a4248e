"""The steps of a benchmark, from the options of a command to the lines in the folder."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from base.errors import InvalidCall
from base.untrusted import one_line
from eval.judging.automatic import (
    RULES,
    Judging,
    judge_question,
    model_of,
    prompt_versions_of,
    unjudged,
)
from eval.judging.calls import ConfirmCall, JudgeCall, PoolCall, QuestionsCall
from eval.judging.confirming import Part, Session, pairs_to_confirm
from eval.judging.folder import (
    CALLS,
    JUDGEMENTS,
    POOL,
    QUESTIONS,
    Benchmark,
    assessments_file,
    next_call,
    now,
    writing,
)
from eval.judging.funnel import JUDGE_STEP, stage_call
from eval.judging.keyboard import typed_keys
from eval.judging.places import open_places
from eval.judging.pooling import (
    FailedRanking,
    found_by_agents,
    pool,
    rankings_of,
    usual_methods,
)
from eval.judging.questions import derive, new_seeds, prompt_of
from eval.judging.records import Question
from eval.manifest import asked_with, software
from eval.progress import question_bar
from eval.ranking import MOST_FAILURES
from eval.topics import read_topics
from generator.errors import ModelFailed
from generator.finding.finding import OpenedSources
from generator.pipeline import Settings
from generator.settings import LanguageModelSettings
from indexer.options import chosen_index
from retriever.errors import SourceFailed


def add_questions(benchmark: Benchmark, seeds: Path, call: QuestionsCall) -> tuple[Benchmark, list[str]]:
    """Add the seeds of a file, and derive questions from them; return the seeds for which the model failed.

    Raises:
        BadTopics: with file and line.
        InvalidCall: a known query_id has another question.
        ModelNotConfigured: no language model is configured, and questions are to be derived.
        ModelFailed: the model failed for all seeds.
    """
    path, digest = benchmark.path, hashlib.sha256()
    read = read_topics(seeds, digest)
    settings = Settings.from_environment()
    with writing(path, CALLS, QUESTIONS) as (append_call, append):
        benchmark = Benchmark(path)
        made_with: dict[str, Any] = {
            "seeds": {"path": str(seeds), "sha256": digest.hexdigest()},
            **software(models=False),
        }
        if call.extend:
            prompts = map(prompt_of, read.values())
            versions = {f"{prompt.name}.{prompt.language}": prompt.version for prompt in prompts}
            made_with |= model_record(settings.generator.llm, versions)
        record = next_call(benchmark, "questions", call.model_dump(mode="json"), made_with)
        new = new_seeds(read, benchmark.questions, record.number)
        waiting = _without_derived(benchmark, read, new) if call.extend else []
        if new or waiting:
            append_call(record)
        for each in new:
            append(each)
        known = [*benchmark.questions.values(), *new]
        failed = asyncio.run(_derived(waiting, known, call.extend, settings, record.number, append))
    return Benchmark(path), failed


def _without_derived(
    benchmark: Benchmark, read: Mapping[str, str], new: Sequence[Question]
) -> list[Question]:
    """Return the seeds of a file from which no question was derived yet."""
    derived_from = {each.seed for each in benchmark.questions.values()}
    seeds = benchmark.questions | {each.query_id: each for each in new}
    return [seeds[query_id] for query_id in read if query_id not in derived_from]


async def _derived(
    waiting: Sequence[Question],
    known: list[Question],
    count: int,
    settings: Settings,
    call: int,
    append: Any,
) -> list[str]:
    failed: list[str] = []
    if not waiting:
        return failed
    async with settings.language_model() as model:
        with question_bar() as progress:
            for done, seed in enumerate(waiting):
                progress("questions", done, len(waiting))
                try:
                    made = await derive(seed, count, known, model, call)
                except ModelFailed as error:
                    failed.append(f"{seed.query_id}: {one_line(str(error))}")
                    if len(failed) == min(MOST_FAILURES, len(waiting)) == done + 1:
                        raise
                    continue
                for each in made:
                    append(each)
                known += made
    return failed


def pool_papers(path: Path, call: PoolCall) -> list[str]:
    """Pool the papers of all selected questions; return the rankings that failed.

    Raises:
        BadBenchmark, BenchmarkBusy: the folder.
        InvalidCall: no question is selected, or the pool has papers of other places.
        ResourceError: as `open_places`.
    """
    settings = Settings.from_environment()
    with writing(path, CALLS, POOL) as (append_call, append):
        benchmark = Benchmark(path)
        if not benchmark.selected:
            raise InvalidCall(f"{path} has no selected question", remedy="select derived ones, or add seeds")
        name = _index_of(call, settings)
        _check_places(benchmark, name, call.sources)
        return asyncio.run(_pooled(benchmark, name, call, settings, append_call, append))


def _index_of(call: PoolCall, settings: Settings) -> str:
    return "" if call.sources and call.index is None else chosen_index(call.index, settings.indexer)


def _check_places(benchmark: Benchmark, name: str, sources: Sequence[str]) -> None:
    """Raise InvalidCall if papers of other places are pooled: their ids and merges would differ."""
    if last := benchmark.last_call("pool"):
        before = (last.options["index"] or "", list(last.options["sources"]))
        if before != (name, list(sources)):
            described = ", ".join(filter(None, [before[0], *before[1]]))
            raise InvalidCall(
                f"the pool of {benchmark.path} has papers of {described}",
                remedy=("name the same index and sources", "start a new folder"),
            )


async def _pooled(
    benchmark: Benchmark, name: str, call: PoolCall, settings: Settings, append_call: Any, append: Any
) -> list[str]:
    failed: list[str] = []
    async with open_places(name, call.sources, settings) as places:
        methods = call.method or usual_methods(places)
        rankings = rankings_of(places, methods, call.depth, settings)
        options = {
            **call.model_dump(mode="json"),
            "index": name,
            "method": list(methods),
            "places": [place.name for place in places.places],
        }
        made_with = {**places.record, **software(models=False), **searched_with(settings)}
        if call.find and call.model:
            made_with |= model_record(settings.generator.llm, {})
        async with model_of(settings, "brief" if call.find and call.model else RULES) as model:
            if call.find:
                rankings.append(found_by_agents(places, call.depth, without_model(settings, model), model))
            record = next_call(benchmark, "pool", options, made_with)
            append_call(record)
            with question_bar() as progress:
                async for made in pool(benchmark, rankings, record.number, progress):
                    if isinstance(made, FailedRanking):
                        failed.append(
                            f"{made.query_id}, {made.ranking.method} in {made.ranking.place}: {made.reason}"
                        )
                    else:
                        append(made)
    return failed


def judge_papers(path: Path, call: JudgeCall) -> list[str]:
    """Judge the papers that a stage has to judge; return the questions with papers that were not judged.

    Raises:
        BadBenchmark, BenchmarkBusy: the folder.
        InvalidCall: nothing is pooled, or the coarse stage is missing.
        ModelNotConfigured: the judge is a model, and none is configured.
        ModelFailed, SourceFailed: nothing was judged for `MOST_FAILURES` questions in a row.
    """
    settings = Settings.from_environment()
    with writing(path, CALLS, JUDGEMENTS) as (append_call, append):
        benchmark = Benchmark(path)
        if not benchmark.rankings:
            raise InvalidCall(f"{path} has no pool yet", remedy="`shrag benchmark pool` searches for papers")
        if call.stage == "fine" and stage_call(benchmark, "coarse") is None:
            raise InvalidCall("the coarse stage comes first", remedy="`shrag benchmark judge FOLDER coarse`")
        return asyncio.run(_judged(benchmark, call, settings, append_call, append))


async def _judged(
    benchmark: Benchmark, call: JudgeCall, settings: Settings, append_call: Any, append: Any
) -> list[str]:
    async with model_of(settings, call.judge) as model:
        options = {"stage": call.stage, "judge": call.judge, "threshold": call.least}
        made_with = software(models=False) | (
            model_record(model.settings, prompt_versions_of(call.judge)) if model else searched_with(settings)
        )
        step = JUDGE_STEP.format(call.stage)
        record = next_call(benchmark, step, options, made_with)
        waiting = unjudged(benchmark, record)
        append_call(record)
        if not waiting:
            return []
        if model:
            judging = Judging(call.stage, call.judge, record, OpenedSources([]), settings, model)
            return await _judge_all(benchmark, waiting, judging, append)
        last = benchmark.last_call("pool")
        sources = last.options["sources"] if last else ()
        async with open_places(benchmark.index, sources, settings) as places:
            opened = Judging(call.stage, call.judge, record, places.together(), settings, None)
            return await _judge_all(benchmark, waiting, opened, append)


async def _judge_all(benchmark: Benchmark, waiting: Any, judging: Judging, append: Any) -> list[str]:
    failed: list[str] = []
    in_a_row = 0
    with question_bar() as progress:
        for done, (query_id, candidates) in enumerate(waiting.items()):
            progress("questions", done, len(waiting))
            question = benchmark.selected[query_id]
            try:
                left = await judge_question(query_id, question, candidates, judging, append)
                in_a_row = 0
            except (ModelFailed, SourceFailed) as error:
                in_a_row += 1
                if in_a_row in {MOST_FAILURES, len(waiting)}:
                    raise
                failed.append(f"{query_id}: {one_line(str(error))}")
                continue
            if left:
                failed.append(f"{query_id}: {len(left):,} of {len(candidates):,} papers")
    return failed


def confirm_papers(path: Path, call: ConfirmCall) -> Session:
    """Run a session of an assessor at the terminal.

    Raises:
        BadBenchmark, BenchmarkBusy: the folder.
        InvalidCall: nothing is pooled yet, or contradictory options.
    """
    if call.dropped and call.disputed:
        raise InvalidCall("--dropped and --disputed exclude each other")
    part: Part = "dropped" if call.dropped else "disputed" if call.disputed else "passed"
    Benchmark(path)
    with writing(path, assessments_file(path, call.assessor), shared=True) as (append,):
        benchmark = Benchmark(path)
        pairs = pairs_to_confirm(benchmark, call.assessor, part, call.sample)
        session = Session(benchmark, pairs, dict(benchmark.assessments.get(call.assessor, {})))
        session.run(typed_keys(), now, append)
    return session


def model_record(llm: LanguageModelSettings, prompts: Mapping[str, int]) -> dict[str, Any]:
    """Return the language model and its prompts for the record of a call."""
    return {"model": llm.model, "language model": asked_with(llm), "prompts": dict(prompts)}


def searched_with(settings: Settings) -> dict[str, Any]:
    """Return the settings of searches for the record of a call."""
    indexer = settings.indexer
    return {
        "settings": settings.retriever.model_dump(mode="json", exclude={"synonyms"}),
        **{name: asked_with(getattr(indexer, name)) for name in ("encoder", "reranker")},
    }


def without_model(settings: Settings, model: object) -> Settings:
    """Return the settings, without a language model if none is used."""
    if model:
        return settings
    llm = settings.generator.llm.model_copy(update={"base_url": None})
    return replace(settings, generator=settings.generator.model_copy(update={"llm": llm}))
