"""Backup and restore of all indexes of a prefix: snapshots in a folder mounted by all servers of a cluster.

A snapshot contains SHRAG's indexes of the prefix with their aliases, glossaries and citation graphs, but not
the leases and readers. A restore deletes the current indexes first, which must be confirmed. Indexes of other
programs with similar names are neither saved nor changed. The folder is a repository of the type `fs`, named
PREFIX-backups in the cluster.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from elasticsearch import ApiError, NotFoundError

from base.errors import InvalidCall, ResourceError
from base.progress import Progress, no_progress
from base.untrusted import one_line
from indexer.errors import EngineRefused, IndexBusy, IndexNotWritten, UnknownIndex
from indexer.versions.cluster.connection import FORBIDDEN, Cluster, reason_of
from indexer.versions.cluster.names import glossaries, is_ours, is_version, leases

POLL_S = 0.5
WHOLE: dict[str, Any] = {"include_global_state": False, "partial": False}
# Server errors about repositories and snapshots, and the errors raised for them; `{reason}` is the server's
# message.
REFUSALS: dict[str, tuple[type[ResourceError], str]] = {
    "already_in_use|already exists|same name": (
        InvalidCall,
        "the name {name!r} is already used; give another name, or none",
    ),
    "invalid_snapshot_name": (InvalidCall, "{name!r} is not a valid snapshot name: {reason}"),
    "concurrent_snapshot": (IndexBusy, "another backup or restore is running ({reason}); wait for its end"),
    r"path\.repo": (
        EngineRefused,
        "the servers cannot write there ({reason}); set path.repo on every node to a folder mounted by all",
    ),
    "repository|access_denied": (
        EngineRefused,
        "the repository {repository} is not usable ({reason}); its folder must be writable on every node",
    ),
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot; `state` is SUCCESS if it is complete."""

    name: str
    state: str
    taken: str
    indices: tuple[str, ...]
    shards: int
    seconds: float


def backup(
    cluster: Cluster, prefix: str, name: str = "", *, location: str = "", progress: Progress = no_progress
) -> Snapshot:
    """Create a snapshot of all indexes of the prefix, and wait for its completion.

    Args:
        cluster: the cluster.
        prefix: prefix of the index names.
        name: name of the snapshot; default: the date and time (UTC).
        location: a folder within the servers' `path.repo`; default: the registered one, or the prefix.
        progress: receives the counts of shards.

    Raises:
        InvalidCall: the name is already used or invalid.
        UnknownIndex: there is no index to back up.
        EngineRefused: the repository is not usable.
        IndexNotWritten: shards failed; the incomplete snapshot is deleted.
    """
    name = name or f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    one: dict[str, Any] = {"repository": _repository(prefix), "snapshot": name}
    api, ours = cluster.client.snapshot, present(cluster, prefix)
    if not ours:
        raise UnknownIndex(f"no index of the prefix {prefix!r} in the cluster: there is nothing to back up")
    with _map_snapshot_errors(prefix, name):
        _register(cluster, prefix, location)
        body = {
            "indices": ",".join(ours),
            "ignore_unavailable": True,
            **WHOLE,
        }  # an index may be pruned concurrently
        cluster.run(api.create(**one, body=body))
    while True:
        [found] = cluster.run(api.get(**one))["snapshots"]
        if found["state"] not in ("IN_PROGRESS", "STARTED"):
            break
        [status] = cluster.run(api.status(**one))["snapshots"]
        progress("taking a snapshot", status["shards_stats"]["done"], status["shards_stats"]["total"])
        time.sleep(POLL_S)
    if found["state"] != "SUCCESS":
        cluster.run(api.delete(**one))
        failures = found.get("failures") or [{}]
        why = one_line(str(found.get("reason") or failures[0].get("reason", "")))
        raise IndexNotWritten(
            f"the snapshot {name!r} is {found['state'].lower()} and was deleted "
            f"({why}); see GET /_cluster/health for missing "
            "shards, and the disk of the repository, then repeat the backup"
        )
    return _snapshot(found)


def list_snapshots(cluster: Cluster, prefix: str, *, location: str = "") -> list[Snapshot]:
    """Return the snapshots, oldest first."""
    with _map_snapshot_errors(prefix):
        _register(cluster, prefix, location)
        every: dict[str, Any] = {"repository": _repository(prefix), "snapshot": "*", "sort": "start_time"}
        return [_snapshot(found) for found in cluster.run(cluster.client.snapshot.get(**every))["snapshots"]]


