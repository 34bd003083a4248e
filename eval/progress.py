"""Progress of a run on standard error: the questions done, and the remaining time."""

from contextlib import AbstractContextManager

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from base.progress import Progress
from base.terminal.progress_bar import progress_bar


def question_bar() -> AbstractContextManager[Progress]:
    """Show the progress of stages with a known number of questions on standard error, if it is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return progress_bar(*columns)
