"""The recorder of a search: times, notes for a reader, failures."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class SearchRecorder:
    """The record of one search. Nothing that is computed depends on it."""

    milliseconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)  # of models; the search continued without them

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + spent

    def note(self, text: str) -> None:
        """Add a note for the reader, unless it is already there."""
        if text not in self.notes:
            self.notes.append(text)

    def failed(self, model: str, text: str) -> None:
        """Record the failure of a model; the search continues without it."""
        self.failures[model] = text
        self.note(text)
