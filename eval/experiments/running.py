"""The run of an experiment: topics, concurrently if a model is used, and the folder of results.

| file | content |
|---|---|
| manifest.json | experiment, options, inputs with SHA-256, index, settings, models, software |
| metrics.json | main numbers, and all tables without times |
| inputs/OPTION.… | copies of the input files |
| topics.jsonl | the values of each topic |
| runs/NAME.trec | runs |
| figures/NAME.svg, NAME.png | figures |
| answers.csv | of `challenge`; other experiments may have further files |
| report.md, report.html | tables, figures and notes |
| times.json | start, seconds of each topic, and tables of times |

Before that the folder contains the finished topics (`kept.jsonl`), from which the same command resumes. The
manifest is written last, and lists the files: those of an earlier call are removed.
"""

import asyncio
import json
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from base.calls import reason
from base.errors import InvalidCall, OutputNotWritten
from base.files.durable import cause_of
from base.files.output_files import not_written, write_output
from base.files.regular_files import read_regular
from base.progress import Progress
from base.versions import checkout_commit
from eval.errors import BadTopics
from eval.experiments import EXPERIMENTS, load_experiment
from eval.experiments.comparing import SECONDS, seconds_table
from eval.experiments.experiment import Experiment, Results, Topic, TopicResult
from eval.experiments.materials import ExperimentCall, Materials, Models
from eval.experiments.report import Outcome, Report, as_markdown, as_page, drawable, drawn
from eval.files import Input
from eval.kept import KeptTopics, as_json, keeping
from eval.manifest import differences, made_with
from eval.places import open_places
from eval.progress import question_bar, work_through
from eval.runs import run_lines
from retriever.errors import BadExpression, BadQuestion

MANIFEST, METRICS, KEPT = "manifest.json", "metrics.json", "kept.jsonl"
MOST_BYTES = 64_000_000  # of a manifest, and of metrics
FORMAT = 3
ENDING = re.compile(r"\.[A-Za-z0-9]{1,6}")  # of a file name
OTHER_FOLDER = "name an empty or a new folder"
PATHS = (".path", ".copied_to")  # ends of names that `differing` leaves out
REPLACED = "unusable_keywords"  # key of a record: replies of the model for which statistics chose keywords


class ReadInput(BaseModel):
    """An input in a manifest: its path as given, its SHA-256, and its copy in the folder."""

    path: str
    sha256: str
    copied_to: str | None = None


