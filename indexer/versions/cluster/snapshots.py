"""Backup and restore of all indexes of a prefix: snapshots in a folder that all servers of a cluster mount.

A snapshot holds SHRAG's indexes of the prefix with their aliases, glossaries and citation graphs, but not
who is writing or reading just now. A restore makes them what they were: what is there is deleted first, and
that must be confirmed. Indexes that others called alike are neither saved nor touched. The folder is a
repository of the type `fs`, called PREFIX-backups in the cluster.
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
# What the server says of a repository or a snapshot, and what becomes of it; `{reason}` is in its own words.
REFUSALS: dict[str, tuple[type[ResourceError], str]] = {
    "already_in_use|already exists|same name": (
        InvalidCall,
        "the name {name!r} is taken; give another, or none",
    ),
    "invalid_snapshot_name": (InvalidCall, "{name!r} cannot be a snapshot's name: {reason}"),
    "concurrent_snapshot": (IndexBusy, "another backup or restore is under way ({reason}); wait for its end"),
    r"path\.repo": (
        EngineRefused,
        "the servers may not write there ({reason}); set path.repo on every node to a folder that all mount",
    ),
    "repository|access_denied": (
        EngineRefused,
        "the repository {repository} cannot be used ({reason}); its folder must be writable on every node",
    ),
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One backup; `state` is SUCCESS where it is whole."""

    name: str
    state: str
    taken: str
    indices: tuple[str, ...]
    shards: int
    seconds: float


def backup(
    cluster: Cluster, prefix: str, name: str = "", *, location: str = "", progress: Progress = no_progress
) -> Snapshot:
    """Take a snapshot of all indexes of the prefix and wait until it is whole.

    Args:
        cluster: where the indexes are.
        prefix: of their names.
        name: of the snapshot; the date and time (UTC) where none is given.
        location: a folder within the servers' `path.repo`; as registered before, or the prefix.
        progress: gets the counts of shards.

    Raises:
        InvalidCall: the name is taken or no name.
        UnknownIndex: there is nothing to back up.
        EngineRefused: the repository cannot be used.
        IndexNotWritten: shards failed; what was written is taken away again.
    """
    name = name or f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    one: dict[str, Any] = {"repository": _repository(prefix), "snapshot": name}
    api, ours = cluster.client.snapshot, present(cluster, prefix)
    if not ours:
        raise UnknownIndex(f"no index of the prefix {prefix!r} in the cluster: there is nothing to back up")
    with _explained(prefix, name):
        _register(cluster, prefix, location)
        body = {"indices": ",".join(ours), "ignore_unavailable": True, **WHOLE}  # one may be cleared away now
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
            f"the snapshot {name!r} is {found['state'].lower()} and is deleted again "
            f"({why}); see GET /_cluster/health for missing "
            "shards, and the disk of the repository, then take it again"
        )
    return _snapshot(found)


def list_snapshots(cluster: Cluster, prefix: str, *, location: str = "") -> list[Snapshot]:
    """Return the snapshots, the oldest first."""
    with _explained(prefix):
        _register(cluster, prefix, location)
        every: dict[str, Any] = {"repository": _repository(prefix), "snapshot": "*", "sort": "start_time"}
        return [_snapshot(found) for found in cluster.run(cluster.client.snapshot.get(**every))["snapshots"]]


def last_snapshot(cluster: Cluster, prefix: str) -> Snapshot | None:
    """Return the last whole snapshot; None where there is none or no folder for them is registered.

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
    """Return what a restore replaces: the indices of the prefix that are there."""
    return sorted(index for index, ours in _called_alike(cluster, prefix).items() if ours)


def _called_alike(cluster: Cluster, prefix: str) -> dict[str, bool]:
    """Return the indices that are called as a restore calls them, and of each whether it is ours."""
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
        InvalidCall: there is none of this name, it is not whole, or holds nothing of the prefix.
    """
    there = {found.name: found for found in list_snapshots(cluster, prefix, location=location)}
    if name not in there:
        known = ", ".join(there) or "none at all"
        raise InvalidCall(f"no snapshot {name!r} in the repository {_repository(prefix)}; there are: {known}")
    found = there[name]
    if found.state != "SUCCESS":
        raise InvalidCall(f"the snapshot {name!r} is {found.state.lower()}, not whole; restore another")
    if not _of_prefix(prefix, found.indices):
        raise InvalidCall(
            f"the snapshot {name!r} holds no index of the prefix {prefix!r} but {', '.join(found.indices)}; "
            "set SHRAG_ELASTICSEARCH__PREFIX to the one it was taken of"
        )
    return found


