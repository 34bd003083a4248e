"""From a corpus to a published version of an index: what the front ends call."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from indexer.building import Build
from indexer.errors import EmptyCorpus, InvalidCall, StrictRefusal
from indexer.finishing import finish
from indexer.places import the_index
from indexer.readers import DeadLetter, read_corpus
from indexer.requests import IngestRequest, Progress, no_progress
from indexer.settings import IndexerSettings
from indexer.stored import key_field
from indexer.versions import (
    PLAN,
    IndexFolder,
    Manifest,
    check_analysis,
    not_written,
    write_durably,
)

__all__ = [
    "IngestReport",
    "IngestRequest",
    "Progress",
    "build_index",
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
    ):
        build = Build(request, settings, corpus, folder, progress)
        try:
            manifest = build.run()
        except (EmptyCorpus, StrictRefusal):
            folder.discard_building()
            raise
        folder.publish(manifest.version, keep=settings.keep_versions)
    return IngestReport(
        manifest,
        time.perf_counter() - started,
        build.first_dead_letters,
        folder.dead_letter_path(manifest.version) if build.first_dead_letters else None,
    )


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
            writer.finish()
            draft = replace(draft, counts={"removed": len(present)})
            manifest = finish(folder.building, draft, writer, progress, dictionary)
        folder.publish(manifest.version, keep=settings.keep_versions)
    return manifest, [one for one in asked if one not in present]
