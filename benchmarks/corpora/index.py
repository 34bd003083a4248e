"""The index of the generated corpus, which later runs reuse."""

import tempfile
from pathlib import Path

from base.progress import Progress
from benchmarks.corpora.generated import records_of_words, write_lines
from indexer.errors import IndexDamaged, IndexMismatch, UnknownIndex
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from retriever.index import open_index

ANALYZER = "english"  # each generated word is one token


def ensure_index(settings: IndexerSettings, count: int, progress: Progress) -> str:
    """Return the name of the index of `count` documents; it is built if it does not exist."""
    name = f"generated-{count}"
    try:
        with open_index(settings, name):
            return name
    except (UnknownIndex, IndexMismatch, IndexDamaged):
        pass
    with tempfile.TemporaryDirectory(prefix="shrag-corpus-") as folder:
        path = write_lines(Path(folder, "records.jsonl"), records_of_words(count))
        build_index(IngestRequest(name, [str(path)], analyzer=ANALYZER, rebuild=True), settings, progress)
    return name
