"""The finished questions of an unfinished run or experiment, in a file.

| one line each | content |
|---|---|
| first | the inputs of the run, and its start time |
| others | a question, in the order of its end, and a checksum; the last line of a question counts |

Each line is written immediately, so that a kill loses none, and is synced to disk within a second. A partial
or damaged line, as from a full disk, is ignored: its question is repeated.
"""

import errno
import fcntl
import hashlib
import io
import json
import os
import stat
import time
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import click
from pydantic import BaseModel, TypeAdapter, ValidationError

from base.amounts import counted
from base.errors import InvalidCall
from base.files.durable import sync
from base.files.output_files import not_written
from base.terminal.output import echo
from eval.errors import BadRun, RunBusy
from eval.ranking import RankedTopic
from eval.runs import run_lines
from indexer.options import INTERRUPTED

T = TypeVar("T")

SUFFIX = ".kept.jsonl"
BEGINNING = b'{"kept":'  # of the first line; other files are not overwritten
SYNCED_EVERY_S = 1.0
CHECKSUM = b',"checksum":"'  # at the end of a line, before 16 digits of its SHA-256
MOST_SHOWN = 3  # differences
SHOWN_CHARACTERS = 80  # of a value


@dataclass(frozen=True, slots=True)
class _Head:
    kept: Literal[1]  # the format
    started: str
    made_with: dict[str, Any]


class _Line(BaseModel, Generic[T]):
    query_id: str
    topic: T


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """The values that are kept for each question.

    Args:
        type: of the value, a type that pydantic can validate.
        is_kept: whether a value is kept; the question of another one is repeated anyway.
        check: raises BadRun if the value of a question is damaged.
    """

    type: type[T]
    is_kept: Callable[[T], bool] = lambda _: True
    check: Callable[[str, T], None] = lambda *_: None

    @property
    def line(self) -> Any:
        """The pydantic model of a line."""
        return _Line[self.type]  # type: ignore[name-defined]


def _check_ranking(query_id: str, topic: RankedTopic) -> None:
    run_lines(query_id, topic.ranking or [], "")


RANKED = Shape(RankedTopic, lambda topic: topic.ranking is not None, _check_ranking)


class KeptTopics(Generic[T]):
    """A run in progress; its file is locked until it is closed."""

    def __init__(self, path: Path, file: FileIO, started: str, topics: dict[str, T], shape: Shape[T]) -> None:
        """`file` is open at its end, `topics` is its content."""
        self.path, self.started, self.topics = path, started, topics
        self._file, self._shape, self._synced = file, shape, time.monotonic()

    def keep(self, query_id: str, topic: T) -> None:
        """Append a question, unless the value is one that is not kept.

        Raises:
            OutputNotWritten: the disk is full; earlier lines are kept.
        """
        if not self._shape.is_kept(topic):
            return
        line = self._shape.line(query_id=query_id, topic=topic)
        _append(self._file, self.path, _with_checksum(line.model_dump_json().encode()))
        self.topics[query_id] = topic
        if time.monotonic() - self._synced >= SYNCED_EVERY_S:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def discard(self) -> None:
        """Remove the file, as the run is complete."""
        self.path.unlink(missing_ok=True)


def kept_path(run_path: Path) -> Path:
    """Return the path of a run's kept questions."""
    return run_path.with_name(run_path.name + SUFFIX)


@contextmanager
def keeping(
    path: Path, made_with: Mapping[str, Any], shape: Shape[T], *, restart: bool
) -> Iterator[KeptTopics[T]]:
    """Open the kept questions of a run, or start a new file; `restart` discards the old ones.

    Raises:
        RunBusy: another process is making this run.
        InvalidCall: the kept questions belong to a run with other inputs, or the file is something else.
        OutputNotWritten: the disk is full, or permission is missing.
    """
    try:
        file = _locked(path)
    except OSError as error:
        raise not_written(path, error) from error
    with file:
        if restart:
            file.truncate(0)
        made = json.loads(json.dumps(made_with))
        head, topics = _read(file, path, shape)
        if head is None or not topics:
            file.truncate(0)
            file.seek(0)
            head = _Head(1, datetime.now(UTC).isoformat(timespec="seconds"), made)
            _append(file, path, _adapter(_Head).dump_json(head))
            with suppress(OSError):
                sync(path.parent)
        elif differing := list(_differences(head.made_with, made)):
            more = f" and {len(differing) - MOST_SHOWN} more" if len(differing) > MOST_SHOWN else ""
            raise InvalidCall(
                f"{path} contains {counted(len(topics), 'question')} of a run with other inputs: "
                f"{', '.join(differing[:MOST_SHOWN])}{more}",
                remedy=("repeat the old command", "write to another place", "start again (--restart)"),
            )
        kept = KeptTopics(path, file, head.started, topics, shape)
        try:
            yield kept
        finally:
            if not topics:
                kept.discard()


