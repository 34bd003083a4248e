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
manifest is written last, and lists the files: those of an earlier call are removed.
"""

import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from base.calls import reason
from base.errors import InvalidCall, OutputNotWritten
from base.files.durable import cause_of
from base.files.output_files import not_written, write_output
from base.files.regular_files import read_regular
from eval.experiments import EXPERIMENTS, load_experiment
from eval.experiments.experiment import Outcome
from eval.experiments.figures import drawn
from eval.experiments.report import Report, as_markdown, as_page
from eval.experiments.topic import SECONDS, TopicResult
from eval.files import Input
from eval.manifest import differences
from eval.runs import run_lines

MANIFEST, METRICS, KEPT = "manifest.json", "metrics.json", "kept.jsonl"
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
    files: list[str] = []


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


def input_records(inputs: Mapping[str, Input]) -> dict[str, dict[str, Any]]:
    """Return the inputs for the manifest: path as given, SHA-256, and name of the copy in the folder.

    A copy has the name of the option with the endings of the file.
    """
    records = {}
    for option, each in inputs.items():
        endings = filter(ENDING.fullmatch, Path(each.path).suffixes[-2:])
        copy = None if each.content is None else f"inputs/{option}{''.join(endings)}"
        records[option] = {"path": each.path, "sha256": each.sha256, "copied_to": copy}
    return records


def write_results(
    path: Path,
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
    manifest = {"format": FORMAT, **made_with, "judges": judges}
    heading = EXPERIMENTS[made_with["experiment"]]
    description = load_experiment(made_with["experiment"]).description
    times = {
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 3),
        "tables": [{"title": title, **each} for title, each in _tables(outcome, timed=True).items()],
        "topics": {key: topic.record[SECONDS] for key, topic in topics.items() if SECONDS in topic.record},
    }
    records = (
        {"query_id": key, **{name: value for name, value in topic.record.items() if name != SECONDS}}
        for key, topic in topics.items()
    )
    runs: dict[str, list[str]] = {}
    for query_id, topic in topics.items():
        for name, ranking in topic.rankings.items():
            runs.setdefault(name, []).extend(run_lines(query_id, ranking, name))
    copies = {
        made_with["inputs"][option]["copied_to"]: given.content
        for option, given in inputs.items()
        if given.content is not None
    }
    files = {
        "topics.jsonl": json_lines(records),
        **{f"runs/{name}.trec": "".join(lines).encode() for name, lines in runs.items()},
        **{name: text.encode() for name, text in outcome.files.items()},
        **copies,
        "times.json": _json(times),
    }
    paragraphs = (f"Source: {heading.source}.", *description.split("\n\n"))
    report = Report(heading.title, paragraphs, _made_from(manifest))
    return write_files(path, manifest, outcome, report, files)


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
    for name in earlier:
        if name not in made and (path / name).resolve().is_relative_to(path.resolve()):
            (path / name).unlink(missing_ok=True)
    (path / MANIFEST).unlink(missing_ok=True)
    for name, content in {**made, MANIFEST: _json({**manifest, "files": sorted(made)})}.items():
        try:
            (path / name).parent.mkdir(exist_ok=True)
        except OSError as error:
            raise not_written((path / name).parent, error) from None
        write_output(path / name, content)
    return [*made, MANIFEST]


def _made_from(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the inputs of the results by name; paths differ between repetitions and are left out."""
    index, llm, encoder = (manifest[part] for part in ("index", "language model", "encoder"))
    options = {name: value for name, value in manifest["call"].items() if name != "index" and value}
    files = {
        option: f"{each['copied_to'] or 'not copied'} (SHA-256 {each['sha256'][:12]}…)"
        for option, each in manifest["inputs"].items()
    }
    return {
        "index": f"{index['name']}, {index['engine']}, {index['papers']:,} papers",
        **files,
        "options": ", ".join(name if value is True else f"{name} {value}" for name, value in options.items()),
        "language model": f"{llm['model']}, revision {llm['revision']}" if llm else "none",
        "encoder": encoder["model"] or "none",
        "shrag": manifest["shrag"],
        "repeat": "shrag experiment repeat FOLDER",
    }


def _tables(outcome: Outcome, *, timed: bool) -> dict[str, Any]:
    return {
        table.title: {"columns": table.columns, "rows": table.rows}
        for table in outcome.tables
        if table.timed == timed
    }


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
