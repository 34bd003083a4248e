"""The index of the generated corpus, published like any other, so that a second run finds it."""

import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

from eval.experiments.bench.corpus import Document, documents
from eval.experiments.bench.figures import Figure
from indexer.analysis.pool import AnalysedTexts
from indexer.analysis.tokens import Token
from indexer.errors import IndexDamaged, IndexMismatch, UnknownIndex
from indexer.fingerprint import lexical_fingerprint
from indexer.glossary import write_glossary
from indexer.packing import PackedTokens
from indexer.requests import Progress
from indexer.schema import StoredPassage
from indexer.settings import IndexerSettings
from indexer.versions import ENGINE, GLOSSARY, IndexFolder, Manifest
from indexer.writers import Writer
from retriever.index import open_index

PART = "generated index"


def measure_generated_index(home: Path, count: int, progress: Progress) -> tuple[str, list[Figure]]:
    """Find the index of `count` documents, or build it; return its name and what it took."""
    name, seconds = ensure_index(home, count, progress)
    folder = IndexFolder(home, name)
    files = folder.version_path(folder.require_current()).rglob("*")
    size = sum(path.stat().st_size for path in files)
    figures = [Figure(PART, "size on disk", size / 10**9, "GB")]
    if seconds is not None:
        figures.append(Figure(PART, "written and merged, one thread", count / seconds, "documents/s"))
    return name, figures


def ensure_index(home: Path, count: int, progress: Progress) -> tuple[str, float | None]:
    """Return the name of the index of `count` documents, and the seconds it took if it had to be built."""
    name = f"generated-{count}"
    try:
        open_index(IndexerSettings(home=home), name).glossary.close()
    except (UnknownIndex, IndexMismatch, IndexDamaged):
        return name, build(home, name, count, progress)
    return name, None


def build(home: Path, name: str, count: int, progress: Progress) -> float:
    """Generate, write and publish; return the seconds that the writer took, without the generator's."""
    settings = IndexerSettings(home=home)
    folder = IndexFolder(home, name)
    fingerprint = lexical_fingerprint("bilingual", "discard")
    with folder.writing():
        shutil.rmtree(folder.building, ignore_errors=True)
        spent = 0.0
        with folder.writer("paper") as writer:
            for document in documents(count):
                started = time.perf_counter()
                if document.number and document.number % settings.commit_every == 0:
                    writer.commit()
                _add(writer, document)
                spent += time.perf_counter() - started
                if document.number % 1_000 == 0:
                    progress("documents", document.number, count)
            started = time.perf_counter()
            writer.finish()
            spent += time.perf_counter() - started
        write_glossary(folder.building / GLOSSARY, [])
        version = folder.next_version()
        Manifest(
            name=name,
            version=version,
            engine=ENGINE,
            analyzer="bilingual",
            decompound="discard",
            unit="paper",
            papers=count,
            passages=count,
            published=datetime.now(UTC).isoformat(timespec="seconds"),
            fingerprint=fingerprint,
            counts={"records": count},
        ).write(folder.building)
        folder.publish(version, keep=1)
    return spent


def _add(writer: Writer, document: Document) -> None:
    """Add a document as a paper of one passage; the title's words stand in both analysed fields."""
    identifier = f"{document.number:07}"
    passage = StoredPassage(
        passage_id=identifier,
        doc_id=identifier,
        title=" ".join(document.title),
        text=" ".join(document.words[len(document.title) :]),
        lang="en",
        part="abstract",
        year=document.year,
        journal=document.journal,
        paper={"id": identifier, "year": document.year, "journal": document.journal},
    )
    tokens = AnalysedTexts(_packed(document.words), _packed(document.title))
    writer.add(passage, tokens, document.number)


def _packed(words: tuple[str, ...]) -> PackedTokens:
    tokens: list[Token] = [(word, position, 0, 0) for position, word in enumerate(words)]
    return PackedTokens.pack(tokens)
