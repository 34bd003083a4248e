"""The record of a search: times, notes for a reader, failures, the queries that were sent."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from retriever.hits import QueryTrace


@dataclass(slots=True)
class SearchRecorder:
    """The record of one search. Nothing that is computed depends on it."""

    started: float = field(default_factory=time.perf_counter)
    milliseconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # of models; the search went on without them
    queries: list[QueryTrace] = field(default_factory=list)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time spent to a stage's."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + spent

    def note(self, text: str) -> None:
        """Note something for the reader, once."""
        if text not in self.notes:
            self.notes.append(text)

    def failed(self, text: str) -> None:
        """Note a failure that the search went on without."""
        if text not in self.failures:
            self.failures.append(text)
        self.note(text)
