"""Versions as indexes of a cluster, with an alias for the current one.

The cluster is authoritative. Below HOME/NAME, a machine that indexes has the plan of a build and the dead
letters, and a machine that searches has copies of the versions' companion files.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from errno import ENOENT
from pathlib import Path
from typing import Any, NamedTuple

from elasticsearch import Elasticsearch

from base.progress import Progress, no_progress
from indexer.analysis import Decompound, UserDictionary
from indexer.errors import EngineRefused, IndexBusy, IndexDamaged, IndexMismatch
from indexer.files.damage import map_write_errors
from indexer.files.schema import StoredPassage
from indexer.files.sums import sum_file
from indexer.settings import EngineName, IndexerSettings
from indexer.versions.cluster import files, mapping
from indexer.versions.cluster.claim import claim_of, hold_claim, holder_at
from indexer.versions.cluster.connection import connect, version_gone
from indexer.versions.cluster.documents import count, passages_of_index
from indexer.versions.manifest import MANIFEST, Manifest
from indexer.versions.store import Address, IndexStore, Pointer
from indexer.versions.store.build_folder import DICTIONARY, LEXICON, BuildFolder, superseded
from indexer.versions.writers import Writer
from indexer.versions.writers.elasticsearch import ElasticsearchWriter

CREATED_WITHIN = "20s"
SHOWN = ["*.aliases", "*.mappings._meta", "*.settings.index.uuid", "*.settings.index.number_of_shards"]


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
        self.local = BuildFolder.of(settings.home, name)
        self._settings = settings.elasticsearch
        self._client = connect(self._settings)
        prefix, url = self._settings.prefix, self._settings.url
        self.place = f"with the prefix {prefix!r} at {url}, or none visible to this user or key"
        self._alias = mapping.alias_of(prefix, name)
        self._published = mapping.versions_alias(prefix, name)
        self._files = f"{prefix}.files"

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._client.close()

    def _indexes(self) -> dict[int, Index]:
        """Return the indexes of versions that SHRAG created, published or not."""
        found = _indexes_of(self._client, f"{self._alias}@*")
        numbered = {mapping.version_of(name, self._alias): index for name, index in found.items()}
        return {version: index for version, index in numbered.items() if version is not None}

    def current(self) -> int | None:
        """Return the number of the current version, None before the first.

        Raises:
            IndexDamaged: there are versions, but no alias.
        """
        pointer = self.pointer()
        if pointer is None and self.versions():
            raise self.lost_pointer(f"the alias {self._alias} is missing in the cluster")
        return pointer.version if pointer else None

    def pointer(self) -> Pointer | None:
        """Return the identity of the current version, to detect changes; None without one.

        If the alias was changed to name several versions, the latest one counts.
        """
        named = {v: index for v, index in self._indexes().items() if self._alias in index.aliases}
        return Pointer(max(named), named[max(named)].uuid) if named else None

    def versions(self) -> list[int]:
        """List the published versions in order."""
        return sorted(v for v, index in self._indexes().items() if self._published in index.aliases)

    def next_version(self) -> int:
        """Return the number after the highest published one."""
        return max(self.versions(), default=0) + 1

    def all_names(self) -> list[str]:
        """Return the names of the indexes in the cluster."""
        return _names_in(self._client, self._settings.prefix)

    def manifest_of(self, version: int) -> Manifest:
        """Read the manifest of any version."""
        return Manifest.from_record(self._index(version).meta.get("manifest"), self.name, version)

    def address(self, manifest: Manifest) -> Address:
        """Return the index of a version and its shards."""
        return Address(self.index_of(manifest.version), self._index(manifest.version).shards)

    def _index(self, version: int) -> Index:
        """Return the index of a version; VersionGone if it was removed."""
        if found := self._indexes().get(version):
            return found
        raise version_gone(self.index_of(version))

    def index_of(self, version: int) -> str:
        """Return the name of a version's index in the cluster."""
        return mapping.index_of(self._settings.prefix, self.name, version)

    def stored_passages(self, manifest: Manifest) -> Iterator[StoredPassage]:
        """Yield every passage of a version in corpus order; VersionGone if it was removed."""
        return passages_of_index(self._client, self.index_of(manifest.version))

    def companion_path(self, manifest: Manifest, name: str) -> Path:
        """Return the local copy of a companion file, downloaded if necessary."""
        index = self.index_of(manifest.version)
        if (written := manifest.files.get(name)) is None:
            raise FileNotFoundError(ENOENT, f"no such {files.FILES[name]}", index)
        # An embedded index may share the folder of the version.
        path = self.local.version_path(manifest.version) / f"{written.sha256[:16]}-{name}"
        if not path.exists() or sum_file(path) != written:
            files.download(self._client, self._files, index, name, written, path)
            files.remove_old_copies(self.local, self._indexes())
        return path

    def verify_files(self, version: int, progress: Progress = no_progress) -> list[str]:
        """Compare the number of passages and the checksums of companions with the manifest."""
        del progress  # fast enough without
        try:
            manifest = self.manifest_of(version)
        except (IndexDamaged, IndexMismatch) as error:
            return [error.what]
        changed, index = [], self.index_of(version)
        found = count(self._client, index)
        if found != manifest.passages:
            changed.append(f"{index}: {found:,} passages instead of {manifest.passages:,}")
        with tempfile.TemporaryDirectory() as folder:
            for name, written in manifest.files.items():
                try:
                    files.download(self._client, self._files, index, name, written, Path(folder, name))
                except IndexDamaged as error:
                    changed.append(f"{name}: {error.what}")
        return changed

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the index for writing, on this machine and in the cluster; IndexBusy immediately if locked.

        Requests are then repeated for `patience_s` while the cluster is not ready.
        """
        settings, reading = self._settings, self._client
        with self.local.lock():
            files.create_files_index(reading, self._files)
            with (
                hold_claim(reading, settings.url, self._files, self._alias, self._holder),
                connect(settings, patience_s=settings.patience_s) as patient,
            ):
                self._client = patient
                try:
                    yield
                finally:
                    self._client = reading

    @property
    def _holder(self) -> str:
        return holder_at(self.local.path)

    def recover(self) -> None:
        """Raise IndexDamaged without a record of the current version; publishing needs no repair."""
        self.current()

    def can_resume(self) -> bool:
        """Check whether the unfinished build of this machine exists."""
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
        self.local.start()
        if dictionary:
            (self.local.building / DICTIONARY).write_text(dictionary.text(), encoding="utf-8")
        version, meta = self.next_version(), {"name": self.name, "built_by": self._holder}
        index, indices, shards = self.index_of(version), self._client.indices, self._settings.shards
        self._delete_unfinished(version)
        if base:
            source = self.index_of(base.version)
            made = indices.clone(
                index=source, target=index, timeout=CREATED_WITHIN, settings=mapping.WRITABLE
            )
            indices.put_mapping(index=index, meta=meta)
        else:
            body = mapping.index_body(analyzer, decompound, shards=shards, meta=meta, dictionary=dictionary)
            made = indices.create(index=index, timeout=CREATED_WITHIN, **body)
        if not made["shards_acknowledged"]:
            raise EngineRefused(
                f"the cluster allocated no shards of index {index} within {CREATED_WITHIN}",
                remedy="see GET /_cluster/allocation/explain (often a full disk), then repeat the command",
            )

    def _delete_unfinished(self, version: int) -> None:
        """Delete the index of a build that was not published."""
        if version in self._indexes():
            self._client.options(ignore_status=404).indices.delete(index=self.index_of(version))

    def writer(self, base: Manifest | None) -> Writer:
        """Open the build for writing."""
        return ElasticsearchWriter(
            self._client,
            self._settings,
            self.index_of(self.next_version()),
            base=self.index_of(base.version) if base else None,
            building=self.local.building,
            lexicon=self.companion_path(base, LEXICON) if base else None,
        )

    def publish(self, manifest: Manifest, *, keep: int) -> Manifest:
        """Publish the finished build as the current version, and prune all but the last `keep` versions."""
        index, building = self.index_of(manifest.version), self.local.building
        written = [path for name in files.FILES if (path := building / name).exists()]
        published = replace(manifest, files={path.name: sum_file(path) for path in written})
        before = self.current() or 0
        self.local.move_dead_letters(manifest.version)
        files.remove_files(self._client, self._files, index)  # of a killed process
        for path in written:
            files.upload(self._client, self._files, index, path)
        self._require_claim()
        meta = {"name": self.name, "built_by": self._holder, "manifest": published.as_record()}
        settings = mapping.published_settings(self._settings.replicas)
        self._client.indices.put_settings(index=index, settings=settings)
        self._client.indices.put_mapping(index=index, meta=meta)
        self.point_to(manifest.version)
        shutil.rmtree(building, ignore_errors=True)
        for version in superseded(self.versions(), manifest.version, before, keep):
            self._remove(version)
        return published

    def _require_claim(self) -> None:
        """Raise IndexBusy if the claim was removed, as another process may be writing then."""
        if claim_of(self._client, self._files, self._alias).get("holder") != self._holder:
            what = f"the claim of this process on {self._alias} was removed; its unpublished work is lost"
            raise IndexBusy(what, remedy="repeat the command", index=self.name)

    def point_to(self, version: int) -> None:
        """Make a version the current one, atomically."""
        ours = [self.index_of(other) for other in self._indexes()]
        before = {"indices": ours, "alias": self._alias, "must_exist": False}
        after = {"index": self.index_of(version), "aliases": [self._alias, self._published]}
        self._client.indices.update_aliases(actions=[{"remove": before}, {"add": after}])

    def _remove(self, version: int) -> None:
        """Remove a version with its files, in the cluster and on this machine."""
        index = self.index_of(version)
        self._client.options(ignore_status=404).indices.delete(index=index)
        files.remove_files(self._client, self._files, index)
        files.remove_old_copies(self.local, self._indexes())
        self.local.dead_letter_path(version).unlink(missing_ok=True)

    def discard_building(self) -> None:
        """Remove the unfinished build, and the folder if the index was never published."""
        self._delete_unfinished(self.next_version())
        self.local.discard(with_index=not self.versions() and not self._shares_folder())

    def delete(self) -> None:
        """Remove the index with all of its versions, or an unfinished first build."""
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


def index_names(settings: IndexerSettings) -> list[str]:
    """Return the names of the published indexes in the cluster, including damaged ones, in order."""
    with connect(settings.elasticsearch) as client:
        return _names_in(client, settings.elasticsearch.prefix)


def _names_in(client: Elasticsearch, prefix: str) -> list[str]:
    found = _indexes_of(client, f"{prefix}-*@*").values()
    named = ((str(index.meta["name"]), index.aliases) for index in found)
    return sorted({name for name, there in named if mapping.versions_alias(prefix, name) in there})
