"""From a corpus to a published version of an index: what the front ends call."""

import json
import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from indexer.building import Build
from indexer.durable import not_written, write_durably
from indexer.encoders import open_encoder
from indexer.errors import EmptyCorpus, InvalidCall, StrictRefusal
from indexer.finishing import finish, now
from indexer.manifest import Manifest, check_analysis
from indexer.places import the_index
from indexer.readers import DeadLetter, read_corpus
from indexer.requests import IngestRequest, Progress, no_progress
from indexer.settings import IndexerSettings
from indexer.stored import key_field
from indexer.vectors.stage import VectorStage
from indexer.versions import GLOSSARY, PLAN, IndexFolder

__all__ = [
    "IngestReport",
    "IngestRequest",
    "Progress",
    "build_index",
    "encode_passages",
    "no_progress",
    "remove_records",
]


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of a corpus; of its dead letters the first ten, all of them in a file."""

    manifest: Manifest
    seconds: float
    dead_letters: list[DeadLetter] = field(default_factory=list)
    dead_letter_file: Path | None = None


def build_index(
    request: IngestRequest, settings: IndexerSettings, progress: Progress = no_progress
) -> IngestReport:
    """Index a corpus and publish the result as the next version of `request.name`.

    Raises:
        IndexerError: whatever keeps the version from being published; the last one answers on.
    """
    started = time.perf_counter()
    corpus = read_corpus(request.paths, format=request.format, columns=request.columns)
    with (
        the_index(settings, request.name) as folder,
        folder.writing(),
        not_written(request.name),
        ExitStack() as opened,
    ):
        encoder = opened.enter_context(closing(found)) if (found := open_encoder(settings.encoder)) else None
        build = Build(request, settings, corpus, folder, progress, encoder)
        try:
            manifest = build.run()
        except (EmptyCorpus, StrictRefusal):
            folder.discard_building()
            raise
        folder.publish(manifest.version, keep=settings.keep_versions)
        if encoder:
            folder.forget_encoded()
    return IngestReport(
        manifest,
        time.perf_counter() - started,
        build.first_dead_letters,
        folder.dead_letter_path(manifest.version) if build.first_dead_letters else None,
    )


def encode_passages(
    name: str, settings: IndexerSettings, progress: Progress = no_progress
) -> tuple[Manifest, int]:
    """Publish a version of an index in which every passage has a vector; return how many were without.

    Where none was, nothing is published, and the manifest is that of the version that answers. Killed, it
    finds what it had encoded when it is called again.

    Raises:
        InvalidCall: the settings name no encoder, or one that the engine cannot change to.
    """
    with (
        the_index(settings, name) as folder,
        folder.writing(),
        not_written(name),
        ExitStack() as opened,
    ):
        base = folder.manifest()
        dictionary = folder.dictionary(base)
        check_analysis(base, dictionary)
        if (encoder := open_encoder(settings.encoder)) is None:
            raise InvalidCall("no encoder is configured: set SHRAG_ENCODER__PROVIDER to local or endpoint")
        opened.enter_context(closing(encoder))
        stage = VectorStage(folder, encoder, base, progress)
        stage.check(anew=True)
        held = base.vector_count if base.vector_fingerprint == encoder.fingerprint else 0
        folder.start_building(base, base.analyzer, base.decompound, dictionary)
        draft = replace(base, version=folder.next_version())
        write_durably(folder.building / PLAN, json.dumps({"base": base.version, "version": draft.version}))
        with folder.writer(base.unit) as writer:
            draft = stage.run(draft, writer)
            if draft.vector_count > held:
                writer.finish()
        if draft.vector_count == held:
            folder.discard_building()
            folder.forget_encoded()
            return base, 0
        shutil.copyfile(folder.glossary_path(base), folder.building / GLOSSARY)
        added = draft.vector_count - held
        manifest = replace(draft, counts={"encoded": added}, published=now())
        manifest.write(folder.building)
        folder.publish(manifest.version, keep=settings.keep_versions)
        folder.forget_encoded()
    return manifest, added


def remove_records(
    name: str, ids: Sequence[str], settings: IndexerSettings, progress: Progress = no_progress
) -> tuple[Manifest, list[str]]:
    """Publish a version without the given records; return its manifest and the ids that were not there.

    Raises:
        InvalidCall: none of the ids was there; nothing is published.
    """
    with the_index(settings, name) as folder:
        folder.require_current()
        return _remove(folder, list(dict.fromkeys(ids)), settings, progress)


def _remove(
    folder: IndexFolder, asked: Sequence[str], settings: IndexerSettings, progress: Progress
) -> tuple[Manifest, list[str]]:
    with folder.writing(), not_written(folder.name):
        base = folder.manifest()
        dictionary = folder.dictionary(base)
        check_analysis(base, dictionary)
        key = key_field(base.unit)
        folder.start_building(base, base.analyzer, base.decompound, dictionary)
        draft = replace(base, version=folder.next_version())
        # Never gone on with: what removes is quick, and starts over.
        write_durably(folder.building / PLAN, json.dumps({"base": base.version, "version": draft.version}))
        with folder.writer(base.unit) as writer:
            present = writer.held(key, asked)
            if not present:
                folder.discard_building()
                raise InvalidCall(f"index {folder.name!r} holds none of these ids: {', '.join(asked[:5])}")
            for one in asked:
                if one in present:
                    writer.replace(key, one)
            writer.commit()
            draft = replace(draft, counts={"removed": len(present)})
            draft = VectorStage(folder, None, base, progress).run(draft, writer)
            writer.finish()
            manifest = finish(folder.building, draft, writer, progress, dictionary)
        folder.publish(manifest.version, keep=settings.keep_versions)
    return manifest, [one for one in asked if one not in present]
