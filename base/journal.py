"""Files of JSON lines to which records are appended, complete after a kill.

A line is written as a whole, and the file is synced to disk at the end. A last line without an end, as from a
kill or a full disk, is ignored by readers and removed by the next writer. Other damage is an error.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from base.calls import reason
from base.errors import DamagedFile, FileBusy
from base.files.durable import cause_of, sync
from base.files.output_files import not_written
from base.files.regular_files import open_regular
from base.records import adapter

T = TypeVar("T")
Append = Callable[[T], None]


def read_records(path: Path, kind: type[T]) -> Iterator[T]:
    """Yield the records of a file; none if there is no file.

    Raises:
        DamagedFile: a line is damaged, with file and line; or the file cannot be read.
    """
    adapter_ = adapter(cast("Any", kind))
    try:
        with open_regular(path) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield adapter_.validate_json(line)
                except ValidationError as error:
                    raise DamagedFile(
                        f"{path}:{number}: damaged: {reason(error)}; restore the file from a copy, "
                        "or remove the line"
                    ) from None
    except FileNotFoundError:
        return
    except OSError as error:
        raise DamagedFile(f"{path} cannot be read: {cause_of(error)}") from None


@contextmanager
def appending(path: Path, kind: type[T], *, restart: bool = False) -> Iterator[Append[T]]:
    """Open a file for appending, and lock it; yield a function that appends a record.

    With `restart`, earlier lines are removed.

    Raises:
        FileBusy: another process appends to the file.
        OutputNotWritten: the disk is full, or permission is missing; earlier lines are kept.
    """
    adapter_ = adapter(cast("Any", kind))
    try:
        file = FileIO(path, "a+", opener=_opened)
    except OSError as error:
        raise not_written(path, error) from None

    def append(record: T) -> None:
        end, line = os.fstat(file.fileno()).st_size, memoryview(adapter_.dump_json(record) + b"\n")
        try:
            while line:
                line = line[file.write(line) :]
        except OSError as error:
            with suppress(OSError):
                file.truncate(end)
            raise not_written(path, error) from error

    with file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileBusy(f"another process is writing to {path}; wait until it ends") from None
        except OSError:  # a file system without locks
            pass
        try:
            file.seek(0)
            file.truncate(0 if restart else file.readall().rfind(b"\n") + 1)
        except OSError as error:
            raise not_written(path, error) from None
        try:
            yield append
        finally:
            os.fsync(file.fileno())
            with suppress(OSError):
                sync(path.parent)


def _opened(path: str, flags: int) -> int:
    """Open a file without following a link, and without waiting for the reader of a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
