"""Versions as indexes of a cluster, with an alias for the current one.

The cluster is authoritative. Below HOME/NAME, a machine that indexes has the plan of a build and the dead
letters, and a machine that searches has copies of the versions' glossaries, citation graphs and lexicons.
"""

import shutil
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from errno import ENOENT
from pathlib import Path
from typing import Any, TypeVar

from elasticsearch import BadRequestError, NotFoundError

from base.errors import Remedy
from base.logs import get_logger
from base.progress import Progress, no_progress
from indexer.analysis import Decompound, UserDictionary
from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.corpora.papers import Unit
from indexer.corpora.readers import DeadLetter
from indexer.errors import EngineRefused, IndexDamaged, IndexMismatch, IndexNotWritten, VersionGone
from indexer.files.damage import map_write_errors
from indexer.files.schema import StoredPassage
from indexer.files.sums import sum_file
from indexer.forward.building import BaseForward
from indexer.settings import EngineName, IndexerSettings
from indexer.versions.cluster import companions, copies, names, readers
from indexer.versions.cluster.connection import Cluster, is_denied
from indexer.versions.cluster.lease import Lease, held_lease, holder_at
from indexer.versions.cluster.loading import create_for_loading, create_placed, is_placed, start_from
from indexer.versions.cluster.mapping import LEASES_BODY, published_settings
from indexer.versions.cluster.reading import count, passages_of_version
from indexer.versions.manifest import MANIFEST, Manifest
from indexer.versions.store import CAPABILITIES, Address, IndexStore, Pointer, ignore_refusal
from indexer.versions.store.build_folder import COMPANIONS, LEXICON, BuildFolder
from indexer.versions.writers import Writer
from indexer.versions.writers.elasticsearch import ElasticsearchWriter

Result = TypeVar("Result")
log = get_logger("store")


