"""The versions of an index in a cluster: an index each, and an alias that says which one answers.

The cluster decides what there is and what answers. Below HOME/NAME on the machine that indexes lie the plan
of a build and the dead letters; on every machine that searches, copies of the versions' glossaries.
"""

import json
import shutil
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from errno import ENOENT
from pathlib import Path
from typing import Any, Self, TypeVar

from elasticsearch import BadRequestError, NotFoundError

from indexer.analysis import Decompound, UserDictionary
from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.cluster import glossaries, names
from indexer.cluster.connection import Cluster
from indexer.cluster.lease import Lease, held_lease, holder_at
from indexer.cluster.loading import create_for_loading, create_placed, is_placed, start_from
from indexer.cluster.mapping import LEASES_BODY, published_settings
from indexer.cluster.reading import passages_of_index
from indexer.durable import not_written
from indexer.errors import EngineRefused, IndexDamaged, IndexNotWritten
from indexer.manifest import Manifest
from indexer.papers import Unit
from indexer.readers import DeadLetter
from indexer.schema import StoredPassage
from indexer.settings import EngineName, IndexerSettings
from indexer.versions import GLOSSARY, NAME, PLAN, IndexFolder
from indexer.writers.elasticsearch import ElasticsearchWriter

Result = TypeVar("Result")


