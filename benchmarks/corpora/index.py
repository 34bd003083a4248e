"""The plan of the measurements, and the index of the generated corpus, which later runs reuse."""

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from base.progress import Progress
from benchmarks.corpora.generated import Document, documents
from benchmarks.corpora.korean import Passage
from benchmarks.figures import Figure
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.packing import PassageTokens
from indexer.analysis.tokens import Token
from indexer.building.summary import CorpusSummary
from indexer.errors import IndexDamaged, IndexMismatch, UnknownIndex
from indexer.files.schema import StoredPassage
from indexer.glossary.mined import Mentions
from indexer.glossary.storage import write_glossary
from indexer.settings import EngineName, IndexerSettings
from indexer.versions.manifest import Manifest, lexical_fingerprint
from indexer.versions.store.build_folder import GLOSSARY
from indexer.versions.store.engines import open_store
from indexer.versions.store.folder import FolderStore
from retriever.index import open_index

PART = "generated index"
ANALYZER = "english"  # for analysis by the engine: each word is one token


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
    """Find or build the embedded index of the documents; return its size and building time."""
    name, seconds = ensure_index(plan.settings(), plan.documents, plan.progress)
    size = sum(file.bytes for file in FolderStore(plan.home, name).manifest().files.values())
    rates = [] if seconds is None else [plan.documents / seconds]
    return [
        Figure(PART, "size on disk", size / 10**9, "GB"),
        *(Figure(PART, "written and merged, one thread", rate, "documents/s") for rate in rates),
    ]


def ensure_index(settings: IndexerSettings, count: int, progress: Progress) -> tuple[str, float | None]:
    """Return the name of the index of `count` documents, and the seconds of its build, None if it existed."""
    name = f"generated-{count}"
    try:
        with open_index(settings, name):
            return name, None
    except (UnknownIndex, IndexMismatch, IndexDamaged):
        return name, build(settings, name, count, progress)


def build(settings: IndexerSettings, name: str, count: int, progress: Progress) -> float:
    """Generate, write and publish; return the seconds of the writer, without the generator's."""
    with open_store(settings, name) as store, store.writing():
        store.start_building(None, ANALYZER, "discard")
        spent, summary = 0.0, CorpusSummary(ANALYZER, "discard")
        with store.writer(None) as writer:
            for document in documents(count):
                passage, tokens = passage_of(document), tokens_of(document)
                started = time.perf_counter()
                if document.number and document.number % settings.commit_every == 0:
                    writer.commit()
                row = writer.add(passage, AnalysedPassage(tokens), document.number)
                spent += time.perf_counter() - started
                summary.add(passage, row, Mentions())
                if document.number % 1_000 == 0:
                    progress("documents", document.number, count)
            started = time.perf_counter()
            writer.finish()
            spent += time.perf_counter() - started
            summary.write(store.local.building, writer.terms)
        write_glossary(store.local.building / GLOSSARY, [])
        manifest = Manifest(
            name=name,
            version=store.next_version(),
            engine=store.engine,
            analyzer=ANALYZER,
            decompound="discard",
            unit="paper",
            papers=count,
            passages=count,
            published=datetime.now(UTC).isoformat(timespec="seconds"),
            fingerprint=lexical_fingerprint(ANALYZER, "discard", store.engine),
            counts={"records": count},
        )
        store.publish(manifest, keep=1)
    return spent


def passage_of(document: Document) -> StoredPassage:
    """Return a document as a paper of one passage; the title's words are in both analysed fields."""
    identifier = f"{document.number:07}"
    return StoredPassage(
        passage_id=identifier,
        doc_id=identifier,
        title=" ".join(document.title),
        text=" ".join(document.words[len(document.title) :]),
        lang="en",
        part="abstract",
        year=document.year,
        journal=document.journal,
        record=json.dumps({"id": identifier, "year": document.year, "journal": document.journal}),
    )


def tokens_of(document: Document) -> PassageTokens:
    """Return the words of a document as tokens."""
    return PassageTokens.pack(_side_by_side(document.words), _side_by_side(document.title))


def _side_by_side(words: tuple[str, ...]) -> list[Token]:
    tokens: list[Token] = []
    start = 0
    for position, word in enumerate(words):
        tokens.append((word, position, start, start + len(word)))
        start += len(word) + 1
    return tokens
