"""The folder of an experiment's results.

| file | content |
|---|---|
| manifest.json | experiment, options, inputs, index, settings, models, software, SHA-256 of each result |
| inputs/OPTION.… | copies of the input files |
| topics.jsonl | the values of each topic |
| runs/NAME.trec | runs |
| figures/NAME.svg, NAME.png | figures |
| answers.csv and the like | further files of an experiment |
| report.md, report.html | tables, figures and notes |
| times.json | start, seconds of each topic, and tables of times; nothing else differs between two runs |

Before that the folder contains the finished topics (`kept.jsonl`), from which the same command resumes. The
manifest is written last; before it an unfinished one replaces that of an earlier run.
"""

import errno
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from base.calls import reason
from base.errors import InvalidCall, OutputNotWritten
from base.files.durable import cause_of
from base.files.output_files import not_written, write_output
from base.files.regular_files import open_regular, read_regular
from eval.reproduction.experiment import SECONDS, Experiment, Outcome, Record, TopicResult
from eval.reproduction.figures import drawn
from eval.reproduction.materials import Input
from eval.reproduction.report import as_markdown, as_page
from eval.runs import Run, run_lines

MANIFEST, TIMES, KEPT = "manifest.json", "times.json", "kept.jsonl"
MOST_BYTES = 64_000_000  # of a manifest
LARGEST_RESULT = 4_000_000_000  # bytes
LONGEST_VALUE = 80  # characters of a printed value
FORMAT = 2
ENDING = re.compile(r"\.[A-Za-z0-9]{1,6}")  # of a file name
UNFINISHED = b'{"unfinished": true}\n'  # the manifest until all files are written
OTHER_FOLDER = "name an empty or a new folder"
RESULTS = "results"  # part of the manifest


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
    results: dict[str, str]


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
    found = _manifest(path) if MANIFEST in others else None
    if found and found.experiment != name:
        raise InvalidCall(f"{path} contains results of {found.experiment}", remedy=OTHER_FOLDER)
    if MANIFEST not in others and (foreign := others - {KEPT}):
        raise InvalidCall(f"{path} contains other files, such as {min(foreign)}", remedy=OTHER_FOLDER)
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
) -> dict[str, str]:
    """Write all files of an experiment; return the SHA-256 of each result.

    Raises:
        OutputNotWritten: the disk is full, or permission is missing.
    """
    drawings = dict(each for figure in outcome.figures for each in drawn(figure))
    judges = {table.title: table.judge for table in outcome.tables if table.judge}
    record = {"format": FORMAT, **made_with, "judges": judges, "main": dict(outcome.main)}

    times = {
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 3),
        "tables": [
            {"title": table.title, "columns": table.columns, "rows": table.rows}
            for table in outcome.tables
            if table.timed
        ],
        "topics": {
            query_id: topic.record[SECONDS] for query_id, topic in topics.items() if SECONDS in topic.record
        },
    }
    others = [
        *(
            (_copy_of(option, given), given.content)
            for option, given in inputs.items()
            if given.content is not None
        ),
        (TIMES, (json.dumps(times, ensure_ascii=False, indent=1) + "\n").encode()),
    ]
    return write_files(path, record, _files(experiment, outcome, topics, drawings, record), others)


def write_files(
    path: Path,
    record: Mapping[str, Any],
    results: Iterable[tuple[str, bytes]],
    others: Iterable[tuple[str, bytes]] = (),
) -> dict[str, str]:
    """Write results and other files by name, and then the manifest; return the SHA-256 of each result.

    Unchanged results of an earlier run that this one does not have are removed.

    Raises:
        OutputNotWritten: the disk is full, or permission is missing.
    """
    digests: dict[str, str] = {}
    earlier = _manifest(path) if (path / MANIFEST).exists() else None
    write_output(path / MANIFEST, UNFINISHED)
    for name, content in results:
        _write(path / name, content)
        digests[name] = hashlib.sha256(content).hexdigest()
    for name, content in others:
        _write(path / name, content)
    for name, digest in (earlier.results if earlier else {}).items():
        if name not in digests and not _changed(path, name, digest):
            (path / name).unlink(missing_ok=True)
    manifest = json.dumps({**record, RESULTS: digests}, ensure_ascii=False, indent=1)
    _write(path / MANIFEST, (manifest + "\n").encode())
    return digests