class ReadManifest(BaseModel):
    """A manifest as it is read; `repeat` uses these parts, and `diff` all parts."""

    model_config = ConfigDict(extra="allow")

    format: int
    experiment: str
    call: dict[str, Any]
    inputs: dict[str, ReadInput]
    files: list[str] = []


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
        BadTopics, BadQrels, UnitsDiffer: the inputs cannot be used, with file and line.
        InvalidCall: no topic has a relevant judgement, or as `check_folder`, or the folder keeps topics of a
            call with other options.
        FileBusy: another process writes into the folder.
        ModelNotConfigured: the call uses a language model, and none is configured.
        ModelFailed: the language model failed; finished topics are kept.
    """
    experiment = load_experiment(name)
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
            outcome = drawable(replace(outcome, tables=(*outcome.tables, *times), notes=notes))
            files = _write_results(out, experiment, outcome, topics, materials.inputs, record, started)
            kept.discard()
    return outcome, files


def manifest_record(name: str, call: ExperimentCall, materials: Materials) -> dict[str, Any]:
    """Return the record of everything that affects the results.

    An input has its path as given, its SHA-256, and the name of its copy in the folder: the name of the
    option with the endings of the file.
    """
    values = call.model_dump(mode="json", exclude={*call.files})
    llm = materials.settings.generator.llm if call.model else None
    if "index" in values:
        values["index"] = materials.index.manifest.name
    inputs = {}
    for option, each in materials.inputs.items():
        endings = "".join(filter(ENDING.fullmatch, Path(each.path).suffixes[-2:]))
        copy = None if each.content is None else f"inputs/{option}{endings}"
        inputs[option] = {"path": each.path, "sha256": each.sha256, "copied_to": copy}
    return {
        "experiment": name,
        "call": values,
        "inputs": inputs,
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
    finished = dict(kept.topics)
    async with AsyncExitStack() as closed_at_end:
        if materials.declared:
            places = open_places("", getattr(call, "sources", ()), materials.settings)
            materials = replace(materials, places=await closed_at_end.enter_async_context(places))
        if call.model:
            models = Models(closed_at_end)
            materials = replace(materials, model=await models.of(materials.settings), models=models)

        async def finish(query_id: str, question: str) -> None:
            topic = Topic(call, materials, query_id, question)
            try:
                result = await experiment.topic(topic)
            except (BadQuestion, BadExpression) as error:
                raise BadTopics(f"topic {query_id}: {error}") from None
            more = {REPLACED: len(topic.unusable)} if topic.unusable else {}
            finished[query_id] = replace(result, record=as_json({**result.record, **more}))
            kept.keep(query_id, finished[query_id])

        waiting = {each: question for each, question in materials.topics.items() if each not in finished}
        await work_through(
            waiting,
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
        raise OutputNotWritten(f"{path} cannot be written: {cause_of(error)}") from None
    found = read_manifest(path).experiment if MANIFEST in others else name
    if found != name:
        raise InvalidCall(f"{path} contains results of {found}", remedy=OTHER_FOLDER)
    if others and not others & {MANIFEST, KEPT}:
        raise InvalidCall(f"{path} contains other files, such as {min(others)}", remedy=OTHER_FOLDER)
    for read in inputs:
        if Path(os.path.realpath(read)).is_relative_to(os.path.realpath(path)):
            raise InvalidCall(f"the input {read} is in the output folder {path}", remedy=OTHER_FOLDER)


def _write_results(
    path: Path,
    experiment: Experiment,
    outcome: Outcome,
    topics: Mapping[str, TopicResult],
    inputs: Mapping[str, Input],
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
    copies = {record["inputs"][option]["copied_to"]: given.content for option, given in inputs.items()}
    files = {
        "topics.jsonl": json_lines(records),
        **{f"runs/{run}.trec": "".join(lines).encode() for run, lines in runs.items()},
        **{file: text.encode() for file, text in outcome.files.items()},
        **{file: content for file, content in copies.items() if content is not None},
        "times.json": _json(times),
    }
    index, llm, encoder = (record[part] for part in ("index", "language model", "encoder"))
    options = {name: value for name, value in record["call"].items() if name != "index" and value}
    # The inputs by name; paths differ between repetitions and are left out.
    made_from = {
        "index": f"{index['name']}, {index['engine']}, {index['papers']:,} papers",
        **{
            option: f"{each['copied_to'] or 'not copied'} (SHA-256 {each['sha256'][:12]}…)"
            for option, each in record["inputs"].items()
        },
        "options": ", ".join(name if value is True else f"{name} {value}" for name, value in options.items()),
        "language model": f"{llm['model']}, revision {llm['revision']}" if llm else "none",
        "encoder": encoder["model"] or "none",
        "shrag": record["shrag"],
        "repeat": "shrag experiment repeat FOLDER",
    }
    heading = EXPERIMENTS[record["experiment"]]
    paragraphs = (f"Source: {heading.source}.", *experiment.description.split("\n\n"))
    judges = {table.title: table.judge for table in outcome.tables if table.judge}
    manifest = {"format": FORMAT, **record, "judges": judges}
    return write_files(path, manifest, outcome, Report(heading.title, paragraphs, made_from), files)


def write_files(
    path: Path, manifest: Mapping[str, Any], outcome: Outcome, report: Report, files: Mapping[str, bytes]
) -> list[str]:
    """Write files by name, figures, the report, metrics and, last, the manifest; return the names.

    Files of an earlier call that this one does not make are removed.

    Raises:
        OutputNotWritten: the disk is full, or permission is missing.
    """
    drawings = dict(each for figure in outcome.figures for each in drawn(figure))
    made = {
        **files,
        **{f"figures/{name}": content for name, content in drawings.items()},
        "report.md": as_markdown(report, outcome).encode(),
        "report.html": as_page(report, outcome, drawings).encode(),
        METRICS: _json({"main": dict(outcome.main), "tables": _tables(outcome, timed=False)}),
    }
    earlier = read_manifest(path).files if (path / MANIFEST).exists() else []
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


def read_manifest(path: Path) -> ReadManifest:
    """Read the manifest of a folder of results; raise InvalidCall if it is none, or is unfinished."""
    try:
        read = ReadManifest.model_validate_json(read_regular(path / MANIFEST, MOST_BYTES))
    except FileNotFoundError:
        unfinished = (path / KEPT).exists()
        why = "is unfinished: its experiment was interrupted" if unfinished else "has no results"
        raise InvalidCall(f"{path} {why}", remedy="run the experiment again" if unfinished else ()) from None
    except OSError as error:
        raise InvalidCall(f"{path} is not a folder of an experiment: {cause_of(error)}") from None
    except ValidationError as error:
        raise InvalidCall(f"{path / MANIFEST} is no manifest of an experiment: {reason(error)}") from None
    if read.format != FORMAT:
        raise InvalidCall(f"{path / MANIFEST} has format {read.format}, this version reads {FORMAT}")
    return read


def call_values(path: Path, manifest: ReadManifest) -> dict[str, Any]:
    """Return the values of the call of a folder, with inputs from their copies in the folder."""
    copies = {
        option: str(path / given.copied_to) if given.copied_to else given.path
        for option, given in manifest.inputs.items()
    }
    return {**manifest.call, **copies}


def differing(first: Path, second: Path) -> tuple[list[str], list[str]]:
    """Return differences of manifests without paths, and differences of metrics, one line each.

    Raises:
        InvalidCall: as `read_manifest`, or the metrics are damaged.
    """
    one, other = (read_manifest(path).model_dump(exclude={"files"}) for path in (first, second))
    made = [line for line in differences(one, other) if not line.partition(": ")[0].endswith(PATHS)]
    try:
        metrics = [{"metrics": json.loads((path / METRICS).read_bytes())} for path in (first, second)]
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidCall(f"{METRICS} of {first} or {second} cannot be read: {error}") from None
    return made, list(differences(*metrics))
