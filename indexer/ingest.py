"""Indexing a corpus, encoding passages and removing records; called by the front ends."""

import time
import unicodedata
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base.errors import InvalidCall
from base.progress import Progress, no_progress
from indexer.building import build_version
from indexer.building.plan import IngestRequest, plan_build
from indexer.building.records import DeadLetterFile
from indexer.building.source_files import FileChanges, keep_sources, version_key
from indexer.building.vector_stage import VectorStage
from indexer.corpora.full_text.parsing import Complete
from indexer.corpora.papers import Unit
from indexer.corpora.readers import DeadLetter, LeftOut, read_corpus
from indexer.corpora.record_source import RecordSource
from indexer.encoders import open_encoder
from indexer.errors import EncoderNotConfigured
from indexer.settings import EncoderSettings, IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store.engines import open_store

__all__ = [
    "IngestReport",
    "IngestRequest",
    "Progress",
    "build_index",
    "encode_passages",
    "index_records",
    "no_progress",
    "remove_records",
]


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result of indexing: counts, dead letters, and the file with them."""

    manifest: Manifest
    seconds: float
    letters: DeadLetterFile
    dead_letter_file: Path | None
    formats: Mapping[str, int]  # files by format
    files: FileChanges
    is_published: bool  # not if no record changed: then the manifest is that of the current version
    left_out: LeftOut
    absent: Sequence[str]  # ids to remove that are not in the index

    @property
    def dead_letters(self) -> list[DeadLetter]:
        """The first ten dead letters."""
        return self.letters.first


def build_index(
    request: IngestRequest, settings: IndexerSettings, progress: Progress = no_progress
) -> IngestReport:
    """Index the corpus at `request.paths` and publish the result as the next version of `request.name`.

    Raises:
        ResourceError: the version cannot be published; the previous version remains current.
    """
    corpus = read_corpus(
        request.paths,
        format=request.format,
        columns=request.columns,
        workers=settings.workers,
        follow_links=request.follow_links,
        complete=_grobid(settings),
    )
    return index_records(corpus, request, settings, progress)


def index_records(
    corpus: RecordSource, request: IngestRequest, settings: IndexerSettings, progress: Progress = no_progress
) -> IngestReport:
    """Index records, remove `request.removed`, and publish the result; raises as `build_index`."""
    started = time.perf_counter()
    with open_store(settings, request.name) as store, store.writing():
        # Invalid requests are refused before a model is loaded.
        plan = plan_build(store, request, corpus, settings)
        encoder = open_encoder(settings.encoder)
        with closing(encoder) if encoder else nullcontext():
            vectors = VectorStage(store, encoder, plan.base, progress)
            vectors.check(reencode=not request.paths)
            built = build_version(store, plan, settings, vectors, progress)
        manifest, letters, sources = built.manifest, built.letters, store.local.sources
        if request.paths:
            skipped, key = plan.skipped.names, version_key(manifest)
            plan.known.after(key, plan.states, skipped, built.read, request.removed).write(sources)
        elif plan.base and not request.removed:
            keep_sources(sources, plan.base, manifest)
        letter_file = store.local.dead_letter_path(manifest.version) if letters.count else None
    return IngestReport(
        manifest,
        time.perf_counter() - started,
        letters,
        letter_file,
        corpus.formats,
        plan.skipped.changes,
        built.is_changed,
        corpus.left_out,
        built.absent,
    )


def _grobid(settings: IndexerSettings) -> Complete | None:
    if not settings.grobid_url:
        return None
    from indexer.corpora.full_text.grobid import GrobidServer

    return GrobidServer(settings.grobid_url, settings.grobid_timeout_s).completed


class OtherRecords(RecordSource):
    """Records that are in no files: none, or those that `read` yields; `files` identifies their content."""

    unit: Unit = "paper"
    files: Sequence[str] = ()
    format: str = ""

    def __init__(
        self,
        unit: Unit,
        files: Sequence[str] = (),
        corpus_format: str = "",
        read: Callable[[], Iterable[Any]] = tuple,
    ) -> None:
        self.unit, self.files, self.format, self._read = unit, files, corpus_format, read

    @property
    def formats(self) -> Mapping[str, int]:
        """The format, as that of one file."""
        return {self.format: 1} if self.format else {}

    def __iter__(self) -> Generator[Any, None, None]:
        """Yield the records."""
        yield from self._read()


def _change(
    name: str, settings: IndexerSettings, progress: Progress, removed: Sequence[str] = ()
) -> IngestReport:
    """Publish a version of an index without reading a corpus."""
    with open_store(settings, name) as store:
        base = store.manifest()
    request = IngestRequest(name, (), analyzer=base.analyzer, decompound=base.decompound, removed=removed)
    return index_records(OtherRecords(base.unit), request, settings, progress)


def encode_passages(
    name: str, settings: IndexerSettings, progress: Progress = no_progress
) -> tuple[Manifest, int]:
    """Publish a version with a vector for every passage; return its manifest and the number of new vectors.

    If no vector was missing, nothing is published, and the current manifest is returned. After a kill, the
    next call resumes with the vectors encoded so far.

    Raises:
        EncoderNotConfigured: no encoder is configured.
        InvalidCall: the engine cannot change to the configured encoder.
    """
    if settings.encoder.provider == "none":
        raise EncoderNotConfigured(
            "no encoder is configured", remedy="set SHRAG_ENCODER__PROVIDER to local or endpoint"
        )
    report = _change(name, settings, progress)
    return report.manifest, report.manifest.counts["encoded"] if report.is_published else 0


def remove_records(
    name: str, ids: Sequence[str], settings: IndexerSettings, progress: Progress = no_progress
) -> tuple[Manifest, list[str]]:
    """Publish a version without the given records; return its manifest and the unknown ids.

    Raises:
        InvalidCall: none of the ids is in the index; nothing is published.
    """
    asked = list(dict.fromkeys(unicodedata.normalize("NFC", record_id) for record_id in ids))
    without = settings.model_copy(update={"encoder": EncoderSettings()})
    report = _change(name, without, progress, asked)
    if not report.is_published:
        raise InvalidCall(f"index {name!r} contains none of these ids: {', '.join(asked[:5])}")
    return report.manifest, list(report.absent)