def _write(target: Path, content: bytes) -> None:
    try:
        target.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise not_written(target.parent, error) from None
    write_output(target, content)


def _files(
    experiment: Experiment,
    outcome: Outcome,
    topics: Mapping[str, TopicResult],
    drawings: Mapping[str, bytes],
    made_with: Mapping[str, Any],
) -> Iterator[tuple[str, bytes]]:
    lines = [
        json.dumps(without_times(query_id, topic.record), ensure_ascii=False) + "\n"
        for query_id, topic in topics.items()
    ]
    yield "topics.jsonl", "".join(lines).encode()
    for name, run in {**runs_of(topics), **outcome.runs}.items():
        of_run = [line for query_id, ranking in run.items() for line in run_lines(query_id, ranking, name)]
        yield f"runs/{name}.trec", "".join(of_run).encode()
    for name, content in drawings.items():
        yield f"figures/{name}", content
    for name, text in outcome.files.items():
        yield name, text.encode()
    yield "report.md", as_markdown(experiment, outcome).encode()
    yield "report.html", as_page(experiment, outcome, drawings, made_with).encode()


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


def read_manifest(path: Path) -> ReadManifest:
    """Read the manifest of a folder; raise InvalidCall if there is none, or it is damaged or unfinished."""
    if read := _manifest(path):
        return read
    raise InvalidCall(f"{path} is unfinished: its experiment was interrupted", remedy="run it again")


def _manifest(path: Path) -> ReadManifest | None:
    """Read the manifest of a folder; None if it is unfinished."""
    try:
        content = read_regular(path / MANIFEST, MOST_BYTES)
        read = None if content == UNFINISHED else ReadManifest.model_validate_json(content)
    except OSError as error:
        raise InvalidCall(f"{path} is not a folder of an experiment: {cause_of(error)}") from None
    except ValidationError as error:
        raise InvalidCall(f"{path / MANIFEST} is no manifest of an experiment: {reason(error)}") from None
    if read and read.format != FORMAT:
        raise InvalidCall(f"{path / MANIFEST} has format {read.format}, this version reads {FORMAT}")
    return read


def call_values(path: Path, manifest: ReadManifest) -> dict[str, Any]:
    """Return the values of the call of a folder, with inputs from their copies in the folder.

    Raises:
        InvalidCall: a copy was changed or removed.
    """
    values = dict(manifest.call)
    for option, given in manifest.inputs.items():
        if given.copied_to is None:
            if "\0" in given.path:
                raise InvalidCall(f"{path / MANIFEST}: the path of {option} contains a NUL character")
            values[option] = given.path
            continue
        if problem := _changed(path, given.copied_to, given.sha256):
            raise InvalidCall(f"{path}: {problem}", remedy="repeat a copy of the folder that is complete")
        values[option] = str(path / given.copied_to)
    return values


def changed_results(path: Path, manifest: ReadManifest) -> Iterator[str]:
    """Yield a line for each result that was changed or removed after the run."""
    for name, digest in manifest.results.items():
        if problem := _changed(path, name, digest):
            yield f"{path}: {problem}"


def _changed(path: Path, name: str, digest: str) -> str:
    """Return the difference of a file from its SHA-256 in the manifest; "" if there is none."""
    if not Path(os.path.normpath(path / name)).is_relative_to(os.path.normpath(path)):
        return f"{name} is not in the folder"
    try:
        with open_regular(path / name) as file:
            if os.fstat(file.fileno()).st_size > LARGEST_RESULT:
                return f"{name} is larger than {LARGEST_RESULT:,} bytes"
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return f"{name} cannot be read: {cause_of(error)}"
    return "" if found == digest else f"{name} was changed after the run"


def differences(first: Mapping[str, Any], second: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Yield the differences of two manifests, one line each; paths of inputs are not compared."""
    for name in dict.fromkeys([*first, *second]):
        where = f"{place}.{name}" if place else name
        one, other = first.get(name), second.get(name)
        if one == other or where.endswith((".path", ".copied_to")):
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from differences(one, other, where)
        else:
            yield f"{where}: {_short(one)} ≠ {_short(other)}"


def results_differ(lines: Sequence[str]) -> bool:
    """Check whether differences of manifests include a result."""
    return any(line.startswith((f"{RESULTS}.", f"{RESULTS}:", "main.", "main:")) for line in lines)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
