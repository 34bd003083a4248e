"""The engine, the indexes and their vectors, and the age of the last backup."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from importlib.metadata import version

from base.amounts import counted
from base.errors import ResourceError
from base.extras import extra_remedy
from indexer.backups import list_backups
from indexer.settings import ElasticsearchSettings, EncoderSettings, IndexerSettings
from indexer.versions.manifest import Manifest
from indexer.versions.store import LOCAL_ENGINES
from indexer.versions.store.engines import index_names, open_store
from retriever.index import open_index
from stack.doctor.findings import Examined, Finding, Status, check_encryption, failed, tried
from stack.doctor.machine import nearest_folder

REACHABLE = "reachable"
LOOK_S, MASTER_S = 10, 4  # time limits of a simple answer, and of a cluster's answer about its master
OLDEST = (9, 2)  # the client supports newer servers, not older ones
HEALTH: dict[str, tuple[Status, str]] = {
    "green": ("ok", ""),
    "yellow": ("warning", "copies of shards have no node: start another, or SHRAG_ELASTICSEARCH__REPLICAS=0"),
    "red": ("wrong", "shards are missing: see GET _cluster/allocation/explain, or restore a snapshot"),
}
SHOWN_DIFFERENCES = 3
BACKUP = "last backup"
LATE = timedelta(days=8)  # a weekly backup and a day
CLOCKS_DIFFER = timedelta(hours=1)  # of this machine and of the disk or cluster that backups are on


def check_engine(examined: Examined) -> Iterator[Finding]:
    """Check whether the configured engine is usable."""
    settings = examined.settings.indexer
    if settings.engine == "elasticsearch":
        yield from _cluster(settings.elasticsearch)
        return
    yield Finding("version", "ok", f"tantivy {version('tantivy')}", "tantivy")
    there, home = nearest_folder(settings.home), settings.home

    def write() -> str:
        with tempfile.TemporaryFile(prefix=".doctor-", dir=there):
            return "is writable" if there == home else f"does not exist yet; {there} is writable"

    remedy = "give this user write access to it, or set SHRAG_HOME to another folder"
    yield tried("home", write, str(home), remedy)


def _cluster(own: ElasticsearchSettings) -> Iterator[Finding]:
    """Ask a cluster for its nodes, its health and the analysis of a Korean text."""
    try:
        from indexer.versions.cluster.connection import INSTALL_NORI, connect
    except ModuleNotFoundError as error:
        yield failed("client", error, "elasticsearch", extra_remedy("elasticsearch"))
        return
    yield from check_encryption(own.url, secret=own.sends_secret)
    limited = own.model_copy(update={"timeout_s": min(own.timeout_s, LOOK_S)})
    with connect(limited) as patient:
        client = patient.options(max_retries=0)
        try:
            nodes = client.nodes.info(metric="plugins")["nodes"].values()
            versions = sorted({str(node["version"]) for node in nodes})
            old = any(tuple(map(int, number.split(".")[:2])) < OLDEST for number in versions)
            health = client.cluster.health(master_timeout=f"{MASTER_S}s").body
            name, status, count = (health[key] for key in ("cluster_name", "status", "number_of_nodes"))
        except ResourceError as error:  # the nodes are down, or the cluster has no master
            yield failed(REACHABLE, error, own.url, "start its nodes (docs/how-to/cluster.md)")
            return
        except (LookupError, TypeError, ValueError, AttributeError) as error:  # a field is missing
            remedy = "check the proxy before it, or set SHRAG_ELASTICSEARCH__URL to Elasticsearch"
            found = f"the answer is not from Elasticsearch ({type(error).__name__}: {error})"
            yield Finding(REACHABLE, "wrong", found, own.url, remedy)
            return
        yield Finding(REACHABLE, "ok", f"cluster {name!r} answers", own.url)
        needed, remedy = ".".join(map(str, OLDEST)), "upgrade the cluster" if old else ""
        found = f"Elasticsearch {', '.join(versions)}"
        yield Finding("version", "wrong" if old else "ok", found, f"{needed} or later", remedy)

        def analyze() -> str:
            client.indices.analyze(tokenizer="nori_tokenizer", text="비선형 회귀")
            return "Korean text is analysed"

        yield _permitted("nori", analyze, INSTALL_NORI)
        judged, remedy = HEALTH.get(status, ("warning", "see GET _cluster/health"))
        yield Finding("health", judged, f"{status}, {count} node(s)", remedy=remedy)


def _permitted(subject: str, call: Callable[[], str | Finding], remedy: str = "") -> Finding:
    """Return the finding of a call to a cluster; a call that the key may not make is a warning."""
    try:
        found = call()
    except ResourceError as error:
        forbidden = getattr(error.__cause__, "status_code", 0) == HTTPStatus.FORBIDDEN
        return replace(failed(subject, error, "", remedy), status="warning" if forbidden else "wrong")
    return found if isinstance(found, Finding) else Finding(subject, "ok", found)


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
        for done, number in enumerate(versions):
            examined.progress(f"reading the files of {name}", done, len(versions))
            damaged += [f"version {number}: {line}" for line in store.verify_files(number)]
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

        def newest_entry() -> Finding:
            entries = [each for each in place.iterdir() if each.name[0] != "." and each.exists()]
            newest = max((each.stat().st_mtime for each in entries), default=None)
            return _aged(datetime.fromtimestamp(newest, UTC) if newest else None, str(place))

        remedy = "make a backup there, or set SHRAG_BACKUPS to the folder of the backups"
        yield tried(BACKUP, newest_entry, str(place), remedy)
        if (made := list_backups(place)) and made[-1].failed:
            text = f"it is without {', '.join(made[-1].failed)}"
            yield Finding("incomplete backup", "warning", text, str(place), "run shrag indexes backup")
    if settings.engine == "elasticsearch":
        yield _permitted(BACKUP, lambda: _newest_snapshot(settings))
    elif not place:
        remedy = "back up SHRAG_HOME (docs/how-to/deploying.md); SHRAG_BACKUPS = folder of the backups"
        yield Finding(BACKUP, "not configured", "no location of index backups is set", "", remedy)


def _newest_snapshot(settings: IndexerSettings) -> Finding:
    """Check the newest complete snapshot, of any repository, with an index of the prefix."""
    from indexer.versions.cluster.connection import connect

    with connect(settings.elasticsearch) as client:
        found = client.snapshot.get(repository="_all", snapshot="*").get("snapshots", [])
    prefix = f"{settings.elasticsearch.prefix}-"
    taken = (
        datetime.fromisoformat(each["start_time"])
        for each in found
        if each["state"] == "SUCCESS" and any(index.startswith(prefix) for index in each["indices"])
    )
    return _aged(max(taken, default=None), "snapshots of the cluster")


def _aged(made: datetime | None, where: str) -> Finding:
    if made is None:
        return Finding(BACKUP, "warning", "there is none", where, "make one (docs/how-to/deploying.md)")
    age = datetime.now(UTC) - made
    found = f"{made.isoformat(timespec='minutes')}, {age / timedelta(days=1):.1f} days ago"
    if -CLOCKS_DIFFER <= age <= LATE:
        return Finding(BACKUP, "ok", found, where)
    return Finding(BACKUP, "warning", found, where, "make one, find out why none was made, check the clock")
