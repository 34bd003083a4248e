"""The papers that sources found for a question, as an index of the embedded engine in its own folder."""

import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from indexer.analysis import Analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.corpora.papers import Paper
from indexer.encoders import VectorFingerprint
from indexer.encoders.arrays import Stored
from indexer.files.schema import StoredPassage
from indexer.files.stored import stored_passages
from indexer.forward.lexicon import TokenCounts, write_lexicon
from indexer.vectors.adding import row_of
from indexer.vectors.store import VectorStore
from indexer.versions.store.build_folder import LEXICON
from indexer.versions.writers.tantivy import TantivyWriter
from retriever.engines.tantivy import TantivyEngine
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.sources.merging import MergedPaper

WRITER_MEMORY_MB = 15  # the minimum; a question has some hundreds of papers
Sent = tuple[Query, Filters]


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of a query in the sources: (id, score), and the number requested."""

    ranked: tuple[tuple[str, float], ...]
    k: int


@dataclass(frozen=True, slots=True)
class Pool:
    """The papers and hits received so far."""

    papers: Mapping[str, MergedPaper] = field(default_factory=dict)
    found: Mapping[Sent, Found] = field(default_factory=dict)
    passages: Mapping[str, tuple[tuple[StoredPassage, AnalysedPassage], ...]] = field(default_factory=dict)
    engine: TantivyEngine | None = None


def passages_of_papers(
    papers: Iterable[Paper], analyzer: Analyzer
) -> list[tuple[StoredPassage, AnalysedPassage]]:
    """Return the analysed passages of papers, as they are indexed."""
    return [
        (passage, AnalysedPassage.of(passage.title, passage.text, passage.title2, analyzer))
        for paper in papers
        for passage in stored_passages(paper, "paper")
    ]


def write_pool(
    folder: Path,
    passages: Iterable[tuple[StoredPassage, AnalysedPassage]],
    vectors: Mapping[bytes, Stored],
    fingerprint: VectorFingerprint | None,
) -> TantivyEngine:
    """Write passages into an empty folder, and open the engine on it.

    Args:
        vectors: by the hash of the passage's text; may lack some.
        fingerprint: of the vectors; None without vectors.
    """
    shutil.rmtree(folder, ignore_errors=True)
    written, counts = list(passages), TokenCounts()
    with TantivyWriter(folder / "index", unit="paper", memory_mb=WRITER_MEMORY_MB) as writer:
        for number, (passage, analysed) in enumerate(written):
            counts.add(writer.add(passage, analysed, number))
        writer.finish()
        write_lexicon(folder / LEXICON, writer.terms, counts)
    with ExitStack() as opened:
        store = None
        if fingerprint:
            rows = [row for passage, _ in written if (row := row_of(passage)).text_hash in vectors]
            with VectorStore.writing(folder / "vectors", fingerprint) as store:
                if rows:
                    matrix: Stored = np.stack([vectors[row.text_hash] for row in rows])  # type: ignore[assignment]
                    store.append(rows, matrix)
            store = opened.enter_context(VectorStore(folder / "vectors"))
        engine = TantivyEngine(folder / "index", store, name="sources")
        opened.pop_all()  # the engine closes them
    return engine
