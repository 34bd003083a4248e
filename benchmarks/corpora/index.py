"""The plan of the measurements, and the index of the generated corpus, which later runs reuse."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from base.progress import Progress
from benchmarks.corpora.generated import records_of_words, write_lines
from benchmarks.corpora.korean import Passage
from benchmarks.figures import Figure
from indexer.errors import IndexDamaged, IndexMismatch, UnknownIndex
from indexer.ingest import IngestRequest, build_index
from indexer.settings import EngineName, IndexerSettings
from indexer.versions.store.folder import FolderStore
from retriever.index import open_index

PART = "generated index"
ANALYZER = "english"  # each generated word is one token


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


def measure_generated_index(plan: Plan) -> list[Figure]:
    """Find or build the embedded index of the documents; return its size and the speed of its build."""
    name, rates = ensure_index(plan.settings(), plan.documents, plan.progress)
    size = sum(file.bytes for file in FolderStore(plan.home, name).manifest().files.values())
    return [Figure(PART, "size on disk", size / 10**9, "GB"), *rates]


def ensure_index(settings: IndexerSettings, count: int, progress: Progress) -> tuple[str, list[Figure]]:
    """Return the name of the index of `count` documents, and the speed of its build if it did not exist."""
    name = f"generated-{count}"
    try:
        with open_index(settings, name):
            return name, []
    except (UnknownIndex, IndexMismatch, IndexDamaged):
        pass
    with tempfile.TemporaryDirectory(prefix="shrag-corpus-") as folder:
        path = write_lines(Path(folder, "records.jsonl"), records_of_words(count))
        request = IngestRequest(name, [str(path)], analyzer=ANALYZER, rebuild=True)
        report = build_index(request, settings, progress)
    return name, [Figure(PART, f"built on {settings.engine}", count / report.seconds, "documents/s")]
