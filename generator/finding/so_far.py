"""Partial results of a running search for papers, saved in a file and returned after an early end."""

import asyncio
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from base.files.output_files import is_stream
from generator.finding.request import FindRequest
from generator.finding.result import FoundPapers, partial_result
from generator.finding.state import FindingState
from generator.tracing.steps import Step, StepEvent


class SoFar:
    """Listener that keeps the newest state of a search; None before the first."""

    def __init__(self, state: FindingState | None = None) -> None:
        """Start with the state of a resumed search, if any."""
        self.state = state
        self.step: Step | None = None
        self._file: tuple[ThreadPoolExecutor, Path] | None = None
        self._written: FindingState | None = None

    def listen(self, event: StepEvent) -> None:
        """Handle an event of the search; a new state is written to the file in another thread."""
        if not event.step.path:
            self.step = event.step
        if isinstance(event.made, FindingState):
            self.state = event.made
            if self._file:
                self._file[0].submit(self._write, self._file[1])

    @contextmanager
    def saved_in(self, path: Path | None) -> Iterator[None]:
        """Write each state to a file atomically, ignoring errors; a pipe gets no intermediate states."""
        if path is None or is_stream(path):
            yield
            return
        with ThreadPoolExecutor(1) as writer:
            self._file = writer, path
            try:
                yield
            finally:
                self._file = None

    def found(self, request: FindRequest, note: str) -> FoundPapers:
        """Return the papers judged relevant so far, ordered without a model, with a note."""
        state = self.state or FindingState(request.question)
        notes = dict.fromkeys(self.step.all_notes()) if self.step else {}
        return partial_result(state, request, (*notes, note), self.step)

    def _write(self, path: Path) -> None:
        """Write the newest state; intermediate states are skipped."""
        state = self.state
        if state is not None and state is not self._written:
            state.save(path)
            self._written = state


@contextmanager
def cancelled_by_sigterm() -> Iterator[None]:
    """Let SIGTERM cancel this task like Ctrl-C; the task must run in the main thread."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task  # noqa: S101 - a coroutine runs in a task
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