def last_snapshot(cluster: Cluster, prefix: str) -> Snapshot | None:
    """Return the last complete snapshot; None if there is none, or no registered repository.

    Raises `EngineRefused` and `EngineUnreachable`.
    """
    every: dict[str, Any] = {"repository": _repository(prefix), "snapshot": "*", "sort": "start_time"}
    try:
        found = cluster.run(cluster.client.snapshot.get(**every)).get("snapshots", [])
    except EngineRefused as error:
        if isinstance(error.__cause__, NotFoundError):
            return None
        raise
    whole = [snapshot for snapshot in map(_snapshot, found) if snapshot.state == "SUCCESS"]
    return whole[-1] if whole else None


def present(cluster: Cluster, prefix: str) -> list[str]:
    """Return the current indices of the prefix, which a restore replaces."""
    return sorted(index for index, ours in _similarly_named(cluster, prefix).items() if ours)


def _similarly_named(cluster: Cluster, prefix: str) -> dict[str, bool]:
    """Return the indices with names that a restore uses, and whether SHRAG created each."""
    which: dict[str, Any] = {"expand_wildcards": "all", "allow_no_indices": True, "ignore_unavailable": True}
    asked = cluster.client.indices.get_mapping(index=[f"{prefix}-*@*", glossaries(prefix)], **which)
    return {
        index: index == glossaries(prefix) or is_ours(about["mappings"].get("_meta", {}))
        for index, about in cluster.run(asked).items()
        if index in _of_prefix(prefix, [index])
    }


def find_snapshot(cluster: Cluster, prefix: str, name: str, *, location: str = "") -> Snapshot:
    """Return a snapshot that can be restored.

    Raises:
        InvalidCall: the snapshot does not exist, is incomplete, or contains nothing of the prefix.
    """
    there = {found.name: found for found in list_snapshots(cluster, prefix, location=location)}
    if name not in there:
        known = ", ".join(there) or "none at all"
        raise InvalidCall(f"no snapshot {name!r} in the repository {_repository(prefix)}; there are: {known}")
    found = there[name]
    if found.state != "SUCCESS":
        raise InvalidCall(f"the snapshot {name!r} is {found.state.lower()}, not complete; restore another")
    if not _of_prefix(prefix, found.indices):
        raise InvalidCall(
            f"the snapshot {name!r} contains no index of the prefix {prefix!r}: {', '.join(found.indices)}; "
            "set SHRAG_ELASTICSEARCH__PREFIX to the prefix of the snapshot"
        )
    return found


def restore(
    cluster: Cluster, prefix: str, found: Snapshot, there: Sequence[str], progress: Progress = no_progress
) -> None:
    """Restore the indexes of the prefix from a snapshot returned by `find_snapshot`.

    Args:
        cluster: the cluster.
        prefix: prefix of the index names.
        found: the snapshot.
        there: the result of `present`, confirmed by the user; these indices are deleted first.
        progress: receives the counts of shards.

    Raises:
        IndexBusy: another process is writing to one of them.
        IndexNotWritten: a foreign index has the name of one of them, and nothing was deleted; or a shard
            could not be restored, and the call can be repeated.
    """
    _refuse_while_written(cluster, prefix)
    wanted, alike = _of_prefix(prefix, found.indices), _similarly_named(cluster, prefix)
    if foreign := [index for index in wanted if not alike.get(index, True)]:
        raise IndexNotWritten(
            f"nothing was restored or deleted: SHRAG did not create {', '.join(foreign)}, which has a name "
            f"in the snapshot {found.name!r}; remove or rename it"
        )
    for index in there:  # one request each, as the address with all names may be too long
        cluster.run(cluster.client.indices.delete(index=index, ignore_unavailable=True))
    body = {"indices": ",".join(wanted), "include_aliases": True, **WHOLE}
    with _map_snapshot_errors(prefix, found.name):
        api = cluster.client.snapshot
        cluster.run(api.restore(repository=_repository(prefix), snapshot=found.name, body=body))
    _wait_until_restored(cluster, prefix, progress)


