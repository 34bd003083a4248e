"""Who may write to an index: one holder at a time, over all machines, by a document that is kept fresh.

The holder is known by a name kept beside its build, so that the same command, given again after a kill, need
not wait until its own lease runs out. Machines' clocks should agree to within some seconds.
"""

import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from elasticsearch import AsyncElasticsearch, ConflictError, NotFoundError

from base.files.durable import write_durably
from indexer.errors import EngineRefused, EngineUnreachable, IndexBusy
from indexer.versions.cluster.connection import Cluster

LASTS_S = 120
RENEWED_EVERY_S = 30
LOOKED_BEFORE_S = 30  # before its end, a lease that was not renewed is looked at
HOLDER = "holder"  # the file with this place's name


class Lease:
    """A lease that is held; `check` and `check_if_old` tell whether it still is."""

    def __init__(self, cluster: Cluster, index: str, key: str, holder: str) -> None:
        """Name what is held; nothing is asked yet."""
        self._cluster = cluster
        self._index = index
        self._key = key
        self._holder = holder
        self._until = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True, name="lease")

    def take(self, name: str) -> None:
        """Take the lease and keep it fresh; IndexBusy where another holds it."""
        self._write(name, anew=True)
        self._thread.start()

    def check(self, name: str) -> None:
        """Raise IndexBusy if another has taken it since: this process must have slept for long."""
        self._write(name, anew=False)

    def check_if_old(self, name: str) -> None:
        """Check if the lease is about to run out unnoticed; costs nothing while it is fresh."""
        if time.time() > self._until - LOOKED_BEFORE_S:
            self.check(name)

    def release(self) -> None:
        """Give it back; a cluster that is gone forgets it by itself."""
        self._ended.set()
        self._thread.join()
        with suppress(EngineUnreachable, EngineRefused):
            self._cluster.run(_release(self._cluster.client, self._index, self._key, self._holder))

    def _write(self, name: str, *, anew: bool) -> None:
        until = int(time.time()) + LASTS_S
        document = {"holder": self._holder, "until": until}
        self._cluster.run(_write(self._cluster.client, self._index, self._key, document, name, anew=anew))
        self._until = until

    def _renew(self) -> None:
        while not self._ended.wait(RENEWED_EVERY_S):
            try:
                self._write(self._key, anew=False)
            except (EngineUnreachable, EngineRefused):
                continue  # perhaps only now; `check` decides
            except IndexBusy:
                return


@contextmanager
def held_lease(cluster: Cluster, index: str, key: str, name: str, place: Path) -> Iterator[Lease]:
    """Hold the lease of the index called `name`, as the holder that `place` remembers."""
    lease = Lease(cluster, index, key, holder_at(place))
    lease.take(name)
    try:
        yield lease
    finally:
        lease.release()


def holder_at(place: Path) -> str:
    """Return the name under which a place holds leases; it is made when first asked for, and kept."""
    path = place / HOLDER
    if not path.exists():
        write_durably(path, f"{socket.gethostname()}-{uuid.uuid4().hex}\n")
    return path.read_text(encoding="utf-8").strip()


async def _write(
    client: AsyncElasticsearch, index: str, key: str, document: dict[str, Any], name: str, *, anew: bool
) -> None:
    """Write the lease; nobody else's change comes between.

    It is taken `anew` if it is free, run out, or one's own; renewed only if it is still one's own.
    """
    found = await _found(client, index, key)
    if found is None:
        if not anew:
            raise _lost(name)
        condition: dict[str, Any] = {"op_type": "create"}
    else:
        _refuse_if_others(found["_source"], document["holder"], name, anew=anew)
        condition = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
    try:
        await client.index(index=index, id=key, document=document, **condition)
    except ConflictError:  # somebody was faster: another holder, or this one's own other thread or first try
        found = await _found(client, index, key)
        if found is None or found["_source"]["holder"] != document["holder"]:
            raise IndexBusy(
                f"another process has just begun to write to index {name!r}",
                remedy="wait for it, then try again",
                index=name,
            ) from None


async def _found(client: AsyncElasticsearch, index: str, key: str) -> Any:
    try:
        return await client.get(index=index, id=key)
    except NotFoundError:
        return None


def _refuse_if_others(lease: dict[str, Any], holder: str, name: str, *, anew: bool) -> None:
    other, left = lease["holder"], lease["until"] - int(time.time())
    if other == holder:
        return
    if not anew:
        raise _lost(name)
    if left > 0:
        raise IndexBusy(
            f"another process, on {other.rpartition('-')[0]}, is writing to index {name!r}",
            remedy=f"wait for it, then try again (if it was killed, its hold ends in {left} s)",
            index=name,
        )


def _lost(name: str) -> IndexBusy:
    return IndexBusy(
        f"this process stood still for so long that another took over index {name!r}; what it had not "
        "published is given up",
        remedy="give the same command again",
        index=name,
    )


async def _release(client: AsyncElasticsearch, index: str, key: str, holder: str) -> None:
    with suppress(NotFoundError, ConflictError):
        found = await client.get(index=index, id=key)
        if found["_source"]["holder"] == holder:
            unchanged = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
            await client.delete(index=index, id=key, **unchanged)
