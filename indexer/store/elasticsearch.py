"""Versions as indexes of a cluster, and an alias that says which one answers.

The cluster decides what there is and what answers. Below HOME/NAME on the machine that indexes lie the plan
of a build and the dead letters; on every machine that searches, copies of the versions' glossaries.
"""

import shutil
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from errno import ENOENT
from pathlib import Path
from typing import Any, TypeVar

from elasticsearch import BadRequestError, NotFoundError

from indexer.analysis import Decompound, UserDictionary
from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.cluster import glossaries, names
from indexer.cluster.connection import Cluster
from indexer.cluster.lease import Lease, held_lease, holder_at
from indexer.cluster.loading import create_for_loading, create_placed, is_placed, start_from
from indexer.cluster.mapping import LEASES_BODY, published_settings
from indexer.cluster.reading import count, passages_of_index
from indexer.durable import describing_write_errors
from indexer.errors import EngineRefused, IndexDamaged, IndexNotWritten, Remedy
from indexer.manifest import Manifest
from indexer.papers import Unit
from indexer.readers import DeadLetter
from indexer.schema import StoredPassage
from indexer.settings import EngineName, IndexerSettings
from indexer.store import CAPABILITIES, Address, IndexStore, ignore_refusal
from indexer.store.build_folder import GLOSSARY, NAME, BuildFolder
from indexer.sums import sum_file
from indexer.writers import Writer
from indexer.writers.elasticsearch import ElasticsearchWriter

Result = TypeVar("Result")


