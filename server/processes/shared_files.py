"""The folder in which the processes of one server keep what they count together."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = "_SHRAG_SERVER_FOLDER"  # the variable by which workers are told
METRICS = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's


@contextmanager
def shared_folder() -> Iterator[None]:
    """Make the folder before the workers start, and remove it when they have ended."""
    with tempfile.TemporaryDirectory(prefix="shrag-") as folder:
        os.environ |= {FOLDER: folder, METRICS: folder}
        try:
            yield
        finally:
            del os.environ[FOLDER], os.environ[METRICS]


def buckets_file() -> Path | None:
    """Return where the buckets of calls lie; None for a process that is the only one."""
    return _shared("buckets")


def open_calls_file() -> Path | None:
    """Return the file of open calls; None for a process that is the only one."""
    return _shared("open-calls")


def calls_today_file() -> Path | None:
    """Return the file of a day's calls for a home folder that cannot be written; None as above."""
    return _shared("calls-today")


def keys_needed_mark() -> Path | None:
    """Return the file that stands for "there are keys, or were"; None for a process that is the only one."""
    return _shared("keys-needed")


def _shared(name: str) -> Path | None:
    folder = os.environ.get(FOLDER)
    return Path(folder, name) if folder else None