def restore(
    cluster: Cluster, prefix: str, found: Snapshot, there: Sequence[str], progress: Progress = no_progress
) -> None:
    """Make the indexes of the prefix what they were when the snapshot `find_snapshot` gave was taken.

    Args:
        cluster: where the indexes are.
        prefix: of their names.
        found: the snapshot.
        there: what `present` gave, and somebody agreed to lose: it is deleted first.
        progress: gets the counts of shards.

    Raises:
        IndexBusy: somebody writes to one of them.
        IndexNotWritten: another's index bears the name of one of them, and nothing is deleted; or a shard
            could not be restored, and the same call may be made again.
    """
    _refuse_while_written(cluster, prefix)
    wanted, alike = _of_prefix(prefix, found.indices), _called_alike(cluster, prefix)
    if foreign := [index for index in wanted if not alike.get(index, True)]:
        raise IndexNotWritten(
            f"nothing is restored or deleted: SHRAG did not make {', '.join(foreign)}, which has the name "
            f"of what {found.name!r} holds; take it away"
        )
    for index in there:  # each its own request: many names make too long an address
        cluster.run(cluster.client.indices.delete(index=index, ignore_unavailable=True))
    body = {"indices": ",".join(wanted), "include_aliases": True, **WHOLE}
    with _explained(prefix, found.name):
        api = cluster.client.snapshot
        cluster.run(api.restore(repository=_repository(prefix), snapshot=found.name, body=body))
    _wait_until_restored(cluster, prefix, progress)


def _refuse_while_written(cluster: Cluster, prefix: str) -> None:
    """Raise IndexBusy where somebody writes to an index of the prefix."""
    where: dict[str, Any] = {"index": leases(prefix), "ignore_unavailable": True}
    now = int(time.time())
    cluster.run(cluster.client.indices.refresh(**where))
    held: dict[str, Any] = {"query": {"range": {"until": {"gt": now}}}, "allow_partial_search_results": False}
    for hit in cluster.run(cluster.client.search(**held, **where))["hits"]["hits"]:
        holder, until = hit["_source"]["holder"].rpartition("-")[0], hit["_source"]["until"]
        raise IndexBusy(
            f"a process on {holder} is writing to {hit['_id']}; nothing was deleted: wait for it, then try "
            f"again (if it was killed, its hold ends in {until - now} s)"
        )


def _wait_until_restored(cluster: Cluster, prefix: str, progress: Progress) -> None:
    """Wait for all primary shards, as long as they move; copies of them may follow."""
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
                f"not restored: {missing} ({_why_unassigned(cluster)}); mend that and give the same "
                "command again"
            )
        time.sleep(POLL_S)


def _why_unassigned(cluster: Cluster) -> str:
    """Return what the cluster says of the first shard that has no place."""
    explanation = cluster.run(cluster.client.options(ignore_status=400).cluster.allocation_explain())
    details = explanation.get("unassigned_info", {}).get("details") or explanation.get("allocate_explanation")
    return str(details).splitlines()[0][:300] if details else "unassigned"


def _register(cluster: Cluster, prefix: str, location: str) -> None:
    """Register the folder where that was not done; who may only take snapshots can use a registered one."""
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
def _explained(prefix: str, name: str = "") -> Iterator[None]:
    """Turn what the server says of repositories and snapshots into one line with the next step."""
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
    """Return what a restore may have to wait for, as the API selects indices."""
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
