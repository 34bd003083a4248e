"""Write leases: one holder per index across all machines, by a document that is renewed.

The name of the holder is stored next to its build, so that a repeated command after a kill does not wait for
its own lease to expire. The clocks of the machines should agree within some seconds.
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

LEASE_S = 120
RENEWAL_INTERVAL_S = 30
CHECK_BEFORE_EXPIRY_S = 30  # an unrenewed lease is checked this long before it expires
HOLDER = "holder"  # the file with the name of the holder


class Lease:
    """A lease held by this process; `check` and `check_if_old` verify that it still is."""

    def __init__(self, cluster: Cluster, index: str, key: str, holder: str) -> None:
        """Create a lease without sending a request."""
        self._cluster = cluster
        self._index = index
        self._key = key
        self._holder = holder
        self._until = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True, name="lease")

    def take(self, name: str) -> None:
        """Acquire the lease and renew it regularly; IndexBusy if another process holds it."""
        self._write(name, acquire=True)
        self._thread.start()

    def check(self, name: str) -> None:
        """Raise IndexBusy if another process has acquired it, after this one was suspended for long."""
        self._write(name, acquire=False)

    def check_if_old(self, name: str) -> None:
        """Check the lease only if it was not renewed recently."""
        if time.time() > self._until - CHECK_BEFORE_EXPIRY_S:
            self.check(name)

    def release(self) -> None:
        """Release the lease; on an unreachable cluster it expires."""
        self._ended.set()
        self._thread.join()
        with suppress(EngineUnreachable, EngineRefused):
            self._cluster.run(_release(self._cluster.client, self._index, self._key, self._holder))

    def _write(self, name: str, *, acquire: bool) -> None:
        until = int(time.time()) + LEASE_S
        document = {"holder": self._holder, "until": until}
        self._cluster.run(
            _write(self._cluster.client, self._index, self._key, document, name, acquire=acquire)
        )
        self._until = until

    def _renew(self) -> None:
        while not self._ended.wait(RENEWAL_INTERVAL_S):
            try:
                self._write(self._key, acquire=False)
            except (EngineUnreachable, EngineRefused):
                continue  # possibly temporary; `check` decides
            except IndexBusy:
                return


@contextmanager
def held_lease(cluster: Cluster, index: str, key: str, name: str, place: Path) -> Iterator[Lease]:
    """Hold the lease of the index `name` under the holder name stored at `place`."""
    lease = Lease(cluster, index, key, holder_at(place))
    lease.take(name)
    try:
        yield lease
    finally:
        lease.release()


def holder_at(place: Path) -> str:
    """Return the holder name stored at a place; it is created at the first call."""
    path = place / HOLDER
    if not path.exists():
        write_durably(path, f"{socket.gethostname()}-{uuid.uuid4().hex}\n")
    return path.read_text(encoding="utf-8").strip()


async def _write(
    client: AsyncElasticsearch, index: str, key: str, document: dict[str, Any], name: str, *, acquire: bool
) -> None:
    """Write the lease with optimistic concurrency control.

    With `acquire` it is acquired if it is free, expired, or already this holder's; otherwise only this
    holder's lease is renewed.
    """
    found = await _found(client, index, key)
    if found is None:
        if not acquire:
            raise _lost(name)
        condition: dict[str, Any] = {"op_type": "create"}
    else:
        _refuse_if_others(found["_source"], document["holder"], name, acquire=acquire)
        condition = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
    try:
        await client.index(index=index, id=key, document=document, **condition)
    except ConflictError:  # another write came first: another holder, another thread, or the first attempt
        found = await _found(client, index, key)
        if found is None or found["_source"]["holder"] != document["holder"]:
            raise IndexBusy(
                f"another process has just started writing to index {name!r}",
                remedy="wait for it, then try again",
                index=name,
            ) from None


async def _found(client: AsyncElasticsearch, index: str, key: str) -> Any:
    try:
        return await client.get(index=index, id=key)
    except NotFoundError:
        return None


def _refuse_if_others(lease: dict[str, Any], holder: str, name: str, *, acquire: bool) -> None:
    other, left = lease["holder"], lease["until"] - int(time.time())
    if other == holder:
        return
    if not acquire:
        raise _lost(name)
    if left > 0:
        raise IndexBusy(
            f"another process, on {other.rpartition('-')[0]}, is writing to index {name!r}",
            remedy=f"wait for it, then try again (if it was killed, its lease expires in {left} s)",
            index=name,
        )


def _lost(name: str) -> IndexBusy:
    return IndexBusy(
        f"this process was suspended for so long that another took over index {name!r}; its unpublished "
        "work is lost",
        remedy="repeat the command",
        index=name,
    )


async def _release(client: AsyncElasticsearch, index: str, key: str, holder: str) -> None:
    with suppress(NotFoundError, ConflictError):
        found = await client.get(index=index, id=key)
        if found["_source"]["holder"] == holder:
            unchanged = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
            await client.delete(index=index, id=key, **unchanged)
