"""Versions as indexes of a cluster, with an alias for the current one.

The cluster is authoritative. Below HOME/NAME, a machine that indexes has the plan of a build and the dead
letters, and a machine that searches has copies of the versions' companion files. The index PREFIX.files
contains these files in pieces, and the claims of writers.

A claim is a document that only one process can create. It does not expire. A process with the same SHRAG_HOME
takes over the claim of a killed one, because it has the lock of that folder. Otherwise the claim of a killed
process is removed by hand; the error says how.
"""

# ruff: noqa: D102 - the protocol describes the methods

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
from elasticsearch.helpers import bulk

from base.errors import Remedy
from base.files.durable import replacing, write_durably
from base.progress import Progress, no_progress
from indexer.analysis import Decompound, UserDictionary
from indexer.errors import (
    EngineRefused,
    EngineUnreachable,
    IndexBusy,
    IndexDamaged,
    IndexMismatch,
    IndexNotWritten,
)
from indexer.files.damage import map_write_errors
from indexer.files.schema import StoredPassage
from indexer.files.sums import FileSum, sum_file
from indexer.settings import EngineName, IndexerSettings
from indexer.versions.cluster import documents
from indexer.versions.cluster.connection import BAD_REQUEST, CONFLICT, NOT_FOUND, connect, version_gone
from indexer.versions.manifest import MANIFEST, Manifest
from indexer.versions.store import Address, IndexStore, Pointer
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
MAX_PIECES = 10_000  # of all files of a version
HOLDER = "holder"  # the file with the name of the folder as a holder of claims


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
        self.local = BuildFolder(settings.home, name)
        self._settings = settings.elasticsearch
        self._client = connect(self._settings)
        prefix, url = self._settings.prefix, self._settings.url
        self.place = f"with the prefix {prefix!r} at {url}, or none visible to this user or key"
        self._alias = documents.alias_of(prefix, name)
        self._published = documents.versions_alias(prefix, name)
        self._files = f"{prefix}.files"

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _indexes(self) -> dict[int, Index]:
        """Return the indexes of versions that SHRAG created, published or not."""
        found = _indexes_of(self._client, f"{self._alias}@*")
        numbered = {documents.version_of(name, self._alias): index for name, index in found.items()}
        return {version: index for version, index in numbered.items() if version is not None}

    def current(self) -> int | None:
        pointer = self.pointer()
        if pointer is None and self.versions():
            raise self.lost_pointer(f"the alias {self._alias} is missing in the cluster")
        return pointer.version if pointer else None

    def pointer(self) -> Pointer | None:
        """Return the identity of the current version; the latest one if the alias names several."""
        named = {v: index for v, index in self._indexes().items() if self._alias in index.aliases}
        return Pointer(max(named), named[max(named)].uuid) if named else None

    def versions(self) -> list[int]:
        return sorted(v for v, index in self._indexes().items() if self._published in index.aliases)

    def next_version(self) -> int:
        return max(self.versions(), default=0) + 1

    def all_names(self) -> list[str]:
        prefix = self._settings.prefix
        found = _indexes_of(self._client, f"{prefix}-*@*").values()
        named = ((str(index.meta["name"]), index.aliases) for index in found)
        return sorted({name for name, there in named if documents.versions_alias(prefix, name) in there})

    def manifest_of(self, version: int) -> Manifest:
        return Manifest.from_record(self._index(version).meta.get("manifest"), self.name, version)

    def address(self, manifest: Manifest) -> Address:
        return Address(self._index_of(manifest.version), self._index(manifest.version).shards)

    def _index(self, version: int) -> Index:
        if found := self._indexes().get(version):
            return found
        raise version_gone(self._index_of(version))

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
                    key = f"{index}/{name}/{number}"
                    found = self._client.options(ignore_status=NOT_FOUND).get(index=self._files, id=key)
                    if not found.get("found"):
                        raise IndexDamaged(f"{what} lacks a piece ({key})", remedy=Remedy.REBUILD)
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
        """Lock the index for writing, on this machine and in the cluster; IndexBusy immediately if locked.

        Requests are then repeated for `patience_s` while the cluster is not ready.
        """
        reading = self._client
        with self.local.lock():
            if not reading.indices.exists(index=self._files):  # 400: just created by another process
                creating = reading.options(ignore_status=BAD_REQUEST).indices
                creating.create(index=self._files, **documents.FILES_BODY)
            with self._claimed(), connect(self._settings, patience_s=self._settings.patience_s) as patient:
                self._client = patient
                try:
                    yield
                finally:
                    self._client = reading

    @contextmanager
    def _claimed(self) -> Iterator[None]:
        """Hold the claim for the alias; IndexBusy if another process holds it."""
        client, at = self._client, dict[str, Any](index=self._files, id=self._alias)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        claim = {"holder": self._holder, "host": socket.gethostname(), "pid": os.getpid(), "since": now}
        written = client.options(ignore_status=CONFLICT).index(
            **at, document={"claim": claim}, op_type="create"
        )
        if written.meta.status == CONFLICT:
            other = self._claim()
            if other and other["holder"] != self._holder:
                url, name = self._settings.url.partition(",")[0], quote(self._alias, safe="")
                who = f"process {other['pid']} on {other['host']}, since {other['since']}"
                request = f"DELETE {url}/{self._files}/_doc/{name}"
                killed = f"if it was killed, repeat its command there, or remove its claim ({request})"
                what = f"another process is writing to {self._alias}: {who}"
                raise IndexBusy(what, remedy=("wait for it, then try again", killed))
            written = client.index(**at, document={"claim": claim})
        own = {"if_seq_no": written["_seq_no"], "if_primary_term": written["_primary_term"]}
        try:
            yield
        finally:  # unless the claim was removed, and another process has one
            with suppress(EngineUnreachable, EngineRefused):
                client.options(ignore_status=(NOT_FOUND, CONFLICT)).delete(**at, **own)

    def _claim(self) -> dict[str, Any]:
        found = self._client.options(ignore_status=NOT_FOUND).get(index=self._files, id=self._alias)
        claim: dict[str, Any] = found.get("_source", {}).get("claim", {})
        return claim

    @property
    def _holder(self) -> str:
        """The name of the folder of the index as a holder; it is created at the first call."""
        path = self.local.path / HOLDER
        if not path.exists():
            write_durably(path, f"{uuid.uuid4().hex}\n")
        return path.read_text(encoding="utf-8").strip()

    def recover(self) -> None:
        """Raise IndexDamaged without a record of the current version; publishing needs no repair."""
        self.current()

    def can_resume(self) -> bool:
        building = self._indexes().get(self.next_version())
        return building is not None and building.meta.get("built_by") == self._holder

    def start_building(
        self,
        base: Manifest | None,
        analyzer: str,
        decompound: Decompound,
        dictionary: UserDictionary | None = None,
    ) -> None:
        """Start a new build: from the passages of a version (by hard links), or empty with an analysis."""
        self.local.start(dictionary)
        version, meta = self.next_version(), {"name": self.name, "built_by": self._holder}
        index, indices, shards = self._index_of(version), self._client.indices, self._settings.shards
        self._delete_unfinished(version)
        if base:
            source, settings = self._index_of(base.version), documents.WRITABLE
            made = indices.clone(index=source, target=index, timeout=CREATED_WITHIN, settings=settings)
            indices.put_mapping(index=index, meta=meta)
        else:
            body = documents.index_body(analyzer, decompound, shards=shards, meta=meta, dictionary=dictionary)
            made = indices.create(index=index, timeout=CREATED_WITHIN, **body)
        if not made["shards_acknowledged"]:
            raise EngineRefused(
                f"the cluster allocated no shards of index {index} within {CREATED_WITHIN}",
                remedy="see GET /_cluster/allocation/explain (often a full disk), then repeat the command",
            )

    def _delete_unfinished(self, version: int) -> None:
        if version in self._indexes():
            self._client.options(ignore_status=NOT_FOUND).indices.delete(index=self._index_of(version))

    def writer(self, base: Manifest | None) -> Writer:
        return ElasticsearchWriter(
            self._client,
            self._settings,
            self._index_of(self.next_version()),
            base=self._index_of(base.version) if base else None,
            building=self.local.building,
            lexicon=self.companion_path(base, LEXICON) if base else None,
        )

    def publish(self, manifest: Manifest, *, keep: int) -> Manifest:
        index, building, indices = self._index_of(manifest.version), self.local.building, self._client.indices
        written = [path for name in FILES if (path := building / name).exists()]
        published = replace(manifest, files={path.name: sum_file(path) for path in written})
        before = self.current() or 0
        self.local.move_dead_letters(manifest.version)
        self._remove_files(index)  # of a killed process
        for path in written:
            with path.open("rb") as file:
                for number, data in enumerate(iter(partial(file.read, PIECE_BYTES), b"")):
                    piece = {"version": index, "data": b64encode(data).decode()}
                    self._client.index(index=self._files, id=f"{index}/{path.name}/{number}", document=piece)
        if self._claim().get("holder") != self._holder:  # another process may be writing then
            what = f"the claim of this process on {self._alias} was removed; its unpublished work is lost"
            raise IndexBusy(what, remedy="repeat the command", index=self.name)
        replicas = self._settings.replicas
        copies = {"auto_expand_replicas" if "-" in replicas else "number_of_replicas": replicas}
        settings = {"index": {**copies, "refresh_interval": "1s", "blocks.write": True}}
        indices.put_settings(index=index, settings=settings)
        meta = {"name": self.name, "built_by": self._holder, "manifest": published.as_record()}
        indices.put_mapping(index=index, meta=meta)
        self.point_to(manifest.version)
        shutil.rmtree(building, ignore_errors=True)
        for version in superseded(self.versions(), manifest.version, before, keep):
            self._remove(version)
        return published

    def point_to(self, version: int) -> None:
        ours = [self._index_of(other) for other in self._indexes()]
        before = {"indices": ours, "alias": self._alias, "must_exist": False}
        after = {"index": self._index_of(version), "aliases": [self._alias, self._published]}
        self._client.indices.update_aliases(actions=[{"remove": before}, {"add": after}])

    def _remove(self, version: int) -> None:
        """Remove a version with its files, in the cluster and on this machine."""
        index = self._index_of(version)
        self._client.options(ignore_status=NOT_FOUND).indices.delete(index=index)
        self._remove_files(index)
        self._remove_old_copies()
        self.local.dead_letter_path(version).unlink(missing_ok=True)

    def _remove_files(self, index: str) -> None:
        self._client.indices.refresh(index=self._files)
        query = {"term": {"version": index}}
        found = self._client.search(index=self._files, query=query, size=MAX_PIECES, source=False)
        pieces = [hit["_id"] for hit in found["hits"]["hits"]]
        deletions = [{"_op_type": "delete", "_index": self._files, "_id": piece} for piece in pieces]
        bulk(self._client, deletions, raise_on_error=False)

    def discard_building(self) -> None:
        self._delete_unfinished(self.next_version())
        self.local.discard(with_index=not self.versions() and not self._shares_folder())

    def delete(self) -> None:
        if not self.local.is_begun() and not self._indexes():
            self.require_current()
        with self.held(), map_write_errors(self.name):
            pointer = self.pointer()
            current = pointer.version if pointer else None
            for version in sorted(self._indexes(), key=lambda version: version == current):
                self._remove(version)  # the current one last, after which no reader can open it
            if not self._shares_folder():
                self.local.remove()  # before the claim is released, as another process may build then

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
