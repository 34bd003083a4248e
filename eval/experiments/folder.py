"""The folder of an experiment's results.

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
manifest is written last.
"""

import errno
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from base.calls import reason
from base.errors import InvalidCall, OutputNotWritten
from base.files.durable import cause_of
from base.files.output_files import not_written, write_output
from base.files.regular_files import read_regular
from eval.experiments.experiment import SECONDS, Experiment, Outcome, Record, TopicResult
from eval.experiments.figures import drawn
from eval.experiments.report import as_markdown, as_page
from eval.files import Input
from eval.manifest import differences
from eval.runs import Run, run_lines

MANIFEST, METRICS, TIMES, KEPT = "manifest.json", "metrics.json", "times.json", "kept.jsonl"
MOST_BYTES = 64_000_000  # of a manifest, and of metrics
FORMAT = 3
ENDING = re.compile(r"\.[A-Za-z0-9]{1,6}")  # of a file name
OTHER_FOLDER = "name an empty or a new folder"
PATHS = (".path", ".copied_to")  # ends of names that `differing` leaves out


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


@dataclass(frozen=True, slots=True)
class Results:
    """Manifest and metrics of a folder of results."""

    manifest: ReadManifest
    metrics: Any


def check_folder(path: Path, name: str, inputs: Iterable[str] = ()) -> None:
    """Create the folder if needed; it may contain results of the same experiment, also unfinished ones.

    Raises:
        InvalidCall: it contains other files, results of another experiment, or an input.
        OutputNotWritten: it cannot be created, or no permission.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = {each.name for each in path.iterdir()}
    except OSError as error:
        raise OutputNotWritten(f"{path} cannot be written: {cause_of(error)}") from None
    found = _read_manifest(path).experiment if MANIFEST in others else name
    if found != name:
        raise InvalidCall(f"{path} contains results of {found}", remedy=OTHER_FOLDER)
    if others and not others & {MANIFEST, KEPT}:
        raise InvalidCall(f"{path} contains other files, such as {min(others)}", remedy=OTHER_FOLDER)
    for read in inputs:
        if Path(os.path.realpath(read)).is_relative_to(os.path.realpath(path)):
            raise InvalidCall(f"the input {read} is in the output folder {path}", remedy=OTHER_FOLDER)
    if not os.access(path, os.W_OK):
        raise not_written(path, PermissionError(errno.EACCES, "no permission"))


def input_records(inputs: Mapping[str, Input]) -> dict[str, dict[str, Any]]:
    """Return the inputs for the manifest: path as given, SHA-256, and name of the copy in the folder."""
    return {
        option: {
            "path": each.path,
            "sha256": each.sha256,
            "copied_to": None if each.content is None else _copy_of(option, each),
        }
        for option, each in inputs.items()
    }


def _copy_of(option: str, given: Input) -> str:
    """Return the name of a copy: the name of the option with the endings of the file."""
    endings = [ending for ending in Path(given.path).suffixes[-2:] if ENDING.fullmatch(ending)]
    return f"inputs/{option}{''.join(endings)}"


def write_results(
    path: Path,
    experiment: Experiment,
    outcome: Outcome,
    topics: Mapping[str, TopicResult],
    inputs: Mapping[str, Input],
    made_with: Mapping[str, Any],
    started: float,
) -> list[str]:
    """Write all files of an experiment; return their names.

    Raises:
        OutputNotWritten: the disk is full, or permission is missing.
    """
    judges = {table.title: table.judge for table in outcome.tables if table.judge}
    record = {"format": FORMAT, **made_with, "judges": judges}
    drawings = dict(each for figure in outcome.figures for each in drawn(figure))
    times = {
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 3),
        "tables": [{"title": title, **each} for title, each in _tables(outcome, timed=True).items()],
        "topics": {
            query_id: topic.record[SECONDS] for query_id, topic in topics.items() if SECONDS in topic.record
        },
    }

    def files() -> Iterator[tuple[str, bytes]]:
        lines = [without_times(query_id, topic.record) for query_id, topic in topics.items()]
        yield "topics.jsonl", "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        for name, run in {**runs_of(topics), **outcome.runs}.items():
            of_run = [
                line for query_id, ranking in run.items() for line in run_lines(query_id, ranking, name)
            ]
            yield f"runs/{name}.trec", "".join(of_run).encode()
        for name, text in outcome.files.items():
            yield name, text.encode()
        yield "report.md", as_markdown(experiment, outcome).encode()
        yield "report.html", as_page(experiment, outcome, drawings, record).encode()
        for option, given in inputs.items():
            if given.content is not None:
                yield _copy_of(option, given), given.content
        yield TIMES, _json(times)

    return write_files(path, record, outcome, {**drawings, **dict(files())})


def write_files(
    path: Path, manifest: Mapping[str, Any], outcome: Outcome, files: Mapping[str, bytes]
) -> list[str]:
    """Write files by name, metrics and, last, the manifest, which lists them; return the names.

    Files of an earlier call that this one does not make are removed.

    Raises:
        OutputNotWritten: the disk is full, or permission is missing.
    """
    metrics = {"main": dict(outcome.main), "tables": _tables(outcome, timed=False)}
    made = {**files, METRICS: _json(metrics)}
    for name in _earlier_files(path) - made.keys():
        (path / name).unlink(missing_ok=True)
    (path / MANIFEST).unlink(missing_ok=True)
    all_files = {**made, MANIFEST: _json({**manifest, "files": sorted(made)})}
    for name, content in all_files.items():
        try:
            (path / name).parent.mkdir(exist_ok=True)
        except OSError as error:
            raise not_written((path / name).parent, error) from None
        write_output(path / name, content)
    return list(all_files)


def _earlier_files(path: Path) -> set[str]:
    """Return the names in the manifest of an earlier call, without any outside of the folder."""
    try:
        names = json.loads((path / MANIFEST).read_bytes())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {name for name in names if not Path(name).is_absolute() and ".." not in Path(name).parts}


def _tables(outcome: Outcome, *, timed: bool) -> dict[str, Any]:
    return {
        table.title: {"columns": table.columns, "rows": table.rows}
        for table in outcome.tables
        if table.timed == timed
    }


def _json(record: Any) -> bytes:
    return (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode()


def without_times(query_id: str, record: Record) -> dict[str, Any]:
    """Return the line of a topic."""
    return {"query_id": query_id} | {name: value for name, value in record.items() if name != SECONDS}


def runs_of(topics: Mapping[str, TopicResult]) -> dict[str, Run]:
    """Return the rankings of the topics as runs by name."""
    runs: dict[str, Run] = {}
    for query_id, topic in topics.items():
        for name, ranking in topic.rankings.items():
            runs.setdefault(name, {})[query_id] = ranking
    return runs


def read_results(path: Path) -> Results:
    """Read a folder of results; raise InvalidCall if it is none, or is unfinished or damaged."""
    manifest = _read_manifest(path)
    try:
        return Results(manifest, json.loads(read_regular(path / METRICS, MOST_BYTES)))
    except OSError as error:
        raise InvalidCall(f"{path / METRICS} cannot be read: {cause_of(error)}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidCall(f"{path / METRICS} is damaged: {error}") from None


def _read_manifest(path: Path) -> ReadManifest:
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


def differing(first: Results, second: Results) -> tuple[list[str], list[str]]:
    """Return differences of manifests without paths, and differences of metrics, one line each."""
    of_manifests = differences(first.manifest.model_dump(), second.manifest.model_dump())
    made = [line for line in of_manifests if not line.partition(": ")[0].endswith(PATHS)]
    return made, list(differences({"metrics": first.metrics}, {"metrics": second.metrics}))
