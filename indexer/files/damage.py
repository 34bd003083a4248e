"""Errors of libraries and of the system while an index is read or written, as errors of the index."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from base.errors import RemediableError, Remedy
from base.files.durable import cause_of
from indexer.errors import IndexDamaged, IndexNotWritten

# A library that reads other bytes than were written fails in any of these ways. What the system refuses
# (OSError) says itself what it is, and may be a version that was cleared away. Mistakes in our own code
# fail in the same ways, but for a panic.
SIGNS = (ValueError, LookupError, TypeError, ArithmeticError, RecursionError, SystemError)
MENDED_BY = (Remedy.VERIFY, Remedy.ROLL_BACK, Remedy.REBUILD)


@contextmanager
def describing_damage(
    what: str | Path, index: str = "", *, check: Callable[[], None] | None = None
) -> Iterator[None]:
    """Say IndexDamaged of what proves broken only while it is read; `what` is the file, or the index.

    Where much more is done than to read, `check` compares the files, and raises IndexDamaged where they
    differ; an error that intact files cannot have caused is raised as it is.
    """
    try:
        yield
    except RemediableError:
        raise
    except BaseException as error:
        if not isinstance(error, SIGNS) and not is_panic(error):
            raise
        if check and not is_panic(error):
            check()
            raise
        raise IndexDamaged(
            f"{what} cannot be read ({_reason(error)})", remedy=MENDED_BY, index=index
        ) from error


def is_panic(error: BaseException) -> bool:
    """Tell whether a library in Rust ran into what it thought impossible; no Exception in Python's eyes."""
    return type(error).__module__ == "pyo3_runtime"


def _reason(error: BaseException) -> str:
    return " ".join(f"{error}".split())[:200] or type(error).__name__


@contextmanager
def describing_write_errors(name: str) -> Iterator[None]:
    """Turn what the system refuses while an index is written into IndexNotWritten with the next step."""
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise IndexNotWritten(
            f"index {name!r} was not written: {cause_of(error)}{where}. "
            "What was published before still answers",
            remedy="mend the cause and give the same command again, it goes on where it stopped",
            index=name,
        ) from error
