"""Versions as indexes of a cluster, with an alias for the current one.

The cluster is authoritative. Below HOME/NAME, a machine that indexes has the plan of a build and the dead
letters, and a machine that searches has copies of the versions' companion files. An index beside each version
contains these files in pieces.

The index of the next version is the claim of its builder, as only one process can create it; its `_meta`
names the process. A process with the same SHRAG_HOME takes over the index of a killed one, because it has the
lock of that folder. Otherwise the index is removed by hand; the error says how.
"""

# ruff: noqa: D102 - the base class describes the methods

import hashlib
import os
import shutil
import socket
import tempfile
import uuid
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from errno import ENOENT
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from elasticsearch import Elasticsearch

from base.errors import Remedy
from base.files.durable import replacing, write_durably
from base.progress import Progress, no_progress
from indexer.errors import EngineRefused, IndexBusy, IndexDamaged, IndexMismatch, IndexNotWritten
from indexer.files.damage import map_write_errors
from indexer.files.schema import StoredPassage
from indexer.files.sums import FileSum, sum_file
from indexer.settings import EngineName, IndexerSettings
from indexer.versions.cluster import documents
from indexer.versions.cluster.connection import NOT_FOUND, connect, version_gone
from indexer.versions.manifest import MANIFEST, Manifest
from indexer.versions.store import Analysis, IndexStore, Pointer
from indexer.versions.store.build_folder import (
    COMPANIONS,
    DICTIONARY,
    LEXICON,
    BuildFolder,
    superseded,
    versions_in,
)
from indexer.versions.writers import Writer
from indexer.versions.writers.elasticsearch import ElasticsearchWriter

CREATED_WITHIN = "20s"
SHOWN = ["*.aliases", "*.mappings._meta", "*.settings.index.uuid", "*.settings.index.number_of_shards"]
FILES = {**COMPANIONS, DICTIONARY: "dictionary"}
PIECE_BYTES = 4_000_000
HOLDER = "holder"  # the file with the name of the folder as a builder


class Index(NamedTuple):
    """An index in the cluster that SHRAG created."""

    meta: dict[str, Any]
    aliases: dict[str, Any]
    uuid: str
    shards: int


