"""The run of an experiment: topics, concurrently if a model is used, and the folder of results.

Finished topics are kept in the folder, so that the same command resumes after an interruption.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from base.progress import Progress
from base.versions import checkout_commit
from eval.errors import BadTopics
from eval.experiments import load_experiment
from eval.experiments.calls import ExperimentCall
from eval.experiments.comparing import seconds_table
from eval.experiments.experiment import Experiment, Outcome, Results
from eval.experiments.figures import check_plots
from eval.experiments.folder import KEPT, check_folder, input_records, write_results
from eval.experiments.materials import Materials, Models
from eval.experiments.topic import Topic, TopicResult, unusable_replies
from eval.kept import KeptTopics, as_json, keeping
from eval.manifest import made_with
from eval.progress import question_bar
from generator.tracing.progress import all_of
from retriever.errors import BadExpression, BadQuestion

REPLACED = "unusable_keywords"  # key of a record: replies of the model for which statistics chose keywords


class Finished(NamedTuple):
    """The outcome of an experiment, and the names of the files in its folder."""

    outcome: Outcome
    files: Sequence[str]


def run_experiment(
    name: str, call: ExperimentCall, out: Path, *, restart: bool = False, parallel: int | None = None
) -> Finished:
    """Run an experiment and write its folder; topics that the folder keeps are not repeated.

    Args:
        name: of the experiment.
        call: its options.
        out: the folder.
        restart: whether kept topics are repeated.
        parallel: concurrent topics; by default one, and with a language model its concurrency.

    Raises:
        BadTopics, BadQrels, UnitsDiffer: the inputs cannot be used, with file and line.
        InvalidCall: no topic has a relevant judgement, or as `check_folder`, or the folder keeps topics of a
            call with other options.
        FileBusy: another process writes into the folder.
        ModelNotConfigured: the call uses a language model, and none is configured.
        ModelFailed: the language model failed; finished topics are kept.
    """
    experiment = load_experiment(name)
    check_plots()
    check_folder(out, name, filter(None, (getattr(call, file) for file in call.files)))
    with experiment.opened(call) as materials, question_bar() as progress:
        record = manifest_record(name, call, materials)
        with keeping(out / KEPT, record, TopicResult, len(materials.topics), restart=restart) as kept:
            started = time.time()
            topics = asyncio.run(_all_topics(experiment, call, materials, kept, parallel, progress))
            results = Results(call, materials, [topic.record for topic in topics.values()])
            outcome = experiment.summary(results)
            times, notes = seconds_table(results.topics), (*outcome.notes, *materials.notes)
            if count := results.count(lambda topic: REPLACED in topic):
                reply = f"the reply of the language model was unusable (`{REPLACED}` in topics.jsonl)"
                notes += (f"{count:,} of {len(topics):,} topics have keywords of statistics: {reply}.",)
            tables = (*outcome.tables, *([times] if times else ()))
            outcome = replace(outcome, tables=tables, notes=notes)
            files = write_results(out, outcome, topics, materials.inputs, record, started)
            kept.discard()
    return Finished(outcome, files)


def manifest_record(name: str, call: ExperimentCall, materials: Materials) -> dict[str, Any]:
    """Return the record of everything that affects the results."""
    values = call.model_dump(mode="json", exclude={*call.files})
    llm = materials.settings.generator.llm if call.model else None
    made = made_with(materials.index_record(), {}, {}, materials.settings, llm)
    if "index" in values:
        values["index"] = materials.index.manifest.name
    return {
        "experiment": name,
        "call": values,
        "inputs": input_records(materials.inputs),
        **{part: value for part, value in made.items() if part not in {"request", "inputs"}},
        "commit": checkout_commit(),
    }


async def _all_topics(
    experiment: Experiment,
    call: ExperimentCall,
    materials: Materials,
    kept: KeptTopics[TopicResult],
    parallel: int | None,
    progress: Progress,
) -> dict[str, TopicResult]:
    """Compute the topics that are not kept, in any order; return all in the order of the topics."""
    finished = dict(kept.topics)
    async with AsyncExitStack() as closed_at_end:
        if call.model:
            models = Models(materials.settings, closed_at_end)
            materials = replace(materials, model=await models.changed(), models=models)
        usual = materials.settings.generator.llm.concurrency if call.model else 1
        slots = asyncio.Semaphore(parallel or usual)

        async def finish(query_id: str, question: str) -> None:
            async with slots:
                progress("topics", len(finished), len(materials.topics))
                await asyncio.sleep(0)  # lets Ctrl-C end a run
                unusable: list[str] = []
                unusable_replies.set(unusable)
                try:
                    result = await experiment.topic(Topic(call, materials, query_id, question))
                except (BadQuestion, BadExpression) as error:
                    raise BadTopics(f"topic {query_id}: {error}") from None
                more = {REPLACED: len(unusable)} if unusable else {}
                result = replace(result, record=as_json({**result.record, **more}))
                finished[query_id] = result
                kept.keep(query_id, result)

        waiting = ((each, question) for each, question in materials.topics.items() if each not in finished)
        await all_of([finish(*topic) for topic in waiting])
    return {query_id: finished[query_id] for query_id in materials.topics}
