"""Processes that heed Ctrl-C, whatever the process of the tests was told to ignore."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_heeded() -> Iterator[None]:
    """Let the processes started in the block be interrupted: one that ignores SIGINT hands that down."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
