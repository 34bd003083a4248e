"""The folder for files that the processes of one server share."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

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
