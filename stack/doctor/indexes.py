"""The indexes: whether each opens and is undamaged, its vectors, and the age of the last backup."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from base.amounts import counted
from base.errors import ResourceError
from indexer.backups import list_backups
from indexer.errors import EngineRefused
from indexer.settings import ElasticsearchSettings, EncoderSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store import LOCAL_ENGINES
from indexer.versions.store.engines import index_names, open_store
from retriever.index import open_index
from stack.doctor.findings import Examined, Finding, failed, without_engine

SHOWN_DIFFERENCES = 3
BACKUP = "last backup"
LATE = timedelta(days=8)  # a weekly backup and a day
CLOCKS_DIFFER = timedelta(hours=1)  # of this machine and of the disk or cluster that backups are on


def check_index(examined: Examined) -> Iterator[Finding]:
    """Open the named index, or all of them, and compare the files of their versions with the checksums."""
    settings = examined.settings.indexer
    if not examined.engine_answers:
        yield without_engine("list")
        return
    try:
        names = [examined.index] if examined.index else index_names(settings)
    except (ResourceError, OSError) as error:
        yield failed("list", error, str(settings.home), "let this user read the folder, or set SHRAG_HOME")
        return
    if not names:
        yield Finding(
            "list", "not configured", "there is none", "", "create one: shrag index PATH --name NAME"
        )
    looks: dict[str, Callable[[Examined, str], Iterator[Finding]]] = {"{}": _opened}
    if not examined.quick:
        looks["{}, files"] = _verified
    for name in names:
        for subject, look in looks.items():
            try:
                yield from look(examined, name)
            except (ResourceError, OSError) as error:
                remedy = "see the message; the index need not be rebuilt"
                yield failed(subject.format(name), error, remedy=remedy)


def _opened(examined: Examined, name: str) -> Iterator[Finding]:
    with open_index(examined.settings.indexer, name, follow=True) as index:
        manifest = index.manifest
    counts = f"{manifest.passages:,} passages of {manifest.papers:,} papers"
    found = f"version {manifest.version}, {counts}, analysis as now"
    yield Finding(name, "ok", found, f"{manifest.engine}, {manifest.analyzer}")
    yield _vectors(manifest, name, examined.settings.indexer.encoder)


def _verified(examined: Examined, name: str) -> Iterator[Finding]:
    """Read every file of every version; a rollback may need older versions."""
    with open_store(examined.settings.indexer, name) as store:
        versions, damaged = store.versions(), []
        for done, version in enumerate(versions):
            examined.progress(f"reading the files of {name}", done, len(versions))
            damaged += [f"version {version}: {line}" for line in store.verify_files(version)]
    if damaged:
        more = [f"and {len(damaged) - SHOWN_DIFFERENCES} more"] if damaged[SHOWN_DIFFERENCES:] else []
        found = "; ".join([*damaged[:SHOWN_DIFFERENCES], *more])
        remedy = (
            f"shrag indexes rollback {name} to a whole version, or shrag index PATH --name {name} --rebuild"
        )
        yield Finding(f"{name}, files", "wrong", found, remedy=remedy)
    elif versions:
        yield Finding(f"{name}, files", "ok", f"{counted(len(versions), 'version')}, as written")


def _vectors(manifest: Manifest, name: str, encoder: EncoderSettings) -> Finding:
    """Compare the vectors of an index with the configured encoder, without loading it."""
    subject, mark = f"{name}, vectors", manifest.vector_fingerprint
    again = f"shrag index --vectors-only --name {name} makes them again"
    if mark and manifest.engine not in LOCAL_ENGINES:
        again = f"shrag index PATH --name {name} --rebuild makes them again"
    if mark is None:
        return Finding(subject, "not configured", "none", "", "" if encoder.provider == "none" else again)
    held = f"{manifest.vector_count:,} of {manifest.passages:,} passages, {mark.dimensions} dimensions"
    if encoder.provider == "none":
        made_by = f"{mark.model}{'@' + mark.revision if mark.revision else ''}"
        found = f"{held}, by {made_by}; unused, as no encoder is configured"
        remedy = f"set SHRAG_ENCODER__PROVIDER and SHRAG_ENCODER__MODEL={mark.model}"
        return Finding(subject, "warning", found, "", remedy)
    wanted = {"model": encoder.model, "storage": encoder.storage, "revision": encoder.revision}
    other = [
        f"{key} {getattr(mark, key)}, not {value}"
        for key, value in wanted.items()
        if value and getattr(mark, key) != value
    ]
    if other:
        held += f"; made with other settings: {'; '.join(other)}"
    if other or manifest.vector_count < manifest.passages:
        return Finding(subject, "warning", held, encoder.model, again)
    return Finding(subject, "ok", held, encoder.model)


def check_backup(examined: Examined) -> Iterator[Finding]:
    """Report the time of the last backup, with a warning if it is old or missing."""
    settings = examined.settings.indexer
    if settings.backups:
        yield from _of_files(settings.backups)
    if settings.engine == "elasticsearch":
        yield _of_cluster(settings.elasticsearch) if examined.engine_answers else without_engine(BACKUP)
    elif not settings.backups:
        remedy = "back up SHRAG_HOME (docs/how-to/deploying.md); SHRAG_BACKUPS = folder of the backups"
        yield Finding(BACKUP, "not configured", "no location of index backups is set", "", remedy)


def _of_files(place: Path) -> Iterator[Finding]:
    """Check the newest entry of a folder, or one file; hidden entries and dangling links do not count."""
    try:
        entries = [each for each in place.iterdir() if each.name[0] != "."] if place.is_dir() else [place]
        found = {each: each.stat() for each in entries if place == each or each.exists()}
    except OSError as error:
        remedy = "make a backup there, or set SHRAG_BACKUPS to the folder of the backups"
        yield failed(BACKUP, error, str(place), remedy)
        return
    newest = max((status.st_mtime for status in found.values()), default=None)
    yield _aged(None if newest is None else datetime.fromtimestamp(newest, UTC), str(place))
    if (made := list_backups(place)) and made[-1].failed:
        text = f"it is without {', '.join(made[-1].failed)}"
        yield Finding("incomplete backup", "warning", text, str(place), "run shrag indexes backup")
    if empty := [entry.name for entry, status in found.items() if entry.is_file() and not status.st_size]:
        text = f"an empty file is not a backup: {min(empty)}"
        yield Finding("empty backup", "warning", text, str(place), "make the backup again")


def _of_cluster(settings: ElasticsearchSettings) -> Finding:
    """Check the newest complete snapshot, of any repository, with an index of the prefix."""
    from indexer.versions.cluster.connection import connect

    try:
        with connect(settings) as client:
            found = client.snapshot.get(repository="_all", snapshot="*").get("snapshots", [])
    except ResourceError as error:  # the key may not list snapshots
        return failed(BACKUP, error, status="warning" if isinstance(error, EngineRefused) else "wrong")
    taken = [
        datetime.fromisoformat(snapshot["start_time"])
        for snapshot in found
        if snapshot["state"] == "SUCCESS"
        and any(index.startswith(f"{settings.prefix}-") for index in snapshot["indices"])
    ]
    return _aged(max(taken, default=None), "snapshots of the cluster")


def _aged(made: datetime | None, where: str) -> Finding:
    if made is None:
        return Finding(BACKUP, "warning", "there is none", where, "make one (docs/how-to/deploying.md)")
    time, age = made.isoformat(timespec="minutes"), datetime.now(UTC) - made
    if age < -CLOCKS_DIFFER:
        found = f"{time}, which is in the future: its age is unknown"
        return Finding(BACKUP, "warning", found, where, "correct the clock, or make a new backup")
    found = f"{time}, {max(0.0, age / timedelta(days=1)):.1f} days ago"
    if age > LATE:
        return Finding(BACKUP, "warning", found, where, "make one, and find out why none was made since")
    return Finding(BACKUP, "ok", found, where)
