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

from indexer.cluster.connection import Cluster
from indexer.errors import EngineRefused, EngineUnreachable, IndexBusy
from indexer.versions import write_durably

LASTS_S = 120
RENEWED_EVERY_S = 30
HOLDER = "holder"  # the file with this place's name


class Lease:
    """A lease that is held; `check` tells whether it still is."""

    def __init__(self, cluster: Cluster, index: str, key: str, holder: str) -> None:
        """Name what is held; nothing is asked yet."""
        self._cluster = cluster
        self._index = index
        self._key = key
        self._holder = holder
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True, name="lease")

    def take(self, name: str) -> None:
        """Take the lease and keep it fresh; IndexBusy where another holds it."""
        self._cluster.run(_write(self._cluster.client, self._index, self._key, self._holder, name))
        self._thread.start()

    def check(self, name: str) -> None:
        """Raise IndexBusy if another has taken it since: this process must have slept for long."""
        self._cluster.run(_write(self._cluster.client, self._index, self._key, self._holder, name))

    def release(self) -> None:
        """Give it back; a cluster that is gone forgets it by itself."""
        self._ended.set()
        self._thread.join()
        with suppress(EngineUnreachable, EngineRefused):
            self._cluster.run(_release(self._cluster.client, self._index, self._key, self._holder))

    def _renew(self) -> None:
        while not self._ended.wait(RENEWED_EVERY_S):
            try:
                self._cluster.run(
                    _write(self._cluster.client, self._index, self._key, self._holder, self._key)
                )
            except (EngineUnreachable, EngineRefused):
                continue  # perhaps only now; `check` decides
            except IndexBusy:
                return


@contextmanager
def held_lease(cluster: Cluster, index: str, key: str, name: str, place: Path) -> Iterator[Lease]:
    """Hold the lease of the index called `name`, as the holder that `place` remembers."""
    lease = Lease(cluster, index, key, _holder_at(place))
    lease.take(name)
    try:
        yield lease
    finally:
        lease.release()


def _holder_at(place: Path) -> str:
    path = place / HOLDER
    if not path.exists():
        write_durably(path, f"{socket.gethostname()}-{uuid.uuid4().hex}\n")
    return path.read_text(encoding="utf-8").strip()


async def _write(client: AsyncElasticsearch, index: str, key: str, holder: str, name: str) -> None:
    """Write the lease if it is free, run out, or one's own; nobody else's change comes between."""
    document = {"holder": holder, "until": int(time.time()) + LASTS_S}
    condition: dict[str, Any] = {"op_type": "create"}
    try:
        found = await client.get(index=index, id=key)
    except NotFoundError:
        pass
    else:
        other, until = found["_source"]["holder"], found["_source"]["until"]
        if other != holder and until > time.time():
            raise IndexBusy(
                f"another process, on {other.rpartition('-')[0]}, is writing to index {name!r}; wait for it, "
                f"then try again (if it was killed, its hold ends in {until - int(time.time())} s)"
            )
        condition = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
    try:
        await client.index(index=index, id=key, document=document, **condition)
    except ConflictError:
        raise IndexBusy(
            f"another process has just begun to write to index {name!r}; wait for it, then try again"
        ) from None


async def _release(client: AsyncElasticsearch, index: str, key: str, holder: str) -> None:
    with suppress(NotFoundError, ConflictError):
        found = await client.get(index=index, id=key)
        if found["_source"]["holder"] == holder:
            unchanged = {"if_seq_no": found["_seq_no"], "if_primary_term": found["_primary_term"]}
            await client.delete(index=index, id=key, **unchanged)
