"""The audit log: who signed in, called or changed what, and when; JSON lines in a separate file.

A full file, and the file of a previous day (UTC), is renamed to NAME.TIME-PROCESS. Renamed files are deleted
after the days of the settings. Several processes write to one file: each line is one write at its end, and a
lock admits one process to renaming. `logging.handlers` and the packages that extend it rename without such a
lock, or lock each line.
"""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from base.files.durable import cause_of
from base.logs import get_logger
from base.terminal.output import json_text
from server.settings import ServerSettings

DAY_S = 86_400
RENAMED = r"\.[0-9]{8}T[0-9]{12}-[0-9]+"

log = get_logger("server")


class AuditLog:
    """An append-only file, reopened after it was renamed, by this or another program.

    A failed write is counted and logged, and the server continues. For one event loop. Commands write to it
    without the libraries of the server, so `count_lost` is set by the server.
    """

    count_lost: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, path: Path | None, *, most_bytes: int = 0, days: float = 0) -> None:
        """Open the file, created with access for its owner only; without a path nothing is written.

        `most_bytes`: size above which it is renamed; `days` for which renamed files are kept. 0: no limit.

        Raises:
            OSError: it cannot be written.
        """
        self._path = path
        self._most_bytes, self._days = most_bytes, days
        self._file = -1
        self._failing = False
        if path is not None:
            self._open(path)
            self.delete_old()

    @classmethod
    def of(cls, settings: ServerSettings) -> Self:
        """Open the file of the settings. Raises as above."""
        megabytes, days = settings.audit_file_mb, settings.audit_days
        return cls(settings.audit_file, most_bytes=megabytes * 1_000_000, days=days)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)

    def write(self, record: dict[str, Any]) -> None:
        """Append a line."""
        if self._path is None:
            return
        line = f"{json_text(record, default=str)}\n".encode("utf-8", "backslashreplace")
        try:
            self._reopen_if_moved(self._path)
            self._rename_if_due(self._path)
            if os.write(self._file, line) < len(line):
                raise OSError(0, "the line was cut off")  # noqa: TRY301 - handled below
        except OSError as error:
            self.count_lost()
            if not self._failing:
                log.error("audit log cannot be written", error=cause_of(error))  # noqa: TRY400
            self._failing = True
        else:
            self._failing = False

    def _reopen_if_moved(self, path: Path) -> None:
        opened = os.fstat(self._file)
        try:
            there = os.stat(path)  # noqa: PTH116 - no object is made for it on every line
        except FileNotFoundError:
            there = None
        if there is None or (there.st_ino, there.st_dev) != (opened.st_ino, opened.st_dev):
            before = self._file
            self._open(path)
            os.close(before)

    def _rename_if_due(self, path: Path) -> None:
        """Rename a full file, or that of a previous day, and open a new one; an error leaves the file."""
        about = os.fstat(self._file)
        is_old = about.st_mtime // DAY_S < time.time() // DAY_S
        if not about.st_size or not (is_old or (self._most_bytes and about.st_size >= self._most_bytes)):
            return
        fcntl.flock(self._file, fcntl.LOCK_EX)  # released when the file is closed
        try:
            there = os.stat(path)  # noqa: PTH116 - as below
            if (there.st_ino, there.st_dev) == (about.st_ino, about.st_dev):
                now = datetime.now(UTC)
                path.rename(f"{path}.{now:%Y%m%dT%H%M%S%f}-{os.getpid()}")
        except OSError as error:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            log.warning("audit log not renamed", error=cause_of(error))
            return
        self._reopen_if_moved(path)
        self.delete_old()

    def delete_old(self) -> None:
        """Delete renamed files that are older than the days of the settings."""
        if self._path is None or not self._days:
            return
        renamed = re.compile(re.escape(self._path.name) + RENAMED)
        with suppress(OSError):
            for file in self._path.parent.iterdir():
                if renamed.fullmatch(file.name) and file.lstat().st_mtime < time.time() - self._days * DAY_S:
                    file.unlink(missing_ok=True)

    def _open(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        opened = os.open(path, flags, 0o600)
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        self._file = opened
