"""What all parts of the benchmark share."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from base.progress import Progress
from indexer.settings import EngineName, IndexerSettings


class Passage(NamedTuple):
    """A passage as MIRACL's files have it."""

    docid: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Where to build what, and how often to measure."""

    home: Path
    documents: int  # of the generated corpus
    rounds: int
    passages: list[Passage]  # Korean ones
    progress: Progress

    def settings(self, engine: EngineName = "tantivy") -> IndexerSettings:
        """Return the settings of an engine's indexes below the home."""
        return IndexerSettings(home=self.home, engine=engine, workers=2)
