"""The audit log: caller, question, time and address of each call; JSON lines in a separate file."""

import errno
import os
import stat
from pathlib import Path
from typing import Any, Self

from base.files.durable import cause_of
from base.logs import get_logger
from base.terminal.output import json_text
from server.monitoring import metrics

log = get_logger("server")


class AuditLog:
    """An append-only file, reopened after it was moved away (rotated).

    A line is one write at the end of the file, so lines of several processes do not mix. A failed write is
    counted and logged, and the server continues. For one event loop.
    """

    def __init__(self, path: Path | None) -> None:
        """Open the file, created with access for its owner only; without a path nothing is written.

        Raises:
            OSError: it cannot be written.
        """
        self._path = path
        self._file = -1
        self._failing = False
        if path is not None:
            self._open(path)

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
            if os.write(self._file, line) < len(line):
                raise OSError(0, "the line was cut off")  # noqa: TRY301 - handled below
        except OSError as error:
            metrics.AUDIT_LOST.inc()
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

    def _open(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        opened = os.open(path, flags, 0o600)
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        self._file = opened
