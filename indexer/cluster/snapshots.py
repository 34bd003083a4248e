"""Backup and restore of all indexes of a prefix: snapshots in a folder that all servers of a cluster mount.

A snapshot holds the indexes PREFIX-* with their aliases and PREFIX.*, but not who is writing just now. A
restore makes the cluster's indexes of the prefix what they were: what is there is deleted first, and that
must be confirmed. The folder is a repository of the type `fs`, called PREFIX-backups in the cluster.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from elasticsearch import ApiError, AsyncElasticsearch, NotFoundError

from indexer.cluster.connection import Cluster, reason_of
from indexer.cluster.names import leases
from indexer.errors import EngineRefused, IndexBusy, IndexNotWritten, InvalidCall, UnknownIndex
from indexer.requests import Progress, no_progress

POLL_S = 0.5

NAME_TAKEN = ("snapshot_name_already_in_use_exception", "already exists", "snapshot with the same name")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One backup; `state` is SUCCESS where it is whole."""

    name: str
    state: str
    taken: str
    indices: tuple[str, ...]
    shards: int
    seconds: float


def repository_of(prefix: str) -> str:
    """Name the repository in the cluster."""
    return f"{prefix}-backups"


def patterns(prefix: str) -> list[str]:
    """Return what a backup holds, as the API selects indices."""
    return [f"{prefix}-*", f"{prefix}.*", f"-{leases(prefix)}"]


def snapshot_body(prefix: str) -> dict[str, Any]:
    """Return the body that takes a snapshot: whole or not at all, and nothing of the cluster's own state."""
    return {"indices": ",".join(patterns(prefix)), "include_global_state": False, "partial": False}


def restore_body(indices: Sequence[str]) -> dict[str, Any]:
    """Return the body that brings indices back under their names, aliases with them."""
    return {
        "indices": ",".join(indices),
        "include_global_state": False,
        "include_aliases": True,
        "partial": False,
    }


def backup(
    cluster: Cluster, prefix: str, name: str = "", *, location: str = "", progress: Progress = no_progress
) -> Snapshot:
    """Take a snapshot of all indexes of the prefix and wait until it is whole.

    Args:
        name: of the snapshot; the date and time (UTC) where none is given.
        location: a folder within the servers' `path.repo`; as registered before, or the prefix.

    Raises:
        InvalidCall: the name is taken or no name.
        UnknownIndex: there is nothing to back up.
        EngineRefused: the repository cannot be used.
        IndexNotWritten: shards failed; what was written is taken away again.
    """
    name = name or f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    return cluster.run(_backup(cluster.client, prefix, name, location, progress))


def list_snapshots(cluster: Cluster, prefix: str, *, location: str = "") -> list[Snapshot]:
    """Return the snapshots, the oldest first."""
    return cluster.run(_list(cluster.client, prefix, location))


def present(cluster: Cluster, prefix: str) -> list[str]:
    """Return what a restore replaces: the indices of the prefix that are there."""
    return cluster.run(_present(cluster.client, prefix))


def find_snapshot(cluster: Cluster, prefix: str, name: str, *, location: str = "") -> Snapshot:
    """Return a snapshot that can be restored.

    Raises:
        InvalidCall: there is none of this name, it is not whole, or holds nothing of the prefix.
    """
    return cluster.run(_find(cluster.client, prefix, name, location))


def restore(
    cluster: Cluster,
    prefix: str,
    name: str,
    *,
    replace: bool = False,
    location: str = "",
    progress: Progress = no_progress,
) -> Snapshot:
    """Make the indexes of the prefix what they were when the snapshot was taken.

    Raises:
        InvalidCall: as `find_snapshot`; or indices are there and `replace` is false.
        IndexBusy: somebody writes to one of them.
        IndexNotWritten: a shard could not be restored; the same call may be made again.
    """
    patience = cluster.settings.patience_s
    return cluster.run(_restore(cluster.client, prefix, name, location, replace, patience, progress))


