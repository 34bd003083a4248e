"""The folder for files that the processes of one server share."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = "_SHRAG_SERVER_FOLDER"  # environment variable for the workers
METRICS = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's


@contextmanager
def shared_folder() -> Iterator[None]:
    """Create the folder before the workers start, and remove it when they have ended."""
    with tempfile.TemporaryDirectory(prefix="shrag-") as folder:
        os.environ |= {FOLDER: folder, METRICS: folder}
        try:
            yield
        finally:
            del os.environ[FOLDER], os.environ[METRICS]


def buckets_file() -> Path | None:
    """Return the file of the rate buckets; None for a single process."""
    return _shared("buckets")


def open_calls_file() -> Path | None:
    """Return the file of open calls; None for a single process."""
    return _shared("open-calls")


def calls_today_file() -> Path | None:
    """Return the file of a day's calls if the home folder is not writable; None as above."""
    return _shared("calls-today")


def keys_needed_mark() -> Path | None:
    """Return the file that marks that there are or were keys; None for a single process."""
    return _shared("keys-needed")


def _shared(name: str) -> Path | None:
    folder = os.environ.get(FOLDER)
    return Path(folder, name) if folder else None
