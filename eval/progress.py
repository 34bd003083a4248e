"""Progress of a run on standard error: questions done, and questions per second."""

from contextlib import AbstractContextManager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from base.progress import Progress
from base.terminal.progress_bar import progress_bar


class RateColumn(ProgressColumn):
    """Questions per second."""

    def render(self, task: Task) -> Text:
        """Return the rate, empty until it is known."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.1f} a second" if speed else "")


def question_bar() -> AbstractContextManager[Progress]:
    """Show the progress of stages with a known number of questions on standard error, if it is a terminal."""
    return progress_bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
    )
