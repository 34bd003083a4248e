"""The step `judge`: judgements of a stage, added to the folder."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from base.errors import InvalidCall
from base.journal import Append
from base.untrusted import one_line
from eval.judging.automatic import Judging, judge_question, model_of, prompt_versions_of, unjudged
from eval.judging.calls import JudgeCall
from eval.judging.candidates import Candidate
from eval.judging.folder import CALLS, JUDGEMENTS, writing
from eval.judging.funnel import JUDGE_STEP, stage_call
from eval.judging.inputs import model_record, search_record
from eval.judging.places import open_places
from eval.judging.records import CallRecord, Judged
from eval.judging.state import Benchmark, next_call
from eval.manifest import software
from eval.progress import question_bar
from eval.ranking import MOST_FAILURES
from generator.errors import ModelFailed
from generator.finding.finding import OpenedSources
from generator.llm import LanguageModel
from generator.pipeline import Settings
from retriever.errors import SourceFailed


def judge_papers(path: Path, call: JudgeCall) -> list[str]:
    """Judge the papers that a stage has to judge; return the questions with papers that were not judged.

    Raises:
        BadBenchmark, FileBusy: the folder.
        InvalidCall: nothing is pooled, or the coarse stage is missing.
        ModelNotConfigured: the judge is a model, and none is configured.
        ModelFailed, SourceFailed: nothing was judged for `MOST_FAILURES` questions in a row, or for all.
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
    benchmark: Benchmark,
    call: JudgeCall,
    settings: Settings,
    append_call: Append[CallRecord],
    append: Append[Judged],
) -> list[str]:
    async with model_of(settings, call.judge) as model:
        record = _record(benchmark, call, settings, model)
        waiting = unjudged(benchmark, record)
        last = stage_call(benchmark, call.stage)
        if waiting or last is None or (last.options, last.made_with) != (record.options, record.made_with):
            append_call(record)
        if not waiting:
            return []
        if model:
            judging = Judging(call.stage, call.judge, record, OpenedSources([]), settings, model)
            return await _judge_all(benchmark, waiting, judging, append)
        pooled = benchmark.last_call("pool")
        async with open_places(
            benchmark.index, pooled.options["sources"] if pooled else (), settings
        ) as places:
            judging = Judging(call.stage, call.judge, record, places.together(), settings, None)
            return await _judge_all(benchmark, waiting, judging, append)


def _record(
    benchmark: Benchmark, call: JudgeCall, settings: Settings, model: LanguageModel | None
) -> CallRecord:
    if model:
        made_with = model_record(model.settings, prompt_versions_of(call.judge))
    else:
        made_with = search_record(settings)
    options = {"stage": call.stage, "judge": call.judge, "threshold": call.least}
    return next_call(
        benchmark, JUDGE_STEP.format(call.stage), options, {**made_with, **software(models=False)}
    )


async def _judge_all(
    benchmark: Benchmark,
    waiting: Mapping[str, Sequence[Candidate]],
    judging: Judging,
    append: Append[Judged],
) -> list[str]:
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