async def _backup(
    client: AsyncElasticsearch, prefix: str, name: str, location: str, progress: Progress
) -> Snapshot:
    repository = repository_of(prefix)
    if not await _present(client, prefix):
        raise UnknownIndex(f"no index of the prefix {prefix!r} in the cluster: there is nothing to back up")
    with _repository_told(repository, name):
        await _open_repository(client, prefix, location)
        await client.snapshot.create(
            repository=repository, snapshot=name, wait_for_completion=False, body=snapshot_body(prefix)
        )
    while (taken := await _get(client, repository, name)).state in ("IN_PROGRESS", "STARTED"):
        status = await client.snapshot.status(repository=repository, snapshot=name)
        shards = status["snapshots"][0]["shards_stats"]
        progress("taking a snapshot", shards["done"], shards["total"])
        await asyncio.sleep(POLL_S)
    if taken.state != "SUCCESS":
        failures = (await client.snapshot.get(repository=repository, snapshot=name))["snapshots"][0]
        await client.snapshot.delete(repository=repository, snapshot=name)
        reasons = [failure.get("reason", "") for failure in failures.get("failures", ())]
        why = failures.get("reason") or next(iter(reasons), "")
        raise IndexNotWritten(
            f"the snapshot {name!r} is {taken.state.lower()} and is deleted again ({why}); see "
            "GET /_cluster/health for missing shards, and the disk of the repository, then take it again"
        )
    return taken


async def _list(client: AsyncElasticsearch, prefix: str, location: str) -> list[Snapshot]:
    repository = repository_of(prefix)
    with _repository_told(repository):
        await _open_repository(client, prefix, location)
        answer = await client.snapshot.get(repository=repository, snapshot="*", sort="start_time")
    return [_snapshot(found) for found in answer["snapshots"]]


async def _find(client: AsyncElasticsearch, prefix: str, name: str, location: str) -> Snapshot:
    there = {found.name: found for found in await _list(client, prefix, location)}
    if name not in there:
        known = ", ".join(there) or "none at all"
        raise InvalidCall(
            f"no snapshot {name!r} in the repository {repository_of(prefix)}; there are: {known}"
        )
    found = there[name]
    if found.state != "SUCCESS":
        raise InvalidCall(f"the snapshot {name!r} is {found.state.lower()}, not whole; restore another")
    if not _of_prefix(prefix, found.indices):
        raise InvalidCall(
            f"the snapshot {name!r} holds no index of the prefix {prefix!r} but {', '.join(found.indices)}; "
            "set SHRAG_ELASTICSEARCH__PREFIX to the one it was taken of"
        )
    return found


async def _restore(
    client: AsyncElasticsearch,
    prefix: str,
    name: str,
    location: str,
    replace: bool,
    patience_s: float,
    progress: Progress,
) -> Snapshot:
    found = await _find(client, prefix, name, location)
    there = await _present(client, prefix)
    if there and not replace:
        raise InvalidCall(
            f"restoring {name!r} deletes what is there of the prefix {prefix!r}: {', '.join(there)}; "
            "confirm it with --yes"
        )
    await _refuse_while_written(client, prefix)
    for index in there:  # each its own request: many names make too long an address
        await client.indices.delete(index=index, ignore_unavailable=True)
    wanted = _of_prefix(prefix, found.indices)
    with _repository_told(repository_of(prefix), name):
        await client.snapshot.restore(
            repository=repository_of(prefix),
            snapshot=name,
            wait_for_completion=False,
            body=restore_body(wanted),
        )
    await _wait_until_restored(client, prefix, patience_s, progress)
    return found


async def _refuse_while_written(client: AsyncElasticsearch, prefix: str) -> None:
    """Raise IndexBusy where somebody writes to an index of the prefix."""
    index, now = leases(prefix), int(time.time())
    await client.indices.refresh(index=index, ignore_unavailable=True)
    held = await client.search(
        index=index,
        query={"range": {"until": {"gt": now}}},
        size=1,
        ignore_unavailable=True,
        allow_partial_search_results=False,
    )
    for hit in held["hits"]["hits"]:
        holder, until = hit["_source"]["holder"].rpartition("-")[0], hit["_source"]["until"]
        raise IndexBusy(
            f"a process on {holder} is writing to {hit['_id']}; nothing was deleted: wait for it, then try "
            f"again (if it was killed, its hold ends in {until - now} s)"
        )