class ElasticsearchStore(IndexStore):
    """An index in a cluster, see `indexer.store.IndexStore`; closing it closes the connection."""

    engine: EngineName = "elasticsearch"
    capabilities = CAPABILITIES["elasticsearch"]

    def __init__(self, settings: IndexerSettings, name: str) -> None:
        """Connect; nothing is asked yet. InvalidCall for a name that is no plain word."""
        self.name = name
        self.local = BuildFolder.of(settings.home, name)
        self._settings = settings.elasticsearch
        self._cluster = Cluster(settings.elasticsearch)
        self._client = self._cluster.client
        self._lease: Lease | None = None
        self.place = (
            f"with the prefix {self._settings.prefix!r} at {self._settings.url}, or none that this user or "
            "key may see"
        )
        self._alias = names.alias_of(self._settings.prefix, name)
        self._glossaries = names.glossaries(self._settings.prefix)

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self._cluster.close()

    def current(self) -> int | None:
        """Return the number of the version that answers, None before the first."""
        return self._answering(self._run(self._aliased()))

    async def _aliased(self) -> Any:
        return await self._client.options(ignore_status=404).indices.get_alias(name=self._alias)

    def _answering(self, found: Any) -> int | None:
        indexes = [index for index in found if index.startswith(f"{self._alias}@")]
        return names.version_of(indexes[0]) if indexes else None

    def versions(self) -> list[int]:
        """List the published versions in order."""
        return sorted(names.version_of(index) for index, meta in self._metas().items() if "manifest" in meta)

    def next_version(self) -> int:
        """Return the number after the highest ever published here."""
        return max([0, self.current() or 0, *self.versions()]) + 1

    def manifest_of(self, version: int) -> Manifest:
        """Read the manifest of any version."""
        index = self.index_of(version)
        meta = self._metas().get(index)
        if meta is None:
            raise IndexDamaged(
                f"index {self.name!r} should answer from {index}, which is closed or hidden",
                remedy=(f"open it (POST /{index}/_open)", Remedy.REBUILD),
                index=self.name,
            )
        return Manifest.from_record(meta.get("manifest"), self.name)

    def address(self, manifest: Manifest) -> Address:
        """Return the index of a version and its shards; FileNotFoundError where it was cleared away."""
        shards = int(self._settings_of(manifest.version)["number_of_shards"])
        return Address(self.index_of(manifest.version), shards)

    def index_of(self, version: int) -> str:
        """Name the index in the cluster that holds a version."""
        return names.index_of(self._settings.prefix, self.name, version)

    def _settings_of(self, version: int) -> dict[str, Any]:
        """Return the settings of a version's index; FileNotFoundError where it was cleared away."""
        index = self.index_of(version)
        try:
            found = self._run(self._client.indices.get_settings(index=index))
        except EngineRefused as error:
            if isinstance(error.__cause__, NotFoundError):
                raise FileNotFoundError(ENOENT, "no such index", index) from error
            raise
        settings: dict[str, Any] = found[index]["settings"]["index"]
        return settings

    def _metas(self) -> dict[str, dict[str, Any]]:
        """Return what each version, and what is being built, says of itself."""
        pattern = names.every_index(self._settings.prefix, self.name)
        # One that is cleared away between the cluster's look at the pattern and at the index is left out.
        request = self._client.indices.get_mapping(
            index=pattern, allow_no_indices=True, ignore_unavailable=True
        )
        found = self._run(request)
        return {
            index: version["mappings"].get("_meta", {})
            for index, version in found.items()
            if names.belongs_to(index, self._alias)  # the pattern takes in those of a name with capitals
        }

    def stored_passages(self, manifest: Manifest) -> Iterator[StoredPassage]:
        """Yield every passage of a version in corpus order."""
        return passages_of_index(self._cluster, self.index_of(manifest.version))

    def glossary_path(self, manifest: Manifest) -> Path:
        """Return a copy of a version's glossary, fetched where this machine has none."""
        note = self._glossary_note(manifest.version)
        path = self.local.version_path(manifest.version) / f"{note['sha256'][:16]}-{GLOSSARY}"
        if not path.exists():
            try:
                with _describing_copy_errors(self.name, path.parent):
                    self._fetch_glossary(manifest.version, note, path)
            except (IndexDamaged, IndexNotWritten):
                if self.current() != manifest.version:  # cleared away since
                    index = self.index_of(manifest.version)
                    raise FileNotFoundError(ENOENT, "no such glossary", index) from None
                raise
        return path

    def _glossary_note(self, version: int) -> glossaries.GlossaryNote:
        index = self.index_of(version)
        note: glossaries.GlossaryNote | None = self._metas().get(index, {}).get("glossary")
        if not note:
            raise FileNotFoundError(ENOENT, "no such glossary", index)
        return note

    def _fetch_glossary(self, version: int, note: glossaries.GlossaryNote, path: Path) -> None:
        index = self.index_of(version)
        self._run(glossaries.download(self._client, self._glossaries, index, note, path))

    def vectors(self, manifest: Manifest) -> None:
        """Return None: the cluster holds the vectors, and a version that starts from another has its."""

    def read_dictionary(self, version: int) -> UserDictionary:
        """Read the rules that the cluster itself goes by; InvalidCall where they are wrong."""
        rules = self._settings_of(version)["analysis"]["tokenizer"]["nori"].get("user_dictionary_rules", [])
        lines = [rules] if isinstance(rules, str) else rules
        origin = f"the settings of {self.index_of(version)}"
        return parse_user_dictionary("\n".join(lines).encode(), origin)

    def check_files(self, manifest: Manifest) -> None:
        """Nothing: the servers check their files, and a glossary's sum is compared when it is fetched."""

    def verify_files(self, version: int) -> list[str]:
        """Compare the number of a version's passages and its glossary's sum with its manifest."""
        changed = []
        manifest = self.manifest_of(version)
        found = count(self._cluster, self.index_of(version), just_written=False)
        if found != manifest.passages:
            changed.append(
                f"{self.index_of(version)}: {found:,} passages, {manifest.passages:,} were written"
            )
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / GLOSSARY
                self._fetch_glossary(version, self._glossary_note(version), path)
                if sum_file(path) != manifest.files.get(GLOSSARY):
                    changed.append(f"{GLOSSARY}: other bytes than were written")
        except FileNotFoundError:
            changed.append(f"{GLOSSARY}: missing")
        except IndexDamaged as error:
            changed.append(f"{GLOSSARY}: {error.what}")
        return changed

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the index for writing, on this machine and against all others; IndexBusy at once otherwise."""
        with self.local.lock():
            leases = names.leases(self._settings.prefix)
            for index, body in ((leases, LEASES_BODY), (self._glossaries, glossaries.BODY)):
                self._run(self._create(index, body))
            with held_lease(self._cluster, leases, self._alias, self.name, self.local.path) as lease:
                self._lease = lease
                try:
                    self.local.finish_clearing(self.current, self.versions, self._clear_away)
                    yield
                finally:
                    self._lease = None

    async def _create(self, index: str, body: dict[str, Any]) -> None:
        if not await self._client.indices.exists(index=index):
            try:
                await create_placed(self._client, index, body)
            except BadRequestError as error:
                if "resource_already_exists_exception" not in str(error):
                    raise

    def can_resume(self) -> bool:
        """Tell whether the unfinished build is there, of this machine, and soon on a node that runs."""
        index = self.index_of(self.next_version())
        built_by = self._metas().get(index, {}).get("built_by")
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
        """Begin a build anew: from the passages of a version, or from empty with an analysis."""
        self._require_lease()
        self.local.start()
        index = self.index_of(self.next_version())
        self._delete_index(index)
        if base:
            self._run(start_from(self._client, self.index_of(base.version), index))
        else:
            shards = self._settings.shards
            self._run(create_for_loading(self._client, index, analyzer, decompound, shards, dictionary))
        built_by = {"built_by": holder_at(self.local.path)}
        self._run(self._client.indices.put_mapping(index=index, meta=built_by))

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
        """Make the finished build a version that answers, and clear away all but the last `keep`."""
        index, glossary = self.index_of(manifest.version), self.local.building / GLOSSARY
        published = replace(manifest, files={GLOSSARY: sum_file(glossary)})
        before = self._answering(self._patiently(self._aliased)) or 0
        self._require_lease()
        self.local.move_dead_letters(manifest.version)
        note = self._patiently(lambda: glossaries.upload(self._client, self._glossaries, index, glossary))
        self._require_lease()  # an upload may take long
        meta = {"manifest": published.as_record(), "glossary": note}
        settings = published_settings(self._settings.replicas)
        self._patiently(lambda: self._client.indices.put_settings(index=index, settings=settings))
        self._patiently(lambda: self._client.indices.put_mapping(index=index, meta=meta))
        self.local.plan_clearing(manifest.version, before, keep)
        self.point_to(manifest.version)
        shutil.rmtree(self.local.building, ignore_errors=True)
        self.local.finish_clearing(self.current, self.versions, self._clear_away)
        return published

    def point_to(self, version: int) -> None:
        """Let a version answer from now on."""
        self._move_alias({"add": {"index": self.index_of(version), "alias": self._alias}})

    def _move_alias(self, *added: dict[str, Any]) -> None:
        others = names.every_index(self._settings.prefix, self.name)
        remove = {"remove": {"index": others, "alias": self._alias, "must_exist": False}}
        self._patiently(lambda: self._client.indices.update_aliases(actions=[remove, *added]))

    def _clear_away(self, version: int) -> None:
        index = self.index_of(version)
        note = self._metas().get(index, {}).get("glossary")
        if note:  # first: only the index knows of how many pieces
            self._run(glossaries.forget(self._client, self._glossaries, index, note))
        self._delete_index(index)
        shutil.rmtree(self.local.version_path(version), ignore_errors=True)
        self.local.dead_letter_path(version).unlink(missing_ok=True)

    def _delete_index(self, index: str) -> None:
        self._run(self._client.options(ignore_status=404).indices.delete(index=index))

    def discard_building(self) -> None:
        """Remove the unfinished build, and the folder with it where nothing was ever published."""
        self._require_lease()
        self._delete_index(self.index_of(self.next_version()))
        self.local.discard(with_index=self.current() is None and not self.versions())

    def delete(self) -> None:
        """Remove the index with all of its versions, or what was built of it before the first."""
        if not self.local.is_unfinished() and not self._metas():
            self.require_current()
        with self.writing(), describing_write_errors(self.name):
            current = self.current()
            for index in self._metas():
                if names.version_of(index) != current:
                    self._clear_away(names.version_of(index))
            if current is not None:  # last, and nobody begins to read it
                self._move_alias()
                self._clear_away(current)
            self.local.remove()  # before lock and lease are given back: then another build may begin there

    def _run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._cluster.run(coroutine)

    def _patiently(self, ask: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        return self._cluster.run_patiently(ask)


def open_store(settings: IndexerSettings, name: str) -> IndexStore:
    """Connect to the store of an index; InvalidCall for a name that is no plain word."""
    return ElasticsearchStore(settings, name)


def index_names(settings: IndexerSettings) -> list[str]:
    """Name the indexes that have a published version in the cluster, in order."""
    prefix = settings.elasticsearch.prefix
    pattern = names.every_index(prefix)
    with Cluster(settings.elasticsearch) as cluster:
        found = cluster.run(cluster.client.indices.get(index=pattern, features="aliases,mappings"))
    published = (
        (index, version["aliases"], _name_of(version, prefix))
        for index, version in found.items()
        if "manifest" in version["mappings"].get("_meta", {})
    )
    return sorted(
        name
        for index, aliases, name in published
        if NAME.fullmatch(name)
        and names.alias_of(prefix, name) in aliases
        and names.belongs_to(index, names.alias_of(prefix, name))  # not of a longer prefix
    )


def _name_of(version: dict[str, Any], prefix: str) -> str:
    """Return what a version's manifest calls the index, or where it is broken, what its alias does."""
    manifest = version["mappings"]["_meta"]["manifest"]
    if isinstance(manifest, dict) and isinstance(manifest.get("name"), str):
        return str(manifest["name"])
    return next(iter(version["aliases"]), "").removeprefix(f"{prefix}-")


@contextmanager
def _describing_copy_errors(name: str, folder: Path) -> Iterator[None]:
    """Turn what the system refuses while a glossary is fetched into IndexNotWritten with the next step."""
    try:
        yield
    except OSError as error:
        raise IndexNotWritten(
            f"the glossary of index {name!r} cannot be copied to {folder} ({error.strerror or error}), and "
            "searching needs a copy",
            remedy=("free the disk", "set SHRAG_HOME to a folder that can be written"),
            index=name,
        ) from error
