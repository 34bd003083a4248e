"""Progress reports: a function called during long work."""

from collections.abc import Callable

# (stage, done, total): total is 0 if unknown.
Progress = Callable[[str, int, int], None]


def no_progress(_stage: str, _done: int, _total: int) -> None:
    """Show nothing."""
