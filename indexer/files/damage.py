"""Conversion of library and system errors while an index is read or written to errors of the index."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from base.errors import RemediableError, Remedy
from base.files.durable import cause_of
from indexer.errors import IndexDamaged, IndexNotWritten

# Libraries raise these errors when they read damaged files. System errors (OSError) are not included: they
# describe themselves, and may mean a pruned version. Except for panics, bugs in our own code raise the same
# errors.
DAMAGE_ERRORS = (ValueError, LookupError, TypeError, ArithmeticError, RecursionError, SystemError)


@contextmanager
def map_damage_errors(
    what: str | Path, index: str = "", *, check: Callable[[], None] | None = None
) -> Iterator[None]:
    """Raise IndexDamaged for damage found while reading; `what` is the file or index.

    If the block does more than reading, `check` compares the files and raises IndexDamaged if they differ. If
    the files are intact, the error is raised unchanged.
    """
    try:
        yield
    except RemediableError:
        raise
    except BaseException as error:
        # A panic of a Rust library is not a subclass of Exception.
        is_panic = type(error).__module__ == "pyo3_runtime"
        if not is_panic and not isinstance(error, DAMAGE_ERRORS):
            raise
        if check and not is_panic:
            check()
            raise
        raise IndexDamaged(
            f"{what} cannot be read ({reason_of(error)})",
            remedy=(Remedy.VERIFY, Remedy.ROLL_BACK, Remedy.REBUILD),
            index=index,
        ) from error


def reason_of(error: BaseException) -> str:
    """Describe an error of a library in one short line."""
    return " ".join(f"{error}".split())[:200] or type(error).__name__


@contextmanager
def map_write_errors(name: str) -> Iterator[None]:
    """Convert system errors while an index is written to IndexNotWritten with the next step."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        cause = cause_of(error) if isinstance(error, OSError) else str(error)
        where = f" ({error.filename})" if isinstance(error, OSError) and error.filename else ""
        raise IndexNotWritten(
            f"index {name!r} was not written: {cause}{where}. The published version remains in use",
            remedy="fix the cause and repeat the command, which resumes the build",
            index=name,
        ) from error
