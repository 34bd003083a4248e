"""The finished questions of an unfinished run or experiment, in a journal (`base/journal.py`).

The first line has the inputs of the run and its start time, each other line a finished question. The same
call resumes from it, and it is removed when the run is complete.
"""

import json
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import click
from pydantic import BaseModel

from base.amounts import counted
from base.errors import InvalidCall
from base.journal import appending, read_records
from base.terminal.output import echo
from eval.manifest import differences
from indexer.options import INTERRUPTED

T = TypeVar("T")

SUFFIX = ".kept.jsonl"
MOST_SHOWN = 3  # differences


class _Head(BaseModel):
    kept: Literal[1]  # the format
    started: str
    made_with: dict[str, Any]


class _Line(BaseModel, Generic[T]):
    query_id: str
    topic: T


@dataclass(frozen=True, slots=True)
class KeptTopics(Generic[T]):
    """The kept questions of a run; the file is locked until it is closed. Without a file nothing is kept."""

    path: Path | None
    started: str
    topics: Mapping[str, T]
    # Appends a question; raises OutputNotWritten if the disk is full, and earlier lines are kept.
    keep: Callable[[str, T], None] = lambda *_: None

    def discard(self) -> None:
        """Remove the file, as the run is complete."""
        if self.path:
            self.path.unlink(missing_ok=True)


def kept_path(run_path: Path) -> Path:
    """Return the path of a run's kept questions."""
    return run_path.with_name(run_path.name + SUFFIX)


@contextmanager
def keeping(
    path: Path | None, made_with: Mapping[str, Any], kind: type[T], total: int, *, restart: bool
) -> Iterator[KeptTopics[T]]:
    """Open the kept questions of a run, or start a new file; report them if the run ends too early.

    Args:
        path: of the file; None for a run that keeps nothing.
        made_with: everything that affects the values; kept ones count only if it is the same.
        kind: the type of the value of a question, one that pydantic can validate.
        total: the number of questions.
        restart: whether kept questions are discarded.

    Raises:
        FileBusy: another process is making this run.
        InvalidCall: the kept questions belong to a run with other inputs.
        DamagedFile: a line is damaged.
        OutputNotWritten: the disk is full, or permission is missing.
    """
    started = datetime.now(UTC).isoformat(timespec="seconds")
    if path is None:
        yield KeptTopics(None, started, {})
        return
    of_topic: Any = _Line[kind]  # type: ignore[valid-type]
    lines: Any = _Head | of_topic
    head = before = _Head(kept=1, started=started, made_with=as_json(made_with))
    topics: dict[str, T] = {}
    with appending(path, lines, restart=restart) as append:
        for line in read_records(path, lines):
            if isinstance(line, _Head):
                before, topics = line, {}
            else:
                topics[line.query_id] = line.topic
        if not topics:
            append(head)
            before = head
        elif differing := list(differences(before.made_with, head.made_with)):
            raise InvalidCall(
                f"{path} contains questions of a run with other inputs: {', '.join(differing[:MOST_SHOWN])}",
                remedy=("repeat the old command", "write to another place", "start again (--restart)"),
            )
        else:
            echo(f"{path}: {counted(len(topics), 'question')} of {total:,} already finished", err=True)

        def keep(query_id: str, topic: T) -> None:
            append(of_topic(query_id=query_id, topic=topic))
            topics[query_id] = topic

        try:
            yield KeptTopics(path, before.started, topics, keep)
        except BaseException as error:
            if topics:
                number = f"{counted(len(topics), 'question')} of {total:,}"
                echo(f"{number} kept in {path}; the same command resumes there", err=True)
            if isinstance(error, KeyboardInterrupt | CancelledError):
                raise click.exceptions.Exit(INTERRUPTED) from None
            raise
        finally:
            if not topics:
                path.unlink(missing_ok=True)


def as_json(value: Any) -> Any:
    """Return a value as it is read from a file, so that a resumed run has the same values."""
    return json.loads(json.dumps(value))
