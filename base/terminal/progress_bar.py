"""Progress bars on standard error, shown on terminals only."""

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
    """Throughput per second: bytes while a corpus is read, records of a repository, otherwise passages."""

    def render(self, task: Task) -> Text:
        """Render the rate; empty while it is unknown."""
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        in_bytes = task.description in STAGES_IN_BYTES
        unit = "records" if task.description == "harvesting" else "passages"
        return Text(f"{decimal(int(speed))}/s" if in_bytes else f"{speed:,.0f} {unit}/s")


def error_console() -> Console:
    """Return a console on standard error for redrawn output; text is not interpreted as markup."""
    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


@contextmanager
def progress_bar(*columns: ProgressColumn) -> Iterator[ProgressCallback]:
    """Show stages on standard error if it is a terminal, in these columns or with rate and remaining time."""
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
