"""The folder of a benchmark in progress: its files, and their locks.

`benchmark.json` marks it; the other files are described in `records.py`. One command at a time adds
questions, rankings or judgements. Several assessors may confirm papers at the same time, each in a separate
file.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from base.calls import reason
from base.errors import InvalidCall, OutputNotWritten
from base.files.durable import cause_of, create_durably
from base.files.output_files import not_written
from base.files.regular_files import read_regular
from base.journal import Append, appending, locked
from base.records import adapter
from eval.errors import BadBenchmark
from eval.judging.records import (
    Assessment,
    CallRecord,
    Judged,
    Question,
    Ranked,
    Selection,
)

T = TypeVar("T")

MARKER = "benchmark.json"
CALLS, QUESTIONS, SELECTIONS = "calls.jsonl", "questions.jsonl", "selections.jsonl"
POOL, JUDGEMENTS, ASSESSMENTS = "pool.jsonl", "judgements.jsonl", "assessments"
KINDS: Mapping[str, type[Any]] = {
    CALLS: CallRecord,
    QUESTIONS: Question,
    SELECTIONS: Selection,
    POOL: Ranked,
    JUDGEMENTS: Judged,
}
MOST_BYTES = 65_536  # of the marker
ASSESSOR = re.compile(r"\w[\w.-]{0,63}")
ENDING = ".jsonl"
NEW_FOLDER = "name an empty or a new folder"


@dataclass(frozen=True, slots=True)
class Marker:
    """The content of `benchmark.json`: its format, and the seed of samples and of the order of papers."""

    benchmark: Literal[1]
    seed: int
    created: str


@contextmanager
def writing(path: Path, *names: str, shared: bool = False) -> Iterator[tuple[Append[Any], ...]]:
    """Lock a folder, and open files of it for appending; yield a function for each.

    With `shared`, several processes may write to different files of the folder.

    Raises:
        BadBenchmark: the folder is none of a benchmark.
        FileBusy: another process writes to it.
        OutputNotWritten: permission is missing, or the disk is full.
    """
    read_marker(path)
    with ExitStack() as opened:
        opened.enter_context(locked(path / MARKER, shared=shared))
        yield tuple(
            opened.enter_context(appending(path / name, KINDS.get(name, Assessment))) for name in names
        )


def create(path: Path, seed: int | None) -> None:
    """Make a folder for a benchmark, unless it exists.

    Raises:
        InvalidCall: the folder has other files, or a benchmark with another seed.
        BadBenchmark: its marker is damaged.
        OutputNotWritten: it cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = {each.name for each in path.iterdir()}
    except OSError as error:
        raise OutputNotWritten(f"{path} cannot be written: {cause_of(error)}") from None
    if MARKER in others:
        marker = read_marker(path)
        if seed not in {None, marker.seed}:
            raise InvalidCall(f"the seed of {path} is {marker.seed}, not {seed}", remedy=NEW_FOLDER)
        return
    if others:
        raise InvalidCall(f"{path} contains other files, such as {min(others)}", remedy=NEW_FOLDER)
    marker = Marker(1, seed or 0, now())
    try:
        create_durably(path / MARKER, adapter(Marker).dump_json(marker) + b"\n", mode=0o644)
    except FileExistsError:  # another process has made it in the meantime
        create(path, seed)
    except OSError as error:
        raise not_written(path / MARKER, error) from None


def assessments_file(path: Path, assessor: str) -> str:
    """Return the name of an assessor's file, and make its folder; raise OutputNotWritten if that fails."""
    try:
        (path / ASSESSMENTS).mkdir(exist_ok=True)
    except OSError as error:
        raise not_written(path / ASSESSMENTS, error) from None
    return f"{ASSESSMENTS}/{assessor}{ENDING}"


def now() -> str:
    """Return the time as ISO 8601, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_marker(path: Path) -> Marker:
    """Read the marker of a folder; raise BadBenchmark if there is none, or it is damaged."""
    try:
        marker: Marker = adapter(Marker).validate_json(read_regular(path / MARKER, MOST_BYTES))
    except OSError as error:
        raise BadBenchmark(
            f"{path} is not a folder of a benchmark: {MARKER}: {cause_of(error)}; "
            "`shrag benchmark questions` makes one"
        ) from None
    except ValidationError as error:
        raise BadBenchmark(f"{path / MARKER} is damaged: {reason(error)}") from None
    return marker
