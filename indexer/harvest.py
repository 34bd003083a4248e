"""Harvesting a repository into an index: the list of changes, then one build of them."""

import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from base.errors import InvalidCall, RemediableError
from base.progress import Progress, no_progress
from indexer.building.plan import check_request
from indexer.corpora.readers.formats import read_metadata
from indexer.corpora.readers.items import Item, dead_letter
from indexer.corpora.readers.xml_records import paper_id
from indexer.errors import EmptyCorpus, RepositoryFailed
from indexer.harvesting.listing import HarvestOptions, Listing, ListReport
from indexer.harvesting.mirror import ENDING, Mirror, harvest_lock, open_mirror, states_in
from indexer.harvesting.protocol import EXAMPLE, Repository, RepositoryClient
from indexer.ingest import IngestReport, IngestRequest, OtherRecords, index_records
from indexer.settings import IndexerSettings
from indexer.versions.manifest import HARVESTS, Manifest
from indexer.versions.store.build_folder import BuildFolder
from indexer.versions.store.engines import open_store

UNKNOWN = -1  # generation of an index that contains no state of the mirror: even old deletions count


@dataclass(frozen=True, slots=True)
class HarvestReport:
    """Result of a harvest: what was listed, and the version that was built, None without changes."""

    repository: Repository
    listed: ListReport
    built: IngestReport | None = None
    failure: RemediableError | None = None  # of the repository, with the option `partial`

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as JSON."""
        names = ("pages", "records", "restarts", "missing_removed", "notes", "requests", "retries")
        return {
            "repository": self.repository.as_record(),
            "from": self.listed.from_ or None,
            **{name: getattr(self.listed, name) for name in names},
            "published": self.built is not None,
        }


def changed_items(mirror: Mirror, since: int) -> Iterator[Item]:
    """Yield the papers of a mirror that changed after a generation, and dead letters."""
    host = mirror.state.repository.host
    for identifier, packed, problem in mirror.changed(since):
        if problem:
            yield dead_letter(identifier, 0, problem)
        else:
            yield read_metadata(zlib.decompress(packed), identifier, host)


def harvest(
    repository: Repository,
    request: IngestRequest,
    settings: IndexerSettings,
    options: HarvestOptions | None = None,
    progress: Progress = no_progress,
) -> HarvestReport:
    """List the changes of a repository, and publish them as the next version of the index `request.name`.

    The harvested records are kept in the index's folder, page by page. An interrupted call continues there.
    Without changes nothing is published. The first call, and one with `request.rebuild`, index all records.

    Raises:
        RepositoryFailed: the repository fails; nothing is published unless the option `partial` is set.
        IndexBusy: another process harvests into this index, or writes to it.
        ResourceError: the version cannot be published; the harvested records are kept.
    """
    options, failure = options or HarvestOptions(), None
    with open_store(settings, request.name) as store:
        folder = store.local.harvest
        if not store.local.path.exists():
            with store.writing():
                pass
    with (
        harvest_lock(folder, request.name),
        _mirror(folder, repository, request.name, settings) as mirror,
        RepositoryClient(repository, settings.harvest, options.pause) as client,
    ):
        if not mirror.state.lists and not request.rebuild:
            # A request that does not fit the index is refused before anything is harvested.
            with open_store(settings, request.name) as store:
                if store.current() is not None:
                    check_request(store, store.manifest(), request, "paper")
        listing = Listing(client, mirror, options, progress)
        try:
            listing.run()
        except RepositoryFailed as error:
            if not (options.partial and mirror.alive):
                raise
            failure = error
        built = _publish(folder, mirror, request, settings, progress, listing.report.notes)
    return HarvestReport(repository, listing.report, built, failure)


@contextmanager
def _mirror(folder: Path, repository: Repository, name: str, settings: IndexerSettings) -> Iterator[Mirror]:
    """Open a mirror; after an error, remove one without records, and the folder of a new index."""
    with open_mirror(folder, repository, name) as mirror:
        try:
            yield mirror
        except RemediableError:
            if not mirror.count():
                (folder / f"{repository.slug}{ENDING}").unlink(missing_ok=True)
                if not states_in(folder):
                    shutil.rmtree(folder, ignore_errors=True)
                    with suppress(RemediableError), open_store(settings, name) as store, store.writing():
                        if not store.local.is_unfinished():
                            store.discard_building()
            raise


def _publish(
    folder: Path,
    mirror: Mirror,
    request: IngestRequest,
    settings: IndexerSettings,
    progress: Progress,
    notes: list[str],
) -> IngestReport | None:
    """Index the changes since the generation of the current version; None if there are none."""
    state, base = mirror.state, None if request.rebuild else _current(request.name, settings)
    since = _generation_in(base, mirror) if base else UNKNOWN
    last = mirror.close_generation()
    removed = _removed(folder, mirror, since, request.name) if base else []
    if base and not removed and not any(mirror.changed(since)):
        return None
    harvested = {state.repository.slug: {"mirror": state.mirror_id, "generation": last}}
    # A name that no file has; the generations identify the content.
    content = f"{state.repository.name} {state.mirror_id} {since}-{last}"
    format_, read = state.repository.metadata_prefix, partial(changed_items, mirror, since)
    changes = OtherRecords("paper", [content], format_, read)
    given = replace(request, paths=(state.repository.path,), removed=removed, harvests=harvested)
    try:
        return index_records(changes, given, settings, progress)
    except EmptyCorpus as error:
        if not mirror.alive:
            lists = state.repository.request({"verb": "ListSets"})
            remedy = f"check the address and the set ({lists})"
            raise EmptyCorpus(f"{state.repository.name} lists no records", remedy=remedy) from None
        if base is None:
            raise
        if any(mirror.changed(since)):  # all are invalid; otherwise the index lacks the deleted records
            notes.append(error.what)
        return None


def _current(name: str, settings: IndexerSettings) -> Manifest | None:
    with open_store(settings, name) as store:
        return store.manifest() if store.current() is not None else None


def _generation_in(base: Manifest, mirror: Mirror) -> int:
    """Return the generation of the mirror that a version contains."""
    harvested = base.source.get(HARVESTS, {}).get(mirror.state.repository.slug, {})
    known = harvested.get("mirror") == mirror.state.mirror_id
    return int(harvested["generation"]) if known else UNKNOWN


def _removed(folder: Path, mirror: Mirror, since: int, name: str) -> list[str]:
    """Return the ids of deleted records, except records that another repository of the index has."""
    deleted = mirror.deleted(since)
    for other in states_in(folder):
        if deleted and other.repository.slug != mirror.state.repository.slug:
            with open_mirror(folder, other.repository, name) as opened:
                deleted = [each for each in deleted if not opened.holds(each)]
    return list(map(paper_id, deleted))


def harvested_repositories(settings: IndexerSettings, name: str) -> Sequence[Repository]:
    """Return the repositories that an index harvests.

    Raises:
        InvalidCall: it harvests none, or was never published.
    """
    folder = BuildFolder(settings.home, name).harvest
    found = [state.repository for state in states_in(folder)]
    if not found:
        remedy = f"name one first (shrag index {EXAMPLE} --name {name})"
        raise InvalidCall(f"index {name!r} harvests no repository", remedy=remedy, index=name)
    if _current(name, settings) is None:
        remedy = f"complete its first harvest (shrag index {found[0].path} --name {name})"
        raise InvalidCall(f"index {name!r} is not published yet", remedy=remedy, index=name)
    return found


def harvested_indexes(settings: IndexerSettings) -> list[str]:
    """Return the names of the indexes of this machine that harvest repositories, in order."""
    return sorted({path.parent.parent.name for path in settings.home.glob(f"*/harvest/*{ENDING}")})


def update(
    repository: Repository,
    name: str,
    settings: IndexerSettings,
    options: HarvestOptions | None = None,
    progress: Progress = no_progress,
) -> HarvestReport:
    """Harvest a repository into an existing index, with the analysis of its current version; as `harvest`."""
    base = _current(name, settings)
    if base is None:
        raise InvalidCall(f"index {name!r} is not published yet", index=name)
    request = IngestRequest(name, (repository.path,), analyzer=base.analyzer, decompound=base.decompound)
    return harvest(repository, request, settings, options, progress)
