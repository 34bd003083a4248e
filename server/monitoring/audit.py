"""The audit log: who signed in, called or changed what, and when; JSON lines in a separate file.

A full file, and the file of a previous day (UTC), is renamed to NAME.TIME-PROCESS. Renamed files are deleted
after the days of the settings. Several processes write to one file: each line is one write at its end.

Refusals are aggregated: thousands of one caller must not fill the disk. The first refusal of a caller, route
and status is written immediately. Further ones are counted, and written as one line per minute with their
number and the time of the first. A caller is the subject of limits: a key, an address, an IPv6 network.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any, Self, TypeAlias

from base.files.durable import cause_of
from base.logs import get_logger
from base.terminal.output import echo, json_text
from server.settings import ServerSettings

DAY_S = 86_400
RENAMED = r"\.[0-9]{8}T[0-9]{12}-[0-9]+"
FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

log = get_logger("server")
MOST_COUNTED = 10_000  # kinds of refusals; beyond, their lines are written early
MOST_WAITING = 10_000  # lines for the writing thread; beyond, they are counted as lost
CLOSED_WITHIN_S = 1.0  # time for the lines that wait at the end
NOT_LET_IN = frozenset({401, 403, 421, 429})
LOGGED = ("method", "route", "status", "milliseconds", "refused")
Record: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = tuple[str, str, int, bool]  # caller, route, status, whether it is audited


class AuditLog:
    """An append-only file, which is opened for each line: this or another program may rename it.

    A failed write is counted and logged, and the server continues. Commands write to it without the libraries
    of the server, so `count_lost` is set by the server.
    """

    count_lost: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, path: Path | None, *, most_bytes: int = 0, days: float = 0) -> None:
        """Create the file with access for its owner only; without a path nothing is written.

        `most_bytes`: size above which it is renamed; `days` for which renamed files are kept. 0: no limit.

        Raises:
            OSError: it cannot be written.
        """
        self._path, self._most_bytes, self._days = path, most_bytes, days
        self._failing = False
        if path is not None:
            os.close(os.open(path, FLAGS, 0o600))
            self.delete_old()

    @classmethod
    def of(cls, settings: ServerSettings) -> Self:
        """Open the file of the settings. Raises as above."""
        megabytes, days = settings.audit_file_mb, settings.audit_days
        return cls(settings.audit_file, most_bytes=megabytes * 1_000_000, days=days)

    def write(self, record: dict[str, Any]) -> None:
        """Append a line."""
        if self._path is None:
            return
        line = f"{json_text(record, default=str)}\n".encode("utf-8", "backslashreplace")
        try:
            self._rename_if_due(self._path)
            file = os.open(self._path, FLAGS, 0o600)
            try:
                if os.write(file, line) < len(line):
                    raise OSError(0, "the line was cut off")
            finally:
                os.close(file)
        except OSError as error:
            self.count_lost()
            if not self._failing:
                log.error("audit log cannot be written", error=cause_of(error))  # noqa: TRY400
            self._failing = True
        else:
            self._failing = False

    def _rename_if_due(self, path: Path) -> None:
        """Rename a full file, or that of a previous day; two processes at once make one more file."""
        try:
            about = path.lstat()
            is_old = about.st_mtime // DAY_S < time.time() // DAY_S
            is_full = self._most_bytes and about.st_size >= self._most_bytes
            if about.st_size and (is_old or is_full):
                path.rename(f"{path}.{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{os.getpid()}")
                self.delete_old()
        except FileNotFoundError:  # it has just been renamed
            pass
        except OSError as error:  # the line is still written
            log.warning("audit log not renamed", error=cause_of(error))

    def delete_old(self) -> None:
        """Delete renamed files that are older than the days of the settings."""
        if self._path is None or not self._days:
            return
        renamed = re.compile(re.escape(self._path.name) + RENAMED)
        with suppress(OSError):
            for file in self._path.parent.iterdir():
                if renamed.fullmatch(file.name) and file.lstat().st_mtime < time.time() - self._days * DAY_S:
                    file.unlink(missing_ok=True)


class CallLog:
    """The log lines of calls, for one event loop; a thread writes to the audit log, in their order."""

    def __init__(self, audit: AuditLog) -> None:
        """Start without refusals."""
        self._audit = audit
        self._writer = ThreadPoolExecutor(1, "audit")
        self._room = BoundedSemaphore(MOST_WAITING)
        self._refused: dict[Kind, tuple[int, Record, Record] | None] = {}  # since the last line: first, last

    def note(self, record: Record, *, caller: str, is_audited: bool) -> None:
        """Write a call, or count it with the refusals of its kind; `caller` is as `Caller.counted_as`."""
        kind = (caller, record["route"], record["status"], is_audited)
        if kind in self._refused:
            number, first, _ = self._refused[kind] or (0, record, record)
            self._refused[kind] = number + 1, first, record
            return
        if record["status"] in NOT_LET_IN:
            if len(self._refused) >= MOST_COUNTED:
                self.write_counted()
            self._refused[kind] = None
        self._write(record, is_audited=is_audited)

    def write_counted(self) -> None:
        """Write the counts, each minute. A kind with refusals is counted in the next minute too."""
        for kind, counted in list(self._refused.items()):
            if counted is None:
                del self._refused[kind]
                continue
            number, first, last = counted
            self._write({**last, "refused": number, "since": first["time"]}, is_audited=kind[-1])
            self._refused[kind] = None
        self._writer.submit(self._audit.delete_old)

    def close(self) -> None:
        """Write the counts, and wait a moment until all lines are written; the others are counted as lost."""
        self.write_counted()
        wait([self._writer.submit(self._audit.delete_old)], CLOSED_WITHIN_S)
        self._writer.shutdown(wait=False, cancel_futures=True)

    def _write(self, record: Record, *, is_audited: bool) -> None:
        log.info("call", **{name: record[name] for name in LOGGED if name in record})
        if is_audited and self._room.acquire(blocking=False):
            try:
                writing = self._writer.submit(self._audit.write, dict(record))
            except RuntimeError:  # the log is closed
                writing = Future()
                writing.cancel()
            writing.add_done_callback(self._finish)
        elif is_audited:  # the disk does not respond
            self._audit.count_lost()

    def _finish(self, writing: Future[None]) -> None:
        self._room.release()
        if writing.cancelled():
            self._audit.count_lost()
        elif error := writing.exception():
            self._audit.count_lost()
            log.error("audit log line lost", error=type(error).__name__)


def note_change(event: str, **facts: Any) -> None:
    """Write a change to the audit log, if the settings name one; a failure is reported on standard error.

    `uid` is the number of the user who runs the process: a command, or the server.
    """
    try:
        settings = ServerSettings()
    except ValueError:  # `shrag serve` reports it; the change is made
        return
    if settings.audit_file is None:
        return
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    try:
        AuditLog.of(settings).write({"time": now, "event": event, "uid": os.getuid(), **facts})
    except OSError as error:
        echo(f"not written to the audit log: {cause_of(error)}", err=True)
