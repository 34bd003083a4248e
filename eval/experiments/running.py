"""The run of an experiment: topics, concurrently if a model is used, and the folder of results.

docs/how-to/reproducing.md describes its files. Times are in times.json alone, so that the others are equal in
a repetition.

Before that the folder contains the finished topics (`kept.jsonl`), from which the same command resumes. The
manifest is written last, and lists the files: those of an earlier call are removed.
"""

import asyncio
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from base.errors import InvalidCall
from base.files.output_files import not_written, write_output
from base.progress import Progress
from base.versions import checkout_commit
from eval.errors import BadTopics
from eval.experiments import EXPERIMENTS, load_experiment
from eval.experiments.comparing import SECONDS, Outcome, seconds_table
from eval.experiments.experiment import Experiment, Results, Topic, TopicResult
from eval.experiments.materials import ExperimentCall, Materials, opened_materials, settings_of
from eval.experiments.report import as_markdown, as_page, drawable, drawn
from eval.kept import KeptTopics, as_json, keeping
from eval.manifest import differences, made_with
from eval.places import open_places
from eval.progress import question_bar, work_through
from eval.runs import run_lines
from generator.llm import LanguageModel
from generator.pipeline import Settings
from retriever.errors import BadExpression, BadFilter, BadQuestion, UnknownPaper

MANIFEST, METRICS, KEPT = "manifest.json", "metrics.json", "kept.jsonl"
OTHER_FOLDER = "name an empty or a new folder"
REPLACED = "unusable_keywords"  # key of a record: replies of the model for which statistics chose keywords


def run_experiment(
    name: str, call: ExperimentCall, out: Path, *, restart: bool = False, parallel: int | None = None
) -> tuple[Outcome, Sequence[str]]:
    """Run an experiment and write its folder; topics that the folder keeps are not repeated.

    Returns the outcome, and the names of the files in the folder.

    Args:
        name: of the experiment.
        call: its options.
        out: the folder.
        restart: whether kept topics are repeated.
        parallel: concurrent topics; by default one, and with a language model its concurrency.

    Raises:
        BadTopics, BadQrels: the inputs cannot be used, with file and line.
        InvalidCall: no topic has a relevant judgement, or as `check_folder`, or the folder keeps topics of a
            call with other options.
        FileBusy: another process writes into the folder.
        ModelNotConfigured: the call uses a language model, and none is configured.
        ModelFailed: the language model failed; finished topics are kept.
    """
    experiment = load_experiment(name)
    check_folder(out, name, filter(None, (getattr(call, file) for file in call.files())))
    settings = settings_of(call)
    inputs = experiment.read(call, settings)
    with opened_materials(call, inputs, settings) as materials, question_bar() as progress:
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
            outcome = drawable(replace(outcome, tables=(*outcome.tables, *times), notes=notes))
            files = _write_results(out, experiment, outcome, topics, record, started)
            kept.discard()
    return outcome, files


