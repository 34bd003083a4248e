"""What a search for papers has come to while it is under way: a list where it ends early, kept in a file."""

import asyncio
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from base.files.output_files import is_stream
from generator.finding.finding import notes_of, year_of
from generator.finding.request import FindRequest
from generator.finding.result import FoundPapers, found_until_now
from generator.finding.state import FindingState
from generator.request import Settings
from generator.tracing.steps import Step, StepEvent


class SoFar:
    """Listens to a search, and knows the newest state that it has told; None before the first."""

    def __init__(self, state: FindingState | None = None) -> None:
        """Begin before a search, with the state that it goes on with."""
        self.state = state
        self.step: Step | None = None
        self._file: tuple[ThreadPoolExecutor, Path] | None = None
        self._written: FindingState | None = None

    def listen(self, event: StepEvent) -> None:
        """Take an event of the search; not waited for by it, a state is written where a file is named."""
        if not event.step.path:
            self.step = event.step
        if isinstance(event.made, FindingState):
            self.state = event.made
            if self._file:
                self._file[0].submit(self._write, self._file[1])

    @contextmanager
    def kept_in(self, path: Path | None) -> Iterator[None]:
        """Keep each state in a file, whole or not at all; a pipe gets none, nor is an error told."""
        if path is None or is_stream(path):
            yield
            return
        with ThreadPoolExecutor(1) as writer:
            self._file = writer, path
            try:
                yield
            finally:
                self._file = None

    def found(self, request: FindRequest, settings: Settings, note: str) -> FoundPapers:
        """Return the papers judged to be relevant so far, in their order without a model, with a note."""
        state = self.state or FindingState(request.question)
        step = self.step or Step("find-papers", request.as_record())
        found = found_until_now(state, request, year_of(settings), (*notes_of(step), note))
        return replace(found, step=step, milliseconds=step.milliseconds or 0.0)

    def _write(self, path: Path) -> None:
        """Write the newest state; of several that came meanwhile it alone."""
        state = self.state
        if state is not None and state is not self._written:
            state.save(path)
            self._written = state


@contextmanager
def cancelled_by_sigterm() -> Iterator[None]:
    """Let SIGTERM cancel this task, as Ctrl-C does; the task must run in the main thread."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task  # noqa: S101 - a coroutine runs in one
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
