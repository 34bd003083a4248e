"""Rewriting an index for the installed analysis and libraries, from its stored passages."""

from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from base.errors import Remedy
from base.progress import Progress, no_progress
from base.windows import windows
from indexer.building import build_version
from indexer.building.plan import IngestRequest, own_entries, plan_build
from indexer.building.records import Record
from indexer.building.source_files import keep_sources
from indexer.building.vector_stage import VectorStage
from indexer.corpora.papers import Origin
from indexer.encoders import open_encoder
from indexer.errors import EncoderNotConfigured, IndexMismatch
from indexer.files.stored import key_of, open_searcher, read_numbered, unread_values
from indexer.ingest import OtherRecords
from indexer.settings import IndexerSettings
from indexer.vectors.parts import VectorParts
from indexer.vectors.spool import VectorSpool, text_to_encode, vector_key
from indexer.versions.manifest import HARVESTS, Manifest, lexical_fingerprint
from indexer.versions.store import IndexStore
from indexer.versions.store.engines import open_store

VECTORS_AT_ONCE = 4_096


def stored_records(store: IndexStore, manifest: Manifest) -> Iterator[Record]:
    """Yield the records of a version with their passages, as a corpus."""
    passages = store.stored_passages(manifest)
    for record_id, found in groupby(passages, key=lambda passage: key_of(passage, manifest.unit)):
        first, *more = found
        record = first.paper or {}
        titles, ids = (first.title, first.title2), (first.doc_id, *map(record.get, ("doi", "url")))
        authors, kind = record.get("authors") or (), record.get("type")
        unread = unread_values(authors, kind, titles, first.journal, filter(None, ids))
        whole = [replace(each, **unread) for each in (first, *more)]
        yield Record(record_id, Origin(), is_cut=False, passages=whole)


def upgrade_index(
    name: str, settings: IndexerSettings, progress: Progress = no_progress
) -> tuple[Manifest, bool]:
    """Publish a version with the current analysis; return its manifest, and whether one was published.

    After a kill the next call resumes. Vectors are kept; a cluster needs the encoder for them.

    Raises:
        IndexMismatch: papers are cut into passages in another way now, so that the corpus is needed.
        EncoderNotConfigured: the vectors are in a cluster, and no encoder is configured.
        InvalidCall: the configured encoder is another one than that of the vectors.
    """
    with open_store(settings, name) as store:
        store.require_current()
    with open_store(settings, name) as store, store.writing():
        base = store.manifest()
        dictionary = store.dictionary(base)
        current = lexical_fingerprint(base.analyzer, base.decompound, base.engine, dictionary)
        if base.fingerprint == current:
            return base, False
        if base.fingerprint.get("chunking") != current["chunking"]:
            what = f"index {name!r} was cut into passages in another way"
            raise IndexMismatch(what, remedy=Remedy.REBUILD, index=name)
        store.check_files(base, every_byte=True)
        kept = base.vector_fingerprint
        encoder = open_encoder(settings.encoder) if kept else None
        request = IngestRequest(
            name,
            base.source.get("paths", ()),
            analyzer=base.analyzer,
            decompound=base.decompound,
            rebuild=True,
            dictionary=dictionary,
            glossary=own_entries(store, base),
            harvests=base.source.get(HARVESTS),
        )
        source, format_ = f"{name}@{base.version} {base.published}", str(base.source.get("format", ""))
        corpus = OtherRecords(base.unit, [source], format_, partial(stored_records, store, base))
        general = {"general_glossary": bool(base.glossary.get("general"))}
        plan = plan_build(store, request, corpus, settings.model_copy(update=general))
        with closing(encoder) if encoder else nullcontext():
            VectorStage(store, encoder, base, progress).check()
            if kept and (vectors := store.vectors(base)):
                _fill(store.local.encoded, vectors, Path(store.address(base)))
            elif kept and encoder is None:
                raise EncoderNotConfigured(
                    f"the vectors of index {name!r} must be encoded again",
                    remedy="set SHRAG_ENCODER__PROVIDER to local or endpoint",
                )
            stage = VectorStage(store, encoder, None, progress, kept)
            manifest = build_version(store, plan, settings, stage, progress).manifest
        keep_sources(store.local.sources, base, manifest)
    return manifest, True


def _fill(folder: Path, vectors: VectorParts, index: Path) -> None:
    """Add the vectors of a version to the spool of the build."""
    passages = read_numbered(open_searcher(index), lambda numbers: vectors.places(numbers) >= 0)
    keyed = ((vector_key(text_to_encode(passage)), number) for number, passage in passages)
    with VectorSpool(folder, vectors.fingerprint) as spool:
        for window in windows(keyed, VECTORS_AT_ONCE):
            numbers = np.array([number for _, number in window], np.int64)
            keys, found = (key for key, _ in window), vectors.vectors(vectors.places(numbers))
            spool.add(dict(zip(keys, found, strict=True)))
