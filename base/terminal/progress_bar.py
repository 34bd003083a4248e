"""Progress on standard error for a person, nothing for a pipe."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from base.progress import Progress as ProgressCallback
from base.progress import no_progress

SHOWN_EVERY = 0.1  # seconds
STAGES_IN_BYTES = ("reading", "indexing")


class RateColumn(ProgressColumn):
    """How much a second: bytes where a corpus is read, else passages."""

    def render(self, task: Task) -> Text:
        """Return the rate, nothing before it is known."""
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        in_bytes = task.description in STAGES_IN_BYTES
        return Text(f"{decimal(int(speed))}/s" if in_bytes else f"{speed:,.0f} passages/s")


def error_console() -> Console:
    """Return standard error for what is redrawn in place; what is shown there is text, never markup."""
    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


@contextmanager
def progress_bar(*columns: ProgressColumn) -> Iterator[ProgressCallback]:
    """Show stages on standard error, if that is a terminal, in these columns, or with rate and time left."""
    screen = error_console()
    if not screen.is_terminal:
        yield no_progress
        return
    columns = columns or (
        TextColumn("{task.description}"),
        BarColumn(),
        RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("", total=None)
        stage_shown, shown_at = "", 0.0

        def show(stage: str, done: int, total: int) -> None:
            nonlocal stage_shown, shown_at
            now = time.monotonic()
            if stage != stage_shown:
                bar.reset(task, description=stage, completed=done, total=total or None)
            elif now - shown_at >= SHOWN_EVERY:
                bar.update(task, completed=done)
            else:
                return
            stage_shown, shown_at = stage, now

        yield show
