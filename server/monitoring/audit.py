"""The audit log: who asked what, when and from where; JSON lines in a file of its own."""

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
    """A file that lines are added to, opened anew where it was moved away (rotated).

    A line is one write to the file's end, so lines of several processes do not mix. What cannot be written is
    counted and logged, and the server goes on. One event loop's own.
    """

    def __init__(self, path: Path | None) -> None:
        """Open the file, which is made for its owner alone; without a path nothing is kept.

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
        """Add a line."""
        if self._path is None:
            return
        line = f"{json_text(record, default=str)}\n".encode("utf-8", "backslashreplace")
        try:
            self._reopen_if_moved(self._path)
            if os.write(self._file, line) < len(line):
                raise OSError(0, "the line was cut off")  # noqa: TRY301 - told like the others
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
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        self._file = opened
