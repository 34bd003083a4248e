"""Indexing a corpus, encoding passages and removing records; called by the front ends."""

import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from base.errors import InvalidCall
from base.progress import Progress, no_progress
from base.versions import installed_version
from indexer.analysis import UserDictionary
from indexer.building import Built, build_version
from indexer.building.plan import BuildPlan, IngestRequest, own_entries, plan_build
from indexer.building.source_files import (
    FileChanges,
    SourceFiles,
    absolute,
    choose_skipped,
    keep_sources,
    states_of,
    version_key,
)
from indexer.building.summary import CorpusSummary, complete_manifest, publishing_time
from indexer.building.summary import remove_records as remove_from
from indexer.building.vector_stage import VectorStage
from indexer.corpora.full_text.parsing import Complete
from indexer.corpora.readers import DeadLetter, LeftOut, read_corpus
from indexer.corpora.record_source import RecordSource
from indexer.encoders import open_encoder
from indexer.errors import EmptyCorpus, EncoderNotConfigured, StrictRefusal
from indexer.files.damage import map_write_errors
from indexer.files.parts import link_file
from indexer.files.stored import key_field
from indexer.glossary.given import GivenPairs
from indexer.settings import IndexerSettings
from indexer.versions.manifest import Manifest, check_analysis, harvests_in
from indexer.versions.store import IndexStore
from indexer.versions.store.build_folder import COMPANIONS, DERIVED_FROM, SUMMARY, BuildFolder
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