class ElasticsearchStore(IndexStore):
    """An index in a cluster, see `indexer.versions.store.IndexStore`; closing it closes the connection."""

    engine: EngineName = "elasticsearch"
    capabilities = CAPABILITIES["elasticsearch"]

    def __init__(self, settings: IndexerSettings, name: str) -> None:
        """Create a connection without sending a request; InvalidCall for an invalid name."""
        self.name = name
        self.local = BuildFolder.of(settings.home, name)
        self._settings = settings.elasticsearch
        self._cluster = Cluster(settings.elasticsearch)
        self._client = self._cluster.client
        self._lease: Lease | None = None
        self.place = (
            f"with the prefix {self._settings.prefix!r} at {self._settings.url}, or none visible to this "
            "user or key"
        )
        self._alias = names.alias_of(self._settings.prefix, name)
        self._companions = names.glossaries(self._settings.prefix)
        self._readers = names.readers(self._settings.prefix)

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._cluster.close()

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
        """Return the identity of the current version, to detect changes; None without one."""
        return self._run(self._current_pointer())

    async def _current_pointer(self) -> Pointer | None:
        """Return the current version and the identity of its index in the cluster.

        If the alias was changed to name several versions, the latest one counts; foreign indexes never do.
        """
        found = await self._client.indices.get(
            index=names.every_index(self._settings.prefix, self.name),
            features="aliases,mappings,settings",
            expand_wildcards="all",
            filter_path="*.aliases,*.mappings._meta,*.settings.index.uuid",
        )
        answering = [
            Pointer(version, str(about["settings"]["index"]["uuid"]))
            for index, about in found.items()
            if (version := names.version_of(index, self._alias)) is not None
            and self._alias in about.get("aliases", {})
            and names.is_ours(about.get("mappings", {}).get("_meta", {}))
        ]
        return max(answering, key=lambda pointer: pointer.version, default=None)

    @contextmanager
    def holding(self, version: int) -> Iterator[None]:
        """Keep a version from being pruned while it is read; a search-only key cannot do this."""
        with ExitStack() as held:
            try:
                self._patiently(lambda: self._create(self._readers, readers.BODY))
                held.enter_context(readers.registered(self._cluster, self._readers, self.index_of(version)))
            except EngineRefused as error:
                if not is_denied(error.__cause__):
                    raise
                log.warning("version not held", index=self.name, version=version, reason=error.what)
            yield

    def versions(self) -> list[int]:
        """List the published versions in order."""
        return sorted(version for version, meta in self._metas().items() if names.is_published(meta, version))

    def next_version(self) -> int:
        """Return the number after the highest published one that no foreign index has."""
        there = self._run(self._similarly_named("all"))
        published = (version for version, meta in there.items() if names.is_published(meta, version))
        answering = self.pointer()
        version = max([0, answering.version if answering else 0, *published]) + 1
        while version in there and not names.is_ours(there[version]):
            version += 1
        return version

    def all_names(self) -> list[str]:
        """Return the names of the indexes in the cluster."""
        return _names_in(self._cluster)

    def manifest_of(self, version: int) -> Manifest:
        """Read the manifest of any version."""
        index = self.index_of(version)
        meta = self._metas().get(version)
        if meta is None:
            raise IndexDamaged(
                f"the index {index} of {self.name!r} in the cluster is closed or hidden",
                remedy=(f"open it (POST /{index}/_open)", Remedy.REBUILD),
                index=self.name,
            )
        return Manifest.from_record(meta.get("manifest"), self.name, version)

    def address(self, manifest: Manifest) -> Address:
        """Return the index of a version and its shards; FileNotFoundError if it was pruned."""
        shards = int(self._settings_of(manifest.version)["number_of_shards"])
        return Address(self.index_of(manifest.version), shards)

    def index_of(self, version: int) -> str:
        """Return the name of a version's index in the cluster."""
        return names.index_of(self._settings.prefix, self.name, version)

    def _settings_of(self, version: int) -> dict[str, Any]:
        """Return the settings of a version's index; FileNotFoundError if it was pruned."""
        index = self.index_of(version)
        try:
            found = self._run(self._client.indices.get_settings(index=index))
        except EngineRefused as error:
            if isinstance(error.__cause__, NotFoundError):
                raise FileNotFoundError(ENOENT, "no such index", index) from error
            raise
        settings: dict[str, Any] = found[index]["settings"]["index"]
        return settings

    def _metas(self, which: str = "open") -> dict[int, dict[str, Any]]:
        """Return the `_meta` of each version and of the unfinished build; of open indexes, or of all."""
        return _ours(self._run(self._similarly_named(which)))

    async def _similarly_named(self, which: str) -> dict[int, dict[str, Any]]:
        """Return the `_meta` of each index named as a version, including foreign ones."""
        pattern = names.every_index(self._settings.prefix, self.name)
        # An index that is pruned while the cluster resolves the pattern is skipped.
        found = await self._client.indices.get_mapping(
            index=pattern, allow_no_indices=True, ignore_unavailable=True, expand_wildcards=which
        )
        return {
            number: version["mappings"].get("_meta", {})
            for index, version in found.items()  # the pattern also matches names with capitals
            if (number := names.version_of(index, self._alias)) is not None
        }

    def stored_passages(self, manifest: Manifest) -> Iterator[StoredPassage]:
        """Yield every passage of a version in corpus order; VersionGone if it was pruned."""
        index = self.index_of(manifest.version)
        try:
            with self.holding(manifest.version):
                yield from passages_of_version(self._cluster, index, manifest.passages)
        except EngineRefused as error:
            if not isinstance(error.__cause__, NotFoundError):
                raise
            raise VersionGone(
                f"index {self.name!r}, version {manifest.version} was pruned: {index} does not exist",
                remedy="read the current version",
                index=self.name,
            ) from error

    def companion_path(self, manifest: Manifest, name: str) -> Path:
        """Return the local copy of a companion file, downloaded if necessary."""
        note = self._note_of(manifest.version, name)
        path = copies.copy_path(self.local.version_path(manifest.version), name, note)
        if not copies.is_whole(path, note):
            try:
                with copies.map_copy_errors(self.name, COMPANIONS[name], path.parent):
                    self._fetch(manifest, note, name, path)
                copies.remove_old_copies(self.local, path, self._metas("all"))
            except (IndexDamaged, IndexNotWritten):
                if self.current() != manifest.version:  # pruned in the meantime
                    index = self.index_of(manifest.version)
                    raise FileNotFoundError(ENOENT, f"no such {COMPANIONS[name]}", index) from None
                raise
        return path

    def _note_of(self, version: int, name: str) -> companions.CompanionNote:
        note = companions.notes_of(self._metas().get(version, {})).get(name)
        if not note:
            raise FileNotFoundError(ENOENT, f"no such {COMPANIONS[name]}", self.index_of(version))
        return note

    def _fetch(self, manifest: Manifest, note: companions.CompanionNote, name: str, path: Path) -> None:
        index, written = self.index_of(manifest.version), manifest.files.get(name)
        size = written.bytes if written else 0
        kept = companions.Companion(index, name)
        self._run(companions.download(self._client, self._companions, kept, note, size, path))

    def vectors(self, manifest: Manifest) -> None:
        """Return None, as the cluster stores the vectors, and clones contain them."""

    def read_dictionary(self, version: int) -> UserDictionary:
        """Read the rules used by the cluster itself; InvalidCall for invalid rules."""
        rules = self._settings_of(version)["analysis"]["tokenizer"]["nori"].get("user_dictionary_rules", [])
        lines = [rules] if isinstance(rules, str) else rules
        origin = f"the settings of {self.index_of(version)}"
        return parse_user_dictionary("\n".join(lines).encode(), origin)

    def check_files(self, manifest: Manifest, *, every_byte: bool = False) -> None:
        """Do nothing: the servers check their files, and companions are checked when downloaded."""

    def verify_files(self, version: int, progress: Progress = no_progress) -> list[str]:
        """Compare the number of passages and the checksums of companions with the manifest."""
        del progress  # fast enough without
        changed = []
        try:
            manifest = self.manifest_of(version)
        except (IndexDamaged, IndexMismatch) as error:
            return [error.what]
        found = count(self._cluster, self.index_of(version), just_written=False)
        if found != manifest.passages:
            changed.append(f"{self.index_of(version)}: {found:,} passages instead of {manifest.passages:,}")
        for name, written in manifest.files.items():
            try:
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / name
                    self._fetch(manifest, self._note_of(version, name), name, path)
                    if sum_file(path) != written:
                        changed.append(f"{name} has a wrong checksum")
            except FileNotFoundError:
                changed.append(f"{name} is missing")
            except IndexDamaged as error:
                changed.append(f"{name}: {error.what}")
        return changed

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the index for writing, on this machine and in the cluster; IndexBusy immediately if locked."""
        with self.local.lock():
            leases = names.leases(self._settings.prefix)
            for index, body in (
                (leases, LEASES_BODY),
                (self._readers, readers.BODY),
                (self._companions, companions.BODY),
            ):
                self._run(self._create(index, body))
            self._refuse_foreign_alias()
            with held_lease(self._cluster, leases, self._alias, self.name, self.local.path) as lease:
                self._lease = lease
                try:
                    yield
                finally:
                    self._lease = None

    def recover(self) -> None:
        """Finish the publishing of a killed process."""
        if (current := self.current()) is not None:
            self._mark_published(current)
        self.local.finish_clearing(self.current, self.versions, self._prune)
        for version, meta in self._metas().items():
            if meta.get("superseded"):
                self._prune(version)

    def _mark_published(self, version: int) -> None:
        """Remove the mark of a version in publication after it has become current."""
        meta = self._metas().get(version, {})
        if meta.pop(names.PUBLISHING, None):
            meta.pop("built_by", None)
            index = self.index_of(version)
            self._patiently(lambda: self._client.indices.put_mapping(index=index, meta=meta))

    def _refuse_foreign_alias(self) -> None:
        """Raise IndexNotWritten if the alias names a foreign index, or is an index itself."""
        client = self._client.options(ignore_status=404)
        aliased = self._run(client.indices.get_alias(name=self._alias))
        named = [index for index, about in aliased.items() if isinstance(about, dict) and "aliases" in about]
        versions = self._metas("all")
        foreign = [index for index in named if names.version_of(index, self._alias) not in versions]
        if not named and self._run(self._client.indices.exists(index=self._alias)):
            foreign = [self._alias]
        if foreign:
            raise IndexNotWritten(
                f"index {self.name!r} cannot be written: its alias {self._alias} in the cluster is taken by "
                f"{foreign[0]}, which SHRAG did not create",
                remedy=("remove that index", "set another SHRAG_ELASTICSEARCH__PREFIX"),
                index=self.name,
            )

    async def _create(self, index: str, body: dict[str, Any]) -> None:
        if not await self._client.indices.exists(index=index):
            try:
                await create_placed(self._client, index, body)
            except BadRequestError as error:
                if "resource_already_exists_exception" not in str(error):
                    raise

    def can_resume(self) -> bool:
        """Check whether the unfinished build of this machine exists and will be available soon."""
        version = self.next_version()
        index, built_by = self.index_of(version), self._metas().get(version, {}).get("built_by")
        return built_by == holder_at(self.local.path) and self._run(
            is_placed(self._client, index, self._settings.patience_s)
        )

    def start_building(
        self,
        base: Manifest | None,
        analyzer: str,
        decompound: Decompound,
        dictionary: UserDictionary | None = None,
    ) -> None:
        """Start a new build: from the passages of a version, or empty with an analysis."""
        self._require_lease()
        self.local.start()
        version, built_by = self.next_version(), {"built_by": holder_at(self.local.path)}
        index, shards = self.index_of(version), self._settings.shards
        if version in self._metas():
            self._delete_index(index)
        if base:
            self._run(start_from(self._client, self.index_of(base.version), index, built_by))
        else:
            self._run(
                create_for_loading(self._client, index, analyzer, decompound, shards, built_by, dictionary)
            )

    def writer(
        self, unit: Unit, base: Manifest | None, refuse: Callable[[DeadLetter], None] = ignore_refusal
    ) -> Writer:
        """Open the build for writing."""
        return ElasticsearchWriter(
            self._cluster,
            self.index_of(self.next_version()),
            base=self.index_of(base.version) if base else None,
            unit=unit,
            building=self.local.building,
            lexicon=BaseForward(self.companion_path(base, LEXICON)) if base else None,
            refuse=refuse,
            still_held=self._still_held,
        )

    def _still_held(self) -> None:
        if self._lease:
            self._lease.check_if_old(self.name)

    def _require_lease(self) -> None:
        if self._lease:
            self._lease.check(self.name)

    def publish(self, manifest: Manifest, *, keep: int) -> Manifest:
        """Publish the finished build as the current version, and prune all but the last `keep` versions."""
        index = self.index_of(manifest.version)
        written = [path for name in COMPANIONS if (path := self.local.building / name).exists()]
        published = replace(manifest, files={path.name: sum_file(path) for path in written})
        answering = self._patiently(self._current_pointer)
        before = answering.version if answering else 0
        self._require_lease()
        self.local.move_dead_letters(manifest.version)
        notes = {companions.NOTE_KEYS[path.name]: self._upload(index, path) for path in written}
        self._require_lease()  # the upload may take long
        built_by = holder_at(self.local.path)  # kept until it is published, so that a killed build can resume
        meta = {
            "manifest": published.as_record(),
            **notes,
            names.PUBLISHING: True,
            "built_by": built_by,
        }
        settings = published_settings(self._settings.replicas)
        self._patiently(lambda: self._client.indices.put_settings(index=index, settings=settings))
        self._patiently(lambda: self._client.indices.put_mapping(index=index, meta=meta))
        self.local.plan_clearing(manifest.version, before, keep)
        self.point_to(manifest.version)
        self._mark_published(manifest.version)
        shutil.rmtree(self.local.building, ignore_errors=True)
        self.local.finish_clearing(self.current, self.versions, self._prune)
        return published

    def _upload(self, index: str, path: Path) -> companions.CompanionNote:
        kept = companions.Companion(index, path.name)
        return self._patiently(lambda: companions.upload(self._client, self._companions, kept, path))

    def point_to(self, version: int) -> None:
        """Make a version the current one."""
        self._move_alias({"add": {"index": self.index_of(version), "alias": self._alias}})

    def _move_alias(self, *added: dict[str, Any]) -> None:
        there = self._patiently(lambda: self._similarly_named("all"))
        ours = [self.index_of(version) for version in _ours(there)]
        remove = {"remove": {"indices": ours, "alias": self._alias, "must_exist": False}}
        self._patiently(lambda: self._client.indices.update_aliases(actions=[remove, *added]))

    def _prune(self, version: int) -> None:
        """Remove a version; if a reader has it open, mark it for removal."""
        index, meta = self.index_of(version), self._metas().get(version, {})
        if self._run(readers.is_read(self._client, self._readers, index)):
            self._run(self._client.indices.put_mapping(index=index, meta=meta | {"superseded": True}))
        else:
            self._remove(version)

    def _remove(self, version: int) -> None:
        index, notes = self.index_of(version), companions.notes_of(self._metas().get(version, {}))
        for name, note in notes.items():  # first, as only the index knows the number of pieces
            kept = companions.Companion(index, name)
            self._run(companions.forget(self._client, self._companions, kept, note))
        self._delete_index(index)
        copies.remove_copies(self.local.version_path(version))
        self.local.dead_letter_path(version).unlink(missing_ok=True)

    def _delete_index(self, index: str) -> None:
        self._run(self._client.options(ignore_status=404).indices.delete(index=index))

    def discard_building(self) -> None:
        """Remove the unfinished build, and the folder if the index was never published."""
        self._require_lease()
        version = self.next_version()
        if version in self._metas():
            self._delete_index(self.index_of(version))
        nothing_published = self.current() is None and not self.versions()
        self.local.discard(with_index=nothing_published and not self._shares_folder())

    def delete(self) -> None:
        """Remove the index with all of its versions, or an unfinished first build."""
        if not self.local.is_begun() and not self._metas():
            self.require_current()
        self.local.refuse_strays()
        with self.held(), map_write_errors(self.name):
            answering = self.pointer()
            current = answering.version if answering else None
            for version in self._metas():
                if version != current:
                    self._remove(version)
            if current is not None:  # last, after which no reader can open it
                self._move_alias()
                self._remove(current)
            if not self._shares_folder():
                self.local.remove()  # before lock and lease are released, as another process may build then

    def _shares_folder(self) -> bool:
        """Check whether the folder on this machine also belongs to an embedded index of the same name."""
        return any(self.local.versions.glob(f"*/{MANIFEST}"))

    def _run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._cluster.run(coroutine)

    def _patiently(self, ask: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        return self._cluster.run_patiently(ask)


def _ours(metas: dict[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
    return {number: meta for number, meta in metas.items() if names.is_ours(meta)}


def open_store(settings: IndexerSettings, name: str) -> IndexStore:
    """Connect to the store of an index; InvalidCall for an invalid name."""
    return ElasticsearchStore(settings, name)


def index_names(settings: IndexerSettings) -> list[str]:
    """Return the names of the published indexes in the cluster, including damaged ones, in order."""
    with Cluster(settings.elasticsearch) as cluster:
        return _names_in(cluster)


def _names_in(cluster: Cluster) -> list[str]:
    prefix = cluster.settings.prefix
    pattern = names.every_index(prefix)
    found = cluster.run(cluster.client.indices.get(index=pattern, features="aliases,mappings"))
    called = {
        names.name_in(prefix, index, about["mappings"].get("_meta", {}), about["aliases"])
        for index, about in found.items()
    }
    return sorted(name for name in called if name)
