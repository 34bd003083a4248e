"""Files that are written whole or not at all, and errors of the system with the next step."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.errors import IndexNotWritten


def write_durably(path: Path, content: str | bytes) -> None:
    """Replace the file at `path` so that a reader, or a crash, finds the old content or the new one whole.

    Text is written as UTF-8.
    """
    passing = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with passing.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        passing.replace(path)
    finally:
        passing.unlink(missing_ok=True)
    sync(path.parent)


def sync(path: Path) -> None:
    """Let a file's content, or what stands in a folder, outlive a crash."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def describing_write_errors(name: str) -> Iterator[None]:
    """Turn what the system refuses while an index is written into IndexNotWritten with the next step."""
    try:
        yield
    except OSError as error:
        causes = {
            errno.ENOSPC: "the disk is full",
            errno.EDQUOT: "the disk quota is used up",
            errno.EFBIG: "a file grew over the allowed size",
            errno.EACCES: "no permission",
            errno.EROFS: "the file system is read-only",
        }
        cause = causes.get(error.errno or 0, error.strerror or str(error))
        where = f" ({error.filename})" if error.filename else ""
        raise IndexNotWritten(
            f"index {name!r} was not written: {cause}{where}. What was published before still answers",
            remedy="mend the cause and give the same command again, it goes on where it stopped",
            index=name,
        ) from error