def manifest_record(name: str, call: ExperimentCall, materials: Materials) -> dict[str, Any]:
    """Return the record of everything that affects the results."""
    values = call.model_dump(mode="json", exclude={*call.files()})
    if "index" in values:
        values["index"] = materials.index.manifest.name
    llm = materials.settings.generator.llm if call.model else None
    return {
        "experiment": name,
        "call": values,
        "inputs": {option: read.record for option, read in materials.files.items()},
        **made_with(materials.index_record(), materials.settings, llm),
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
    finished, models = dict(kept.topics), dict[str, LanguageModel]()
    async with AsyncExitStack() as closed_at_end:

        async def open_model(settings: Settings) -> LanguageModel:
            key = settings.generator.llm.model_dump_json()
            if key not in models:
                models[key] = await closed_at_end.enter_async_context(settings.language_model())
            return models[key]

        async def finish(query_id: str, question: str) -> None:
            topic = Topic(call, materials, query_id, question)
            try:
                result = await experiment.topic(topic)
            except (BadQuestion, BadExpression, BadFilter, UnknownPaper) as error:
                raise BadTopics(f"topic {query_id}: {error}") from None
            more = {REPLACED: len(topic.unusable)} if topic.unusable else {}
            finished[query_id] = replace(result, record=as_json({**result.record, **more}))
            kept.keep(query_id, finished[query_id])

        if materials.declared:
            places = open_places("", getattr(call, "sources", ()), materials.settings)
            materials = replace(materials, places=await closed_at_end.enter_async_context(places))
        if call.model:
            model = await open_model(materials.settings)
            materials = replace(materials, model=model, open_model=open_model)
        await work_through(
            {each: question for each, question in materials.topics.items() if each not in finished},
            finish,
            total=len(materials.topics),
            at_once=parallel or (materials.settings.generator.llm.concurrency if call.model else 1),
            tolerated=(),
            progress=progress,
        )
    return {query_id: finished[query_id] for query_id in materials.topics}


def check_folder(path: Path, name: str, inputs: Iterable[str] = ()) -> None:
    """Create the folder if needed; it may contain results of the same experiment, also unfinished ones.

    Raises:
        InvalidCall: it contains other files, results of another experiment, or an input.
        OutputNotWritten: it cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = {each.name for each in path.iterdir()}
    except OSError as error:
        raise not_written(path, error) from None
    found = read_json(path / MANIFEST).get("experiment") if MANIFEST in others else name
    if found != name or (others and not others & {MANIFEST, KEPT}):
        what = f"{MANIFEST} of {found}" if found != name else f"other files, such as {min(others)}"
        raise InvalidCall(f"{path} contains {what}", remedy=OTHER_FOLDER)
    for read in inputs:
        if Path(os.path.realpath(read)).is_relative_to(os.path.realpath(path)):
            raise InvalidCall(f"the input {read} is in the output folder {path}", remedy=OTHER_FOLDER)


def _write_results(
    path: Path,
    experiment: Experiment,
    outcome: Outcome,
    topics: Mapping[str, TopicResult],
    record: Mapping[str, Any],
    started: float,
) -> list[str]:
    records, runs = [], dict[str, list[str]]()
    for query_id, topic in topics.items():
        values = {part: value for part, value in topic.record.items() if part != SECONDS}
        records.append({"query_id": query_id, **values})
        for run, ranking in topic.rankings.items():
            runs.setdefault(run, []).extend(run_lines(query_id, ranking, run))
    times = {
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 3),
        "tables": [{"title": title, **each} for title, each in _tables(outcome, timed=True).items()],
        "topics": {key: topic.record[SECONDS] for key, topic in topics.items() if SECONDS in topic.record},
    }
    files = {
        "topics.jsonl": json_lines(records),
        **{f"runs/{run}.trec": "".join(lines).encode() for run, lines in runs.items()},
        **{file: text.encode() for file, text in outcome.files.items()},
        "times.json": _json(times),
    }
    title, source = EXPERIMENTS[record["experiment"]]
    paragraphs = (f"# {title}", f"Source: {source}.", experiment.description)
    judges = {table.title: table.judge for table in outcome.tables if table.judge}
    return write_files(path, {**record, "judges": judges}, outcome, paragraphs, files)


def write_files(
    path: Path,
    manifest: Mapping[str, Any],
    outcome: Outcome,
    paragraphs: Sequence[str],
    files: Mapping[str, bytes],
) -> list[str]:
    """Write files by name, figures, the report, metrics and, last, the manifest; return the names.

    `paragraphs` are the beginning of the report, in Markdown. Files of an earlier call that this one does not
    make are removed.

    Raises:
        OutputNotWritten: the disk is full, or permission is missing.
    """
    drawings = dict(each for figure in outcome.figures for each in drawn(figure))
    made = {
        **files,
        **{f"figures/{name}": content for name, content in drawings.items()},
        "report.md": as_markdown(paragraphs, outcome).encode(),
        "report.html": as_page(paragraphs, outcome, drawings).encode(),
        METRICS: _json({"main": outcome.main, "tables": _tables(outcome, timed=False)}),
    }
    earlier = read_json(path / MANIFEST)["files"] if (path / MANIFEST).exists() else []
    for name in {*earlier, MANIFEST} - made.keys():
        if (path / name).resolve().is_relative_to(path.resolve()):
            (path / name).unlink(missing_ok=True)
    for name, content in {**made, MANIFEST: _json({**manifest, "files": sorted(made)})}.items():
        try:
            (path / name).parent.mkdir(exist_ok=True)
        except OSError as error:
            raise not_written((path / name).parent, error) from None
        write_output(path / name, content)
    return [*made, MANIFEST]


def _tables(outcome: Outcome, *, timed: bool) -> dict[str, Any]:
    chosen = [table for table in outcome.tables if table.timed == timed]
    return {table.title: {"columns": table.columns, "rows": table.rows} for table in chosen}


def _json(record: Any) -> bytes:
    return (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode()


def json_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return records as JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def read_json(path: Path) -> dict[str, Any]:
    """Read a manifest or metrics of an experiment; raise InvalidCall if the file cannot be read."""
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        unfinished = "; its experiment was interrupted" if (path.parent / KEPT).exists() else ""
        raise InvalidCall(f"{path} cannot be read: {error}{unfinished}") from None
    return record


def differing(first: Path, second: Path) -> list[str]:
    """Return the differences of manifests, without paths and files, and of metrics, one line each.

    Raises:
        InvalidCall: as `read_json`.
    """
    records = [
        {**read_json(path / MANIFEST), "files": None, "metrics": read_json(path / METRICS)}
        for path in (first, second)
    ]
    return [line for line in differences(*records) if not line.partition(": ")[0].endswith(".path")]