FOLDER_MODES = {"owner": 0o700, "group": 0o750, "all": 0o755}


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result of indexing: counts, the first ten dead letters, and the file with more of them."""

    manifest: Manifest
    seconds: float
    dead_letters: list[DeadLetter] = field(default_factory=list)
    dead_letter_file: Path | None = None
    dead_letters_written: int = 0
    formats: Mapping[str, int] = field(default_factory=dict)  # files by format
    files: FileChanges = field(default_factory=FileChanges)
    is_published: bool = True  # not if no record changed: then the manifest is that of the current version
    left_out: LeftOut = field(default_factory=LeftOut)


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
    with writable_store(settings, request.name) as store:
        # Invalid requests are refused before a model is loaded.
        plan = plan_build(store, request, corpus, general_glossary=settings.general_glossary)
        options, states = _reading_options(request, settings), states_of(corpus)
        base = version_key(plan.base) if plan.base else ""
        known = SourceFiles.read(store.local.sources, base, options)
        plan = replace(plan, options=options, skipped=choose_skipped(known, states, request.paths))
        corpus.skip({name for name in corpus.sources if absolute(name) in plan.skipped.names})
        encoder = open_encoder(settings.encoder)
        with closing(encoder) if encoder else nullcontext():
            vectors = VectorStage(store, encoder, plan.base, progress)
            vectors.check()
            plan = replace(plan, publishes_anyway=_publishes_anyway(plan, settings, vectors))
            try:
                built = build_version(store, plan, settings, vectors, progress)
            except (EmptyCorpus, StrictRefusal):
                store.discard_building()
                raise
            manifest = _published(store, built, settings.keep_versions)
            if encoder:
                store.local.forget_encoded()
            files = known.updated(built.files.sources(states), built.files.all_ids(request.removed))
            SourceFiles(version_key(manifest), options, files).write(store.local.sources)
        letters = built.first_dead_letters
        letter_file = store.local.dead_letter_path(manifest.version) if letters else None
    return IngestReport(
        manifest,
        time.perf_counter() - started,
        letters,
        letter_file,
        built.dead_letters_written,
        corpus.formats,
        plan.skipped.changes,
        built.is_changed,
        corpus.left_out,
    )


def _reading_options(request: IngestRequest, settings: IndexerSettings) -> dict[str, Any]:
    """Return the values with which a file gives the same records."""
    return {
        "release": installed_version("shrag"),
        "format": request.format,
        "columns": dict(request.columns or {}),
        "grobid": settings.grobid_url,
    }


def _publishes_anyway(plan: BuildPlan, settings: IndexerSettings, vectors: VectorStage) -> bool:
    """Check whether glossary, vectors or the state of harvests change, even if no record does."""
    request = plan.request
    if plan.base is None or request.glossary is not None or request.harvests is not None:
        return True
    if vectors.has_missing:
        return True
    return bool(plan.base.glossary.get("general")) != settings.general_glossary


def _published(store: IndexStore, built: Built, keep_versions: int) -> Manifest:
    """Publish a build that changed anything; otherwise keep the current version and the dead letters."""
    if built.is_changed:
        return store.publish(built.manifest, keep=keep_versions)
    store.local.move_dead_letters(built.manifest.version)
    store.discard_building()
    return built.manifest


def _grobid(settings: IndexerSettings) -> Complete | None:
    if not settings.grobid_url:
        return None
    from indexer.corpora.full_text.grobid import GrobidServer

    return GrobidServer(settings.grobid_url, settings.grobid_timeout_s).completed


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
    with writable_store(settings, name, published=True) as store:
        base, dictionary = _checked_base(store)
        if (encoder := open_encoder(settings.encoder)) is None:
            raise EncoderNotConfigured(
                "no encoder is configured", remedy="set SHRAG_ENCODER__PROVIDER to local or endpoint"
            )
        with closing(encoder):
            stage = VectorStage(store, encoder, base, progress)
            stage.check(reencode=True)
            held = base.vector_count if base.vector_fingerprint == encoder.fingerprint else 0
            draft = _start_from(store, base, dictionary)
            with store.writer(base) as writer:
                draft = stage.run(draft, writer)
                if draft.vector_count > held:
                    writer.finish()
        added = draft.vector_count - held
        if not added:
            store.discard_building()
            store.local.forget_encoded()
            return base, 0
        for companion in COMPANIONS.keys() & base.files.keys():
            link_file(store.companion_path(base, companion), store.local.building / companion)
        draft = replace(draft, counts={"encoded": added}, published=publishing_time())
        manifest = store.publish(draft, keep=settings.keep_versions)
        keep_sources(store.local.sources, base, manifest)
        store.local.forget_encoded()
    return manifest, added


def remove_records(
    name: str, ids: Sequence[str], settings: IndexerSettings, progress: Progress = no_progress
) -> tuple[Manifest, list[str]]:
    """Publish a version without the given records; return its manifest and the unknown ids.

    Raises:
        InvalidCall: none of the ids is in the index; nothing is published.
    """
    asked = list(dict.fromkeys(unicodedata.normalize("NFC", record_id) for record_id in ids))
    with writable_store(settings, name, published=True) as store:
        base, dictionary = _checked_base(store)
        key = key_field(base.unit)
        given = GivenPairs(own_entries(store, base), general=bool(base.glossary.get("general")))
        draft = _start_from(store, base, dictionary)
        with store.writer(base) as writer:
            if not (present := writer.held(key, asked)):
                store.discard_building()
                raise InvalidCall(f"index {name!r} contains none of these ids: {', '.join(asked[:5])}")
            path = store.companion_path(base, SUMMARY)
            summary = CorpusSummary(base.analyzer, base.decompound, dictionary, path)
            draft = replace(draft, counts={"removed": remove_from(writer, summary, key, present)})
            writer.commit()
            draft = VectorStage(store, None, base, progress).run(draft, writer)
            writer.finish()
            draft = complete_manifest(
                store.local.building, draft, writer, progress, dictionary, given, summary
            )
        manifest = store.publish(draft, keep=settings.keep_versions)
    return manifest, [record_id for record_id in asked if record_id not in present]


def create_folder(name: str, settings: IndexerSettings) -> BuildFolder:
    """Return the folder of an index on this machine; create it, with its permissions, if it is missing."""
    folder = BuildFolder(settings.home, name)
    if not folder.path.exists():
        with writable_store(settings, name):
            pass
    return folder


def discard_folder(name: str, settings: IndexerSettings) -> None:
    """Remove the folder of an index that was never published, unless a build of it can be resumed."""
    with writable_store(settings, name) as store:
        if not store.local.is_unfinished():
            store.discard_building()


@contextmanager
def writable_store(settings: IndexerSettings, name: str, *, published: bool = False) -> Iterator[IndexStore]:
    """Open an index for writing; with `published` it must already exist.

    The settings determine the readers of a new index; the mode of its folder applies to all of its content.
    """
    with open_store(settings, name) as store:
        if published:
            store.require_current()
        is_new = not store.local.path.exists()
        with store.writing(), map_write_errors(name):
            if is_new:
                mode = store.local.path.stat().st_mode  # restricted by the umask
                store.local.path.chmod(mode & FOLDER_MODES[settings.readable_by])
            yield store


def _checked_base(store: IndexStore) -> tuple[Manifest, UserDictionary | None]:
    """Return the current version, checked against today's analysis, and its dictionary."""
    base = store.manifest()
    store.check_files(base, names=DERIVED_FROM)
    dictionary = store.dictionary(base)
    check_analysis(base, dictionary)
    return base, dictionary


def _start_from(store: IndexStore, base: Manifest, dictionary: UserDictionary | None) -> Manifest:
    """Start a version from the passages of another; it cannot be resumed. Return its draft manifest."""
    store.start_building(base, base.analyzer, base.decompound, dictionary)
    draft = replace(base, version=store.next_version(), source=harvests_in(base))
    store.local.write_plan({"base": base.version, "version": draft.version})
    return draft
