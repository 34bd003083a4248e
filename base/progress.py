"""Reports of progress: a function that is called as work goes on."""

from collections.abc import Callable

# (stage, done, total): total is 0 where it is not known.
Progress = Callable[[str, int, int], None]


def no_progress(_stage: str, _done: int, _total: int) -> None:
    """Show nothing."""
