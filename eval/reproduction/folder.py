"""The folder of an experiment's results.

| file | content |
|---|---|
| manifest.json | experiment, options, inputs, index, settings, software, SHA-256 of each result |
| topics.jsonl | the values of each topic |
| runs/NAME.trec | runs |
| figures/NAME.svg, NAME.png | figures |
| report.md, report.html | tables, figures and notes |
| times.json | start and seconds; nothing else differs between two runs with the same manifest |
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from base.errors import InvalidCall, OutputNotWritten
from base.files.durable import cause_of
from base.files.output_files import write_output
from base.files.regular_files import read_regular
from eval.reproduction.experiment import Experiment, Outcome
from eval.reproduction.figures import drawn
from eval.reproduction.report import as_markdown, as_page
from eval.runs import run_lines

MANIFEST, TIMES = "manifest.json", "times.json"
MOST_BYTES = 64_000_000  # of a manifest
LONGEST_VALUE = 80  # characters of a printed value
FORMAT = 1


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


def check_folder(path: Path) -> None:
    """Create the folder if needed, and check that only results of an experiment would be overwritten.

    Raises:
        InvalidCall: the folder contains other files and no manifest.
        OutputNotWritten: it cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = [each.name for each in path.iterdir()]
    except OSError as error:
        raise OutputNotWritten(f"{path} cannot be written: {cause_of(error)}") from None
    if others and MANIFEST not in others:
        raise InvalidCall(
            f"{path} contains other files, such as {min(others)}", remedy="name an empty or a new folder"
        )


def write_results(
    path: Path, experiment: Experiment, outcome: Outcome, made_with: Mapping[str, Any], started: float
) -> dict[str, str]:
    """Write all files of an experiment; return the SHA-256 of each. The manifest is written last.

    Raises:
        OutputNotWritten: the disk is full, or permission is missing.
    """
    drawings = dict(each for figure in outcome.figures for each in drawn(figure))
    results: dict[str, str] = {}
    for name, content in _files(experiment, outcome, drawings, made_with):
        target = path / name
        target.parent.mkdir(exist_ok=True)
        write_output(target, content)
        results[name] = hashlib.sha256(content).hexdigest()
    record = {"format": FORMAT, **made_with, "results": results}
    write_output(path / MANIFEST, (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode())
    times = {
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - started, 3),
    }
    write_output(path / TIMES, (json.dumps(times) + "\n").encode())
    return results


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
    """Read the manifest of a folder; raise InvalidCall if there is none, or it is damaged."""
    try:
        read = ReadManifest.model_validate_json(read_regular(path / MANIFEST, MOST_BYTES))
    except OSError as error:
        raise InvalidCall(f"{path} is not a folder of an experiment: {cause_of(error)}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidCall(f"{path / MANIFEST} cannot be read: {place}: {first['msg']}") from None
    if read.format != FORMAT:
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