@contextmanager
def reporting_kept(kept: KeptTopics[Any] | None, total: int) -> Iterator[None]:
    """Report the kept questions if a run ends before it is written."""
    if kept is None:
        yield
        return
    if kept.topics:
        echo(f"{kept.path}: {counted(len(kept.topics), 'question')} of {total:,} already finished", err=True)
    try:
        yield
    except (KeyboardInterrupt, CancelledError):
        echo(f"interrupted; {_how_many(kept, total)}", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except Exception:
        if kept.topics:
            echo(_how_many(kept, total), err=True)
        raise


def _how_many(kept: KeptTopics[Any], total: int) -> str:
    if not kept.topics:
        return "no question is finished yet"
    return (
        f"{counted(len(kept.topics), 'question')} of {total:,} kept in {kept.path}; "
        "the same command resumes there"
    )


def _locked(path: Path) -> FileIO:
    """Open and lock the file; raise RunBusy if another process has locked it."""
    while True:
        file = FileIO(path, "r+", opener=_made_if_missing)
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise RunBusy(f"another process is making this run: it uses {path}") from None
        except OSError:  # a file system without locks
            return file
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.lstat()):
                return file
        file.close()  # that run has finished in the meantime


def _made_if_missing(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def _read(file: FileIO, path: Path, shape: Shape[T]) -> tuple[_Head | None, dict[str, T]]:
    """Read the kept questions, and truncate a partial line; return None for an empty file."""
    topics: dict[str, T] = {}
    head: _Head | None = None
    end = 0
    lines = io.BufferedReader(file)
    for line in lines:
        begun = BEGINNING.startswith(line[: len(BEGINNING)].rstrip(b"\0"))
        if not line.endswith(b"\n") and (head or begun):
            break
        end += len(line)
        try:
            if head is None:
                head = _adapter(_Head).validate_json(line)
            else:
                topics |= _question(line, shape)
        except (ValidationError, BadRun):
            if head is None:
                raise InvalidCall(
                    f"{path} contains no questions of a run",
                    remedy=("move it away", "start again (--restart)"),
                ) from None
    lines.detach()
    file.truncate(end)
    file.seek(end)
    return head, topics


def _question(line: bytes, shape: Shape[T]) -> dict[str, T]:
    """Parse a question; none if its value is one that is not kept, BadRun if it is damaged."""
    content = line.rpartition(CHECKSUM)[0] + b"}"
    if _with_checksum(content) != line.rstrip(b"\n"):
        raise BadRun("the checksum of a kept question differs")
    read = shape.line.model_validate_json(content)
    if not shape.is_kept(read.topic):
        return {}
    shape.check(read.query_id, read.topic)
    return {read.query_id: read.topic}


def _with_checksum(line: bytes) -> bytes:
    """Add a checksum to a JSON object."""
    return b'%s%s%s"}' % (line[:-1], CHECKSUM, hashlib.sha256(line).hexdigest()[:16].encode())


def _append(file: FileIO, path: Path, line: bytes) -> None:
    """Append a whole line, or leave the file unchanged."""
    end, left = file.tell(), memoryview(line + b"\n")
    try:
        while left:
            left = left[file.write(left) :]
    except OSError as error:
        with suppress(OSError):
            file.truncate(end)
            file.seek(end)
        raise not_written(path, error) from error


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], place: str = "") -> Iterator[str]:
    for name in dict.fromkeys((*before, *now)):
        was, is_now = before.get(name), now.get(name)
        if isinstance(was, dict) and isinstance(is_now, dict):
            yield from _differences(was, is_now, f"{place}{name}.")
        elif was != is_now:
            yield f"{place}{name} was {_shown(was)} and is {_shown(is_now)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


@cache
def _adapter(shape: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(shape)