class ElasticsearchStore(IndexStore):
    """An index in a cluster, see `indexer.versions.store.IndexStore`; closing it closes the connection."""

    engine: EngineName = "elasticsearch"

    def __init__(self, settings: IndexerSettings, name: str) -> None:
        """Create a connection without sending a request; InvalidCall for an invalid name."""
        self.name = name
        self.local = BuildFolder(settings.home, name, readable_by=settings.readable_by)
        self._settings = settings.elasticsearch
        self._client = connect(self._settings)
        prefix, url = self._settings.prefix, self._settings.url
        self.place = f"with the prefix {prefix!r} at {url}, or none visible to this user or key"
        self._alias = documents.alias_of(prefix, name)
        self._published = documents.versions_alias(prefix, name)

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _indexes(self) -> dict[int, Index]:
        """Return the indexes of versions that SHRAG created, published or not."""
        found = _indexes_of(self._client, f"{self._alias}@*")
        numbered = {documents.version_of(name, self._alias): index for name, index in found.items()}
        return {version: index for version, index in numbered.items() if version is not None}

    def pointer(self) -> Pointer | None:
        """Return the identity of the current version; the latest one if the alias names several."""
        indexes = self._indexes()
        if named := [version for version, index in indexes.items() if self._alias in index.aliases]:
            return Pointer(max(named), indexes[max(named)].uuid)
        if any(self._published in index.aliases for index in indexes.values()):
            raise self.lost_pointer(f"the alias {self._alias} is missing in the cluster")
        return None

    def versions(self) -> list[int]:
        return sorted(v for v, index in self._indexes().items() if self._published in index.aliases)

    def all_names(self) -> list[str]:
        prefix = self._settings.prefix
        found = _indexes_of(self._client, f"{prefix}-*@*").values()
        named = ((str(index.meta["name"]), index.aliases) for index in found)
        return sorted({name for name, there in named if documents.versions_alias(prefix, name) in there})

    def manifest_of(self, version: int) -> Manifest:
        return Manifest.from_record(self._index(version).meta.get("manifest"), self.name, version)

    def _index(self, version: int) -> Index:
        if index := self._indexes().get(version):
            return index
        raise version_gone(self._index_of(version))

    def address(self, manifest: Manifest) -> str:
        return self._index_of(manifest.version)

    def _index_of(self, version: int) -> str:
        return documents.index_of(self._settings.prefix, self.name, version)

    def stored_passages(self, manifest: Manifest) -> Iterator[StoredPassage]:
        return documents.passages_of_index(self._client, self._index_of(manifest.version))

    def companion_path(self, manifest: Manifest, name: str) -> Path:
        """Return the local copy of a companion file, downloaded if necessary."""
        index = self._index_of(manifest.version)
        if (written := manifest.files.get(name)) is None:
            raise FileNotFoundError(ENOENT, f"no such {FILES[name]}", index)
        # An embedded index may share the folder of the version.
        path = self.local.version_path(manifest.version) / f"{written.sha256[:16]}-{name}"
        if not path.exists() or sum_file(path) != written:
            self._download(index, name, written, path)
            self._remove_old_copies()
        return path

    def _download(self, index: str, name: str, written: FileSum, path: Path) -> None:
        """Write a companion file to `path` atomically; IndexDamaged if its checksum is not `written`."""
        what = f"the {FILES[name]} of {index} in the cluster"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            digest, size = hashlib.sha256(), 0
            with replacing(path) as file:
                for number in range(-(-written.bytes // PIECE_BYTES)):
                    found = self._client.options(ignore_status=NOT_FOUND).get(
                        index=documents.files_of(index), id=f"{name}/{number}"
                    )
                    if not found.get("found"):
                        raise IndexDamaged(f"{what} lacks a piece ({number})", remedy=Remedy.REBUILD)
                    data = b64decode(found["_source"]["data"])
                    size += file.write(data)
                    digest.update(data)
                if FileSum(size, digest.hexdigest()) != written:
                    raise IndexDamaged(f"{what} has a wrong checksum", remedy=Remedy.REBUILD)
        except OSError as error:
            raise IndexNotWritten(
                f"{what} cannot be copied to {path.parent} ({error.strerror or error})",
                remedy=("free disk space", "set SHRAG_HOME to a writable folder"),
            ) from error

    def _remove_old_copies(self) -> None:
        """Remove the local copies of removed versions, and their folders if they are empty then."""
        there = self._indexes()
        for name, folder in versions_in(self.local.versions).items():
            if name.isdecimal() and int(name) not in there:
                with suppress(OSError):
                    for copy in [copy for kind in FILES for copy in folder.glob(f"*-{kind}")]:
                        copy.unlink()
                    folder.rmdir()

    def verify_files(self, version: int, progress: Progress = no_progress) -> list[str]:
        """Compare the number of passages and the checksums of companions with the manifest."""
        del progress  # fast enough without
        try:
            manifest = self.manifest_of(version)
        except (IndexDamaged, IndexMismatch) as error:
            return [error.what]
        changed, index = [], self._index_of(version)
        found = documents.count(self._client, index)
        if found != manifest.passages:
            changed.append(f"{index}: {found:,} passages instead of {manifest.passages:,}")
        with tempfile.TemporaryDirectory() as folder:
            for name, written in manifest.files.items():
                try:
                    self._download(index, name, written, Path(folder, name))
                except IndexDamaged as error:
                    changed.append(f"{name}: {error.what}")
        return changed

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the index on this machine; IndexBusy if this or another one is writing to it.

        Requests are then repeated for `patience_s` while the cluster is not ready.
        """
        reading = self._client
        with self.local.lock(), map_write_errors(self.name):
            self._refuse_other_builders()
            with connect(self._settings, patience_s=self._settings.patience_s) as patient:
                self._client = patient
                try:
                    yield
                finally:
                    self._client = reading

    def _refuse_other_builders(self) -> None:
        """Raise IndexBusy if a process with another SHRAG_HOME is building a version, or was killed."""
        version = self.next_version()
        index = self._indexes().get(version)
        if index is None or "manifest" in index.meta or index.meta["built_by"]["holder"] == self._holder:
            return
        other, name = index.meta["built_by"], self._index_of(version)
        who = f"process {other['pid']} on {other['host']}, since {other['since']}"
        request = f"DELETE {self._settings.url.partition(',')[0]}/{quote(name, safe='')}"
        killed = f"if it was killed, repeat its command there, or remove its index ({request})"
        what = f"another process is writing to {self._alias}: {who}"
        raise IndexBusy(what, remedy=("wait for it, then try again", killed))

    @property
    def _holder(self) -> str:
        """The name of the folder of the index as a builder; it is created at the first call."""
        path = self.local.path / HOLDER
        if not path.exists():
            write_durably(path, f"{uuid.uuid4().hex}\n")
        return path.read_text(encoding="utf-8").strip()

    def start_building(
        self, base: Manifest | None, version: int, analysis: Analysis, plan: dict[str, Any]
    ) -> None:
        self.local.start(plan, analysis[-1])
        self._refuse_other_builders()  # one may have started in the meantime
        self._remove(version)  # of a killed process
        now = datetime.now(UTC).isoformat(timespec="seconds")
        process = {"host": socket.gethostname(), "pid": os.getpid(), "since": now}
        meta = {"name": self.name, "built_by": process | {"holder": self._holder}}
        index, indices, shards = self._index_of(version), self._client.indices, self._settings.shards
        if base:
            source, settings = self._index_of(base.version), documents.WRITABLE
            made = indices.clone(index=source, target=index, timeout=CREATED_WITHIN, settings=settings)
            indices.put_mapping(index=index, meta=meta)
        else:
            body = documents.index_body(*analysis, shards=shards, meta=meta)
            made = indices.create(index=index, timeout=CREATED_WITHIN, **body)
        if not made["shards_acknowledged"]:
            raise EngineRefused(
                f"the cluster allocated no shards of index {index} within {CREATED_WITHIN}",
                remedy="see GET /_cluster/allocation/explain (often a full disk), then repeat the command",
            )

    def writer(self, base: Manifest | None) -> Writer:
        return ElasticsearchWriter(
            self._client,
            self._settings,
            self._index_of(self.next_version()),
            base=self._index_of(base.version) if base else None,
            lexicon=self.companion_path(base, LEXICON) if base else None,
        )

    def publish(self, manifest: Manifest, *, keep: int) -> Manifest:
        index, building, indices = self._index_of(manifest.version), self.local.building, self._client.indices
        files = documents.files_of(index)
        written = [path for name in FILES if (path := building / name).exists()]
        own = self._index(manifest.version)
        if own.meta["built_by"]["holder"] != self._holder:
            what = f"the index {index} of this process was removed, and another process is writing to it"
            raise IndexBusy(what, remedy="repeat the command", index=self.name)
        sums = {path.name: sum_file(path) for path in written}
        published = replace(manifest, files=sums, shards=own.shards)
        before = self.current() or 0
        self.local.move_dead_letters(manifest.version)
        indices.delete(index=files, ignore_unavailable=True)  # of a killed process
        indices.create(index=files, **documents.FILES_BODY)
        for path in written:
            with path.open("rb") as file:
                for number, data in enumerate(iter(partial(file.read, PIECE_BYTES), b"")):
                    piece = {"data": b64encode(data).decode()}
                    self._client.index(index=files, id=f"{path.name}/{number}", document=piece)
        replicas = self._settings.replicas
        copies = {"auto_expand_replicas" if "-" in replicas else "number_of_replicas": replicas}
        settings = {"index": {**copies, "refresh_interval": "1s", "blocks.write": True}}
        indices.put_settings(index=index, settings=settings)
        indices.put_mapping(index=index, meta=own.meta | {"manifest": published.as_record()})
        self.point_to(manifest.version)
        shutil.rmtree(building, ignore_errors=True)
        for version in superseded(self.versions(), manifest.version, before, keep):
            self._remove(version)
            self.local.dead_letter_path(version).unlink(missing_ok=True)
        self._remove_old_copies()
        return published

    def point_to(self, version: int) -> None:
        ours = [self._index_of(other) for other in self._indexes()]
        before = {"indices": ours, "alias": self._alias, "must_exist": False}
        after = {"index": self._index_of(version), "aliases": [self._alias, self._published]}
        self._client.indices.update_aliases(actions=[{"remove": before}, {"add": after}])

    def _remove(self, version: int) -> None:
        """Remove the index of a version, and the one with its files."""
        if version in self._indexes():
            index = self._index_of(version)
            both = [index, documents.files_of(index)]
            self._client.indices.delete(index=both, ignore_unavailable=True)

    def discard_building(self) -> None:
        self._remove(self.next_version())
        self.local.discard(with_index=not self.versions() and not self._shares_folder())

    def delete(self) -> None:
        if not self.local.is_begun() and not self._indexes():
            self.require_current()
        with self.held():
            indexes = self._indexes()
            for version in sorted(indexes, key=lambda version: self._alias in indexes[version].aliases):
                self._remove(version)  # the current one last, after which no reader can open it
            if not self._shares_folder():
                self.local.remove()
            else:
                self._remove_old_copies()

    def _shares_folder(self) -> bool:
        """Check whether the folder on this machine also belongs to an embedded index of the same name."""
        return any(self.local.versions.glob(f"*/{MANIFEST}"))


def _indexes_of(client: Elasticsearch, pattern: str) -> dict[str, Index]:
    found = client.indices.get(index=pattern, expand_wildcards="all", filter_path=SHOWN)
    return {
        name: Index(meta, about.get("aliases", {}), own["uuid"], int(own["number_of_shards"]))
        for name, about in found.items()
        if "name" in (meta := about.get("mappings", {}).get("_meta", {}))
        and (own := about["settings"]["index"])
    }


def open_store(settings: IndexerSettings, name: str) -> IndexStore:
    """Connect to the store of an index; InvalidCall for an invalid name."""
    return ElasticsearchStore(settings, name)
