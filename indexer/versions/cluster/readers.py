"""Readers of versions: a renewed document for each open index, which keeps its version from being pruned.

The document of a crashed reader expires. The clocks of the machines should agree within some seconds.
"""

import asyncio
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from elastic_transport import TransportError
from elasticsearch import ApiError, AsyncElasticsearch

from indexer.errors import EngineRefused, EngineUnreachable
from indexer.versions.cluster.connection import Cluster

LEASE_S = 120
RENEWAL_INTERVAL_S = 30
DELETED_PER_REQUEST = 1_000
BODY: dict[str, Any] = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}},
    "mappings": {
        "dynamic": "strict",
        "properties": {
            "index": {"type": "keyword"},
            "holder": {"type": "keyword"},
            "until": {"type": "long"},
        },
    },
}


@contextmanager
def registered(cluster: Cluster, readers: str, index: str) -> Iterator[None]:
    """Keep a version's index from being pruned; EngineRefused if this key may not write the document."""
    key = uuid.uuid4().hex
    cluster.run_patiently(lambda: _write(cluster.client, readers, key, index))
    renewing = cluster.start(_keep_fresh(cluster.client, readers, key, index))
    try:
        yield
    finally:
        renewing.cancel()
        with suppress(EngineUnreachable, EngineRefused):  # on an unreachable cluster it expires
            cluster.run(cluster.client.options(ignore_status=404).delete(index=readers, id=key))


async def _write(client: AsyncElasticsearch, readers: str, key: str, index: str) -> None:
    document = {"index": index, "holder": socket.gethostname(), "until": int(time.time()) + LEASE_S}
    await client.index(index=readers, id=key, document=document)


async def _keep_fresh(client: AsyncElasticsearch, readers: str, key: str, index: str) -> None:
    while True:
        await asyncio.sleep(RENEWAL_INTERVAL_S)
        with suppress(ApiError, TransportError):  # possibly temporary
            await _write(client, readers, key, index)


async def is_read(client: AsyncElasticsearch, readers: str, index: str) -> bool:
    """Check whether a version's index has readers, and delete expired ones."""
    where: dict[str, Any] = {"index": readers, "ignore_unavailable": True}
    await client.indices.refresh(**where)
    where["allow_partial_search_results"] = False
    now = int(time.time())
    ran_out = {"range": {"until": {"lte": now}}}
    found = await client.search(query=ran_out, size=DELETED_PER_REQUEST, source=False, **where)
    for hit in found["hits"]["hits"]:
        await client.options(ignore_status=404).delete(index=readers, id=hit["_id"])
    held = {"bool": {"filter": [{"term": {"index": index}}], "must_not": [ran_out]}}
    found = await client.search(query=held, size=0, track_total_hits=True, **where)
    return bool(found["hits"]["total"]["value"])
