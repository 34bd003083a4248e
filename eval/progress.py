"""How far a run is, and how many questions a second, on standard error for a person."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from indexer.ingest import Progress as ProgressCallback
from indexer.ingest import no_progress
from indexer.progress import console


class RateColumn(ProgressColumn):
    """Questions a second."""

    def render(self, task: Task) -> Text:
        """Return the rate, nothing before it is known."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.1f} a second" if speed else "")


@contextmanager
def question_bar() -> Iterator[ProgressCallback]:
    """Show stages of so many questions on standard error, if that is a terminal."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield no_progress
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("", total=None)
        shown = ""

        def show(stage: str, done: int, total: int) -> None:
            nonlocal shown
            if stage != shown:
                shown = stage
                bar.reset(task, description=stage, total=total or None)
            bar.update(task, completed=done)

        yield show
