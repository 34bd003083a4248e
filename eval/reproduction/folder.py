"""The folder of an experiment's results.

| file | content |
|---|---|
| manifest.json | experiment, options, inputs, index, settings, software, SHA-256 of each result |
| topics.jsonl | the values of each topic |
| runs/NAME.trec | runs |
| figures/NAME.svg, NAME.png | figures |
| report.md, report.html | tables, figures and notes |
| times.json | start and seconds; nothing else differs between two runs with the same manifest |

While the files are written, the manifest says that they are unfinished. An interrupted run is repeated into
the same folder.
"""

import errno
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from base.calls import reason
from base.errors import InvalidCall, OutputNotWritten
from base.files.durable import cause_of
from base.files.output_files import not_written, write_output
from base.files.regular_files import read_regular
from eval.reproduction.experiment import Experiment, Outcome
from eval.reproduction.figures import drawn
from eval.reproduction.report import as_markdown, as_page
from eval.runs import run_lines

MANIFEST, TIMES = "manifest.json", "times.json"
MOST_BYTES = 64_000_000  # of a manifest
LONGEST_VALUE = 80  # characters of a printed value
FORMAT = 1
UNFINISHED = b'{"unfinished": true}\n'  # the manifest until all files are written
OTHER_FOLDER = "name an empty or a new folder"


class ReadManifest(BaseModel):
    """A manifest as it is read, with the parts that `repeat` and `diff` use."""

    format: int
    experiment: str
    call: dict[str, Any]
    inputs: dict[str, dict[str, Any]]
    index: dict[str, Any]
    settings: dict[str, Any]
    shrag: str
    python: str
    libraries: dict[str, str]
    results: dict[str, str]


def check_folder(path: Path, name: str, inputs: Iterable[str] = ()) -> None:
    """Create the folder if needed; it may contain results of the same experiment, also unfinished ones.

    Raises:
        InvalidCall: it contains other files, results of another experiment, or an input.
        OutputNotWritten: it cannot be created, or no permission.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = [each.name for each in path.iterdir()]
    except OSError as error:
        raise OutputNotWritten(f"{path} cannot be written: {cause_of(error)}") from None
    found = _manifest(path) if MANIFEST in others else None
    if found and found.experiment != name:
        raise InvalidCall(f"{path} contains results of {found.experiment}", remedy=OTHER_FOLDER)
    if others and MANIFEST not in others:
        raise InvalidCall(f"{path} contains other files, such as {min(others)}", remedy=OTHER_FOLDER)
    for read in inputs:
        if Path(os.path.realpath(read)).is_relative_to(os.path.realpath(path)):
            raise InvalidCall(f"the input {read} is in the output folder {path}", remedy=OTHER_FOLDER)
    if not os.access(path, os.W_OK):
        raise not_written(path, PermissionError(errno.EACCES, "no permission"))


def write_results(
    path: Path, experiment: Experiment, outcome: Outcome, made_with: Mapping[str, Any], started: float
) -> dict[str, str]:
    """Write all files of an experiment; return the SHA-256 of each.

    The manifest is written last. Before it, an unfinished one replaces that of an earlier run.

    Raises:
        InvalidCall, OutputNotWritten: as `check_folder`; also if the disk is full.
    """
    drawings = dict(each for figure in outcome.figures for each in drawn(figure))
    results: dict[str, str] = {}
    with _locked(path):
        check_folder(path, made_with["experiment"])
        write_output(path / MANIFEST, UNFINISHED)
        for name, content in _files(experiment, outcome, drawings, made_with):
            target = path / name
            try:
                target.parent.mkdir(exist_ok=True)
            except OSError as error:
                raise not_written(target.parent, error) from None
            write_output(target, content)
            results[name] = hashlib.sha256(content).hexdigest()
        times = {
            "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
            "seconds": round(time.time() - started, 3),
        }
        write_output(path / TIMES, (json.dumps(times) + "\n").encode())
        record = {"format": FORMAT, **made_with, "results": results}
        write_output(path / MANIFEST, (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode())
    return results


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other run writes into the folder."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise not_written(path, error) from None
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _files(
    experiment: Experiment, outcome: Outcome, drawings: Mapping[str, bytes], made_with: Mapping[str, Any]
) -> Iterator[tuple[str, bytes]]:
    lines = [json.dumps(topic, ensure_ascii=False) + "\n" for topic in outcome.topics]
    yield "topics.jsonl", "".join(lines).encode()
    for name, run in outcome.runs.items():
        of_run = [line for query_id, ranking in run.items() for line in run_lines(query_id, ranking, name)]
        yield f"runs/{name}.trec", "".join(of_run).encode()
    for name, content in drawings.items():
        yield f"figures/{name}", content
    yield "report.md", as_markdown(experiment, outcome).encode()
    yield "report.html", as_page(experiment, outcome, drawings, made_with).encode()


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


def differences(first: Mapping[str, Any], second: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Yield the differences of two manifests, one line each; paths of inputs are not compared."""
    for name in dict.fromkeys([*first, *second]):
        where = f"{place}.{name}" if place else name
        one, other = first.get(name), second.get(name)
        if one == other or where.endswith(".path"):
            continue
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from differences(one, other, where)
        else:
            yield f"{where}: {_short(one)} ≠ {_short(other)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
