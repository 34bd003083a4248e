"""Conversion of library and system errors while an index is read or written to errors of the index."""

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
DAMAGE_REMEDIES = (Remedy.VERIFY, Remedy.ROLL_BACK, Remedy.REBUILD)


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
        if not isinstance(error, DAMAGE_ERRORS) and not is_panic(error):
            raise
        if check and not is_panic(error):
            check()
            raise
        raise IndexDamaged(
            f"{what} cannot be read ({_reason(error)})", remedy=DAMAGE_REMEDIES, index=index
        ) from error


def is_panic(error: BaseException) -> bool:
    """Check whether a Rust library panicked; such errors are not subclasses of Exception."""
    return type(error).__module__ == "pyo3_runtime"


def _reason(error: BaseException) -> str:
    return " ".join(f"{error}".split())[:200] or type(error).__name__


@contextmanager
def map_write_errors(name: str) -> Iterator[None]:
    """Convert system errors while an index is written to IndexNotWritten with the next step."""
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise IndexNotWritten(
            f"index {name!r} was not written: {cause_of(error)}{where}. The published version remains in use",
            remedy="fix the cause and repeat the command, which resumes the build",
            index=name,
        ) from error
