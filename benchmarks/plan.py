"""Settings shared by all parts of the benchmark."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from base.progress import Progress
from indexer.settings import EngineName, IndexerSettings


class Passage(NamedTuple):
    """A passage in MIRACL's format."""

    docid: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Folders, sizes and repetitions of the measurements."""

    home: Path
    documents: int  # size of the generated corpus
    rounds: int
    passages: list[Passage]  # Korean passages
    progress: Progress

    def settings(self, engine: EngineName = "tantivy") -> IndexerSettings:
        """Return the settings of an engine's indexes below the home."""
        return IndexerSettings(home=self.home, engine=engine, workers=2)