def _refuse_while_written(cluster: Cluster, prefix: str) -> None:
    """Raise IndexBusy if another process is writing to an index of the prefix."""
    where: dict[str, Any] = {"index": leases(prefix), "ignore_unavailable": True}
    now = int(time.time())
    cluster.run(cluster.client.indices.refresh(**where))
    held: dict[str, Any] = {"query": {"range": {"until": {"gt": now}}}, "allow_partial_search_results": False}
    for hit in cluster.run(cluster.client.search(**held, **where))["hits"]["hits"]:
        holder, until = hit["_source"]["holder"].rpartition("-")[0], hit["_source"]["until"]
        raise IndexBusy(
            f"a process on {holder} is writing to {hit['_id']}; nothing was deleted: wait for it, then try "
            f"again (if it was killed, its lease expires in {until - now} s)"
        )


def _wait_until_restored(cluster: Cluster, prefix: str, progress: Progress) -> None:
    """Wait for all primary shards while there is progress; replicas may follow."""
    last_move, before, api = time.monotonic(), -1, cluster.client.cluster
    while True:
        health = cluster.run(api.health(index=_patterns(prefix), level="indices", expand_wildcards="all"))
        shards = {
            name: (index["active_primary_shards"], index["number_of_shards"])
            for name, index in health["indices"].items()
        }
        done, total = (sum(counts) for counts in zip((0, 0), *shards.values(), strict=True))
        progress("restoring", done, total)
        if done == total:
            return
        if done != before or health["initializing_shards"]:
            last_move, before = time.monotonic(), done
        elif time.monotonic() - last_move > cluster.settings.patience_s:
            missing = ", ".join(name for name, (active, wanted) in shards.items() if active < wanted)
            raise IndexNotWritten(
                f"not restored: {missing} ({_why_unassigned(cluster)}); fix the cause and repeat the command"
            )
        time.sleep(POLL_S)


def _why_unassigned(cluster: Cluster) -> str:
    """Return the cluster's explanation for the first unassigned shard."""
    explanation = cluster.run(cluster.client.options(ignore_status=400).cluster.allocation_explain())
    details = explanation.get("unassigned_info", {}).get("details") or explanation.get("allocate_explanation")
    return str(details).splitlines()[0][:300] if details else "unassigned"


def _register(cluster: Cluster, prefix: str, location: str) -> None:
    """Register the repository unless it is registered, so that a key for snapshots only can use it."""
    repository, api = _repository(prefix), cluster.client.snapshot
    try:
        known = cluster.run(api.get_repository(name=repository))[repository]["settings"]["location"]
    except EngineRefused as error:
        if not isinstance(error.__cause__, NotFoundError):
            raise
        known = ""
    if not known or location not in ("", known):
        body = {"type": "fs", "settings": {"location": location or prefix, "compress": True}}
        cluster.run(api.create_repository(name=repository, body=body, verify=True))


@contextmanager
def _map_snapshot_errors(prefix: str, name: str = "") -> Iterator[None]:
    """Convert server errors about repositories and snapshots to one-line errors with the next step."""
    try:
        yield
    except EngineRefused as error:
        cause = error.__cause__
        if isinstance(cause, ApiError) and cause.status_code != FORBIDDEN:
            kind, reason = reason_of(cause)
            for words, (refusal, text) in REFUSALS.items():
                if re.search(words, f"{kind} {reason} {cause.message}"):
                    repository = _repository(prefix)
                    raise refusal(text.format(name=name, reason=reason, repository=repository)) from cause
        raise


def _repository(prefix: str) -> str:
    return f"{prefix}-backups"


def _patterns(prefix: str) -> list[str]:
    """Return index patterns for the shards that a restore waits for."""
    return [f"{prefix}-*", f"{prefix}.*", f"-{leases(prefix)}"]


def _of_prefix(prefix: str, indices: Sequence[str]) -> list[str]:
    return [index for index in indices if is_version(prefix, index) or index == glossaries(prefix)]


def _snapshot(found: dict[str, Any]) -> Snapshot:
    return Snapshot(
        name=found["snapshot"],
        state=found["state"],
        taken=found["start_time"],
        indices=tuple(sorted(found["indices"])),
        shards=found["shards"]["total"],
        seconds=found["duration_in_millis"] / 1000,
    )