class ClusterIndex(IndexFolder):
    """An index in a cluster; a context manager that closes the connection."""

    engine: EngineName = "elasticsearch"

    def __init__(self, settings: IndexerSettings, name: str) -> None:
        """Connect; nothing is asked yet. InvalidCall for a name that is no plain word."""
        super().__init__(settings.home, name)
        self._settings = settings.elasticsearch
        self._cluster = Cluster(settings.elasticsearch)
        self._client = self._cluster.client
        self._lease: Lease | None = None
        prefix = self._settings.prefix
        self._alias = names.alias_of(prefix, name)
        self._glossaries = names.glossaries(prefix)

    def __enter__(self) -> Self:
        """Return the index."""
        return self

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

    def _looked_for(self) -> str:
        return (
            f"with the prefix {self._settings.prefix!r} at {self._settings.url}, or none that this user or "
            "key may see"
        )

    def _numbered(self) -> list[int]:
        return sorted(names.version_of(index) for index, meta in self._metas().items() if "manifest" in meta)

    def versions(self) -> list[int]:
        """List the published versions in order."""
        return self._numbered()

    def manifest(self) -> Manifest:
        """Read the manifest of the version that answers, or of a newer one, if it is cleared away."""
        while True:
            version = self.require_current()
            index = self.index_of(version)
            meta = self._metas().get(index)
            if meta is not None:
                return self._manifest_of(meta)
            if self.current() == version:
                raise IndexDamaged(
                    f"index {self.name!r} should answer from {index}, which is closed or hidden; open it "
                    f"(POST /{index}/_open), or build it again: shrag index PATH --name {self.name} --rebuild"
                )

    def _manifest_of(self, meta: dict[str, Any]) -> Manifest:
        try:
            return Manifest(**meta["manifest"])
        except (KeyError, TypeError) as error:
            raise IndexDamaged(
                f"what index {self.name!r} says of itself cannot be read ({error}); "
                f"build it again: shrag index PATH --name {self.name} --rebuild"
            ) from error

    def index_of(self, version: int) -> str:
        """Name the index in the cluster that holds a version."""
        return names.index_of(self._settings.prefix, self.name, version)

    def shards(self, version: int) -> int:
        """Return into how many shards a version is divided; FileNotFoundError where it is gone."""
        return int(self._settings_of(version)["number_of_shards"])

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
        found = self._run(self._client.indices.get_mapping(index=pattern, allow_no_indices=True))
        return {
            index: one["mappings"].get("_meta", {})
            for index, one in found.items()
            if names.belongs_to(index, self._alias)  # the pattern takes in those of a name with capitals
        }

    def stored(self, manifest: Manifest) -> Iterator[StoredPassage]:
        """Yield every passage of a version, which never changes, in corpus order."""
        return passages_of_index(self._cluster, self.index_of(manifest.version))

    def glossary_path(self, manifest: Manifest) -> Path:
        """Return a copy of a version's glossary, fetched where this machine has none."""
        meta = self._metas().get(self.index_of(manifest.version), {})
        note = meta.get("glossary")
        if not note:
            raise FileNotFoundError(ENOENT, "no such glossary", self.index_of(manifest.version))
        path = self.version_path(manifest.version) / f"{note['sha256'][:16]}-{GLOSSARY}"
        if not path.exists():
            key = self.index_of(manifest.version)
            try:
                with _not_copied(self.name, path.parent):
                    self._run(glossaries.download(self._client, self._glossaries, key, note, path))
            except (IndexDamaged, IndexNotWritten):
                if self.current() != manifest.version:  # cleared away since
                    raise FileNotFoundError(ENOENT, "no such glossary", key) from None
                raise
        return path

    def vectors(self, manifest: Manifest) -> None:
        """Return None: the cluster holds the vectors, and a version that starts from another has its."""

    def _stored_dictionary(self, manifest: Manifest) -> UserDictionary:
        """Read the rules that the cluster itself goes by."""
        tokenizer = self._settings_of(manifest.version)["analysis"]["tokenizer"]["nori"]
        rules = tokenizer.get("user_dictionary_rules", [])
        rules = [rules] if isinstance(rules, str) else rules
        return parse_user_dictionary(
            "\n".join(rules).encode(), f"the settings of {self.index_of(manifest.version)}"
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the index for writing, on this machine and against all others; IndexBusy at once otherwise."""
        with super().writing():
            leases = names.leases(self._settings.prefix)
            for index, body in ((leases, LEASES_BODY), (self._glossaries, glossaries.BODY)):
                self._run(self._create(index, body))
            with held_lease(self._cluster, leases, self._alias, self.name, self.path) as lease:
                self._lease = lease
                try:
                    self._finish_clearing()
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

    def _put_right(self) -> None:
        """Nothing yet: what answers is moved in one step, and clearing away needs the lease."""

    def can_go_on(self) -> bool:
        """Tell whether the broken-off build is there, this place's, and soon on a node that runs."""
        index = self.index_of(self.next_version())
        built_by = self._metas().get(index, {}).get("built_by")
        return built_by == holder_at(self.path) and self._run(
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
        shutil.rmtree(self.building, ignore_errors=True)
        self.building.mkdir()
        index = self.index_of(self.next_version())
        self._run(self._client.options(ignore_status=404).indices.delete(index=index))
        if base:
            self._run(start_from(self._client, self.index_of(base.version), index))
        else:
            shards = self._settings.shards
            self._run(create_for_loading(self._client, index, analyzer, decompound, shards, dictionary))
        self._run(self._client.indices.put_mapping(index=index, meta={"built_by": holder_at(self.path)}))

    def writer(
        self, unit: Unit, refuse: Callable[[DeadLetter], None] = lambda _: None
    ) -> ElasticsearchWriter:
        """Open the build for writing; `refuse` is told of passages that the cluster will not take."""
        base = json.loads((self.building / PLAN).read_text(encoding="utf-8"))["base"]
        return ElasticsearchWriter(
            self._cluster,
            self.index_of(self.next_version()),
            base=self.index_of(base) if base else None,
            unit=unit,
            building=self.building,
            refuse=refuse,
            still_held=self._still_held,
        )

    def _still_held(self) -> None:
        if self._lease:
            self._lease.check_if_old(self.name)

    def _require_lease(self) -> None:
        if self._lease:
            self._lease.check(self.name)

    def publish(self, version: int, *, keep: int) -> None:
        """Make the finished build a version, let it answer, and clear away all but the last `keep`."""
        manifest, index = Manifest.read(self.building), self.index_of(version)
        before = self._answering(self._patiently(self._aliased)) or 0
        self._require_lease()
        self._move_dead_letters(version)
        glossary = self.building / GLOSSARY
        note = self._patiently(lambda: glossaries.upload(self._client, self._glossaries, index, glossary))
        self._require_lease()  # an upload may take long
        meta = {"manifest": asdict(manifest), "glossary": note}
        settings = published_settings(self._settings.replicas)
        self._patiently(lambda: self._client.indices.put_settings(index=index, settings=settings))
        self._patiently(lambda: self._client.indices.put_mapping(index=index, meta=meta))
        self._plan_clearing(version, before, keep)
        self.point_to(version)
        shutil.rmtree(self.building, ignore_errors=True)
        self._finish_clearing()

    def point_to(self, version: int) -> None:
        """Let `version` answer from now on."""
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
        self._run(self._client.options(ignore_status=404).indices.delete(index=index))
        shutil.rmtree(self.version_path(version), ignore_errors=True)
        self.dead_letter_path(version).unlink(missing_ok=True)

    def discard_building(self) -> None:
        """Remove the unfinished build, and the folder with it where nothing was ever published."""
        self._require_lease()
        index = self.index_of(self.next_version())
        self._run(self._client.options(ignore_status=404).indices.delete(index=index))
        super().discard_building()

    def delete(self) -> None:
        """Remove the index with all of its versions, or what was built of it before the first."""
        if not self.is_broken_off() and not self._metas():
            self.require_current()
        with self.writing(), not_written(self.name):
            current = self.current()
            for index in self._metas():
                if names.version_of(index) != current:
                    self._clear_away(names.version_of(index))
            if current is not None:  # last, and nobody begins to read it
                self._move_alias()
                self._clear_away(current)
            shutil.rmtree(self.versions_path, ignore_errors=True)
            shutil.rmtree(self.building, ignore_errors=True)
        shutil.rmtree(self.path, ignore_errors=True)

    def _run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._cluster.run(coroutine)

    def _patiently(self, ask: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        return self._cluster.run_patiently(ask)


def list_cluster_indexes(settings: IndexerSettings) -> list[str]:
    """Name the indexes that have a published version in the cluster, in order."""
    prefix = settings.elasticsearch.prefix
    pattern = names.every_index(prefix)
    with Cluster(settings.elasticsearch) as cluster:
        found = cluster.run(cluster.client.indices.get(index=pattern, features="aliases,mappings"))
    published = (
        (index, one["aliases"], _name_of(one, prefix))
        for index, one in found.items()
        if "manifest" in one["mappings"].get("_meta", {})
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
def _not_copied(name: str, folder: Path) -> Iterator[None]:
    """Turn what the system refuses while a glossary is fetched into IndexNotWritten with the next step."""
    try:
        yield
    except OSError as error:
        raise IndexNotWritten(
            f"the glossary of index {name!r} cannot be copied to {folder} ({error.strerror or error}), and "
            "searching needs a copy: free the disk, or set SHRAG_HOME to a folder that can be written"
        ) from error