async def _wait_until_restored(
    client: AsyncElasticsearch, prefix: str, patience_s: float, progress: Progress
) -> None:
    """Wait for all primary shards; copies of them may follow."""
    last_move, before = time.monotonic(), -1
    while True:
        health = await client.cluster.health(index=patterns(prefix), level="indices", expand_wildcards="all")
        indices = health["indices"]
        total = sum(index["number_of_shards"] for index in indices.values())
        done = sum(index["active_primary_shards"] for index in indices.values())
        progress("restoring", done, total)
        if done == total:
            return
        if done != before or health["initializing_shards"]:
            last_move, before = time.monotonic(), done
        elif time.monotonic() - last_move > patience_s:
            missing = [
                name
                for name, one in indices.items()
                if one["active_primary_shards"] < one["number_of_shards"]
            ]
            raise IndexNotWritten(
                f"not restored: {', '.join(missing)} ({await _why_unassigned(client, missing[0])}); mend "
                "that and give the same command again"
            )
        await asyncio.sleep(POLL_S)


async def _why_unassigned(client: AsyncElasticsearch, index: str) -> str:
    health = await client.cluster.health(index=index, level="shards")
    shards = health["indices"][index]["shards"]
    number = next((int(number) for number, shard in shards.items() if not shard["primary_active"]), None)
    if number is None:
        return "since then it has found its place"
    told = await client.cluster.allocation_explain(index=index, shard=number, primary=True)
    details = told.get("unassigned_info", {}).get("details") or told.get("allocate_explanation", "")
    return str(details).splitlines()[0][:300] if details else "unassigned"


async def _present(client: AsyncElasticsearch, prefix: str) -> list[str]:
    answer = await client.indices.get_settings(
        index=patterns(prefix), name="index.uuid", expand_wildcards="all", allow_no_indices=True
    )
    return sorted(answer.body)


async def _get(client: AsyncElasticsearch, repository: str, name: str) -> Snapshot:
    return _snapshot((await client.snapshot.get(repository=repository, snapshot=name))["snapshots"][0])


async def _open_repository(client: AsyncElasticsearch, prefix: str, location: str) -> None:
    """Register the folder where that was not done; who may only take snapshots can use a registered one."""
    repository = repository_of(prefix)
    try:
        known = (await client.snapshot.get_repository(name=repository))[repository]["settings"]["location"]
    except NotFoundError:
        known = ""
    if not known or location not in ("", known):
        body = {"type": "fs", "settings": {"location": location or prefix, "compress": True}}
        await client.snapshot.create_repository(name=repository, body=body, verify=True)


@contextmanager
def _repository_told(repository: str, name: str = "") -> Iterator[None]:
    """Turn what the server says of repositories and snapshots into one line with the next step."""
    try:
        yield
    except ApiError as error:
        kind, reason = reason_of(error)
        if any(words in f"{kind} {reason}" for words in NAME_TAKEN):
            raise InvalidCall(f"the name {name!r} is taken; give the snapshot another, or none") from error
        if "invalid_snapshot_name" in kind:
            raise InvalidCall(f"{name!r} cannot be a snapshot's name: {reason}") from error
        if "concurrent_snapshot" in kind:
            raise IndexBusy(
                f"another backup or restore is under way ({reason}); wait until it has ended"
            ) from error
        if "path.repo" in reason:
            raise EngineRefused(
                f"the servers may not write there ({reason}); set path.repo in all nodes' elasticsearch.yml "
                "to a folder that all of them mount and restart them, or give a --location within it"
            ) from error
        if "repository" in kind or "repository" in str(error.message) or "access_denied" in kind:
            raise EngineRefused(
                f"the repository {repository} cannot be used ({reason}); its folder must be mounted on every "
                "node and be writable for the servers' user (in the containers: 1000, group 0)"
            ) from error
        raise


def _of_prefix(prefix: str, indices: Sequence[str]) -> list[str]:
    return [
        index
        for index in indices
        if index != leases(prefix)
        and any(fnmatchcase(index, pattern) for pattern in (f"{prefix}-*", f"{prefix}.*"))
    ]


def _snapshot(found: dict[str, Any]) -> Snapshot:
    return Snapshot(
        name=found["snapshot"],
        state=found["state"],
        taken=found["start_time"],
        indices=tuple(sorted(found["indices"])),
        shards=found["shards"]["total"],
        seconds=found["duration_in_millis"] / 1000,
    )
