"""The indexes: whether each opens and is undamaged, its vectors, and the age of the last backup."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from base.amounts import counted
from base.errors import ResourceError
from indexer.backups import list_backups
from indexer.settings import EncoderSettings, IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store import LOCAL_ENGINES
from indexer.versions.store.engines import index_names, open_store
from retriever.index import open_index
from stack.doctor.findings import Examined, Finding, failed, tried

SHOWN_DIFFERENCES = 3
BACKUP = "last backup"
LATE = timedelta(days=8)  # a weekly backup and a day
CLOCKS_DIFFER = timedelta(hours=1)  # of this machine and of the disk or cluster that backups are on


def check_index(examined: Examined) -> Iterator[Finding]:
    """Open the named index, or all of them, and compare the files of their versions with the checksums."""
    settings = examined.settings.indexer
    try:
        names = [examined.index] if examined.index else index_names(settings)
    except (ResourceError, OSError) as error:
        yield failed("list", error, str(settings.home), "let this user read the folder, or set SHRAG_HOME")
        return
    if not names:
        remedy = "create one: shrag index PATH --name NAME"
        yield Finding("list", "not configured", "there is none", "", remedy)
    for name in names:
        remedy = "see the message; the index need not be rebuilt"
        try:
            with open_index(settings, name, follow=True) as index:
                manifest = index.manifest
        except (ResourceError, OSError) as error:
            yield failed(name, error, remedy=remedy)
        else:
            counts = f"{manifest.passages:,} passages of {manifest.papers:,} papers"
            found = f"version {manifest.version}, {counts}, analysis as now"
            yield Finding(name, "ok", found, f"{manifest.engine}, {manifest.analyzer}")
            yield _vectors(manifest, name, settings.encoder)
        if not examined.quick:
            yield tried(f"{name}, files", partial(_files, examined, name), remedy=remedy)


def _files(examined: Examined, name: str) -> str | Finding:
    """Read every file of every version; a rollback may need older versions."""
    with open_store(examined.settings.indexer, name) as store:
        versions, damaged = store.versions(), []
        for done, version in enumerate(versions):
            examined.progress(f"reading the files of {name}", done, len(versions))
            damaged += [f"version {version}: {line}" for line in store.verify_files(version)]
    if not versions:
        return Finding(f"{name}, files", "not configured", "there are no versions")
    if not damaged:
        return f"{counted(len(versions), 'version')}, as written"
    more = [f"and {len(damaged) - SHOWN_DIFFERENCES} more"] if damaged[SHOWN_DIFFERENCES:] else []
    remedy = f"shrag indexes rollback {name} to a whole version, or shrag index PATH --name {name} --rebuild"
    found = "; ".join([*damaged[:SHOWN_DIFFERENCES], *more])
    return Finding(f"{name}, files", "wrong", found, remedy=remedy)


def _vectors(manifest: Manifest, name: str, encoder: EncoderSettings) -> Finding:
    """Compare the vectors of an index with the configured encoder, without loading it."""
    subject, mark = f"{name}, vectors", manifest.vector_fingerprint
    command = "--vectors-only" if manifest.engine in LOCAL_ENGINES or not mark else "PATH --rebuild"
    again = f"shrag index {command} --name {name} makes them again"
    if mark is None:
        return Finding(subject, "not configured", "none", "", "" if encoder.provider == "none" else again)
    held = f"{manifest.vector_count:,} of {manifest.passages:,} passages, {mark.dimensions} dimensions"
    if encoder.provider == "none":
        found = f"{held}, by {mark.model}; unused, as no encoder is configured"
        remedy = f"set SHRAG_ENCODER__PROVIDER and SHRAG_ENCODER__MODEL={mark.model}"
        return Finding(subject, "warning", found, "", remedy)
    wanted = {"model": encoder.model, "storage": encoder.storage, "revision": encoder.revision}
    pairs = ((key, getattr(mark, key), value) for key, value in wanted.items())
    if other := [f"{key} {has}, not {value}" for key, has, value in pairs if value and has != value]:
        held += f"; made with other settings: {'; '.join(other)}"
    if other or manifest.vector_count < manifest.passages:
        return Finding(subject, "warning", held, encoder.model, again)
    return Finding(subject, "ok", held, encoder.model)


def check_backup(examined: Examined) -> Iterator[Finding]:
    """Report the time of the last backup, with a warning if it is old or missing."""
    settings = examined.settings.indexer
    if place := settings.backups:
        remedy = "make a backup there, or set SHRAG_BACKUPS to the folder of the backups"
        yield tried(BACKUP, lambda: _newest_file(place), str(place), remedy)
        if (made := list_backups(place)) and made[-1].failed:
            text = f"it is without {', '.join(made[-1].failed)}"
            yield Finding("incomplete backup", "warning", text, str(place), "run shrag indexes backup")
    if settings.engine == "elasticsearch":
        yield tried(BACKUP, lambda: _newest_snapshot(settings))
    elif not place:
        remedy = "back up SHRAG_HOME (docs/how-to/deploying.md); SHRAG_BACKUPS = folder of the backups"
        yield Finding(BACKUP, "not configured", "no location of index backups is set", "", remedy)


def _newest_file(place: Path) -> str | Finding:
    """Check the newest entry of a folder, or one file; hidden entries and dangling links do not count."""
    entries = [place]
    if place.is_dir():
        entries = [each for each in place.iterdir() if each.name[0] != "." and each.exists()]
    newest = max(((each.stat().st_mtime, each) for each in entries), default=None)
    if newest is None:
        return _aged(None, str(place))
    if newest[1].is_file() and not newest[1].stat().st_size:
        found = f"an empty file is not a backup: {newest[1].name}"
        return Finding(BACKUP, "warning", found, str(place), "make the backup again")
    return _aged(datetime.fromtimestamp(newest[0], UTC), str(place))


def _newest_snapshot(settings: IndexerSettings) -> str | Finding:
    """Check the newest complete snapshot, of any repository, with an index of the prefix."""
    from indexer.errors import EngineRefused
    from indexer.versions.cluster.connection import connect

    prefix = f"{settings.elasticsearch.prefix}-"
    try:
        with connect(settings.elasticsearch) as client:
            found = client.snapshot.get(repository="_all", snapshot="*").get("snapshots", [])
    except EngineRefused as error:  # the key may not list snapshots
        return Finding(BACKUP, "warning", f"{type(error).__name__}: {error.what}")
    whole = (each for each in found if each["state"] == "SUCCESS")
    own = (each for each in whole if any(index.startswith(prefix) for index in each["indices"]))
    taken = max((datetime.fromisoformat(each["start_time"]) for each in own), default=None)
    return _aged(taken, "snapshots of the cluster")


def _aged(made: datetime | None, where: str) -> Finding:
    if made is None:
        return Finding(BACKUP, "warning", "there is none", where, "make one (docs/how-to/deploying.md)")
    age = datetime.now(UTC) - made
    found = f"{made.isoformat(timespec='minutes')}, {age / timedelta(days=1):.1f} days ago"
    if -CLOCKS_DIFFER <= age <= LATE:
        return Finding(BACKUP, "ok", found, where)
    return Finding(BACKUP, "warning", found, where, "make one, find out why none was made, check the clock")
