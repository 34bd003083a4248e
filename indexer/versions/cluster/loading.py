"""An index in a cluster during loading: creation, cloning, and merging."""

import asyncio
import time
from typing import Any

from elastic_transport import ObjectApiResponse
from elasticsearch import AsyncElasticsearch

from indexer.analysis import Decompound, UserDictionary
from indexer.errors import EngineRefused
from indexer.versions.cluster.mapping import WHILE_LOADING, index_body

READY_WITHIN_S = 60
ANSWER_LIMIT_S = 10
FLUSH_INTERVAL_S = 3.0
QUERY_INTERVAL_S = 0.2
IDLE_POLLS = 25  # polls without a running merge until the cluster counts as done


async def create_for_loading(
    client: AsyncElasticsearch,
    index: str,
    analyzer: str,
    decompound: Decompound,
    shards: int,
    meta: dict[str, Any],
    dictionary: UserDictionary | None = None,
) -> None:
    """Create an empty index, whose mapping has `meta` from the start."""
    body = index_body(analyzer, decompound, shards=shards, meta=meta, dictionary=dictionary)
    await create_placed(client, index, body)


async def start_from(client: AsyncElasticsearch, base: str, index: str, meta: dict[str, Any]) -> None:
    """Clone a published index by hard links, open for writing.

    Its mapping has the `meta` of the published index until it is replaced by `meta`.
    """
    made = await _patient(client).indices.clone(
        index=base,
        target=index,
        timeout=f"{READY_WITHIN_S}s",
        settings={"index": {"blocks.write": None, "auto_expand_replicas": False, **WHILE_LOADING}},
    )
    await _require_allocated(client, index, made)
    await client.indices.put_mapping(index=index, meta=meta)


async def create_placed(client: AsyncElasticsearch, index: str, body: dict[str, Any]) -> None:
    """Create an index, and wait for the allocation of its shards; EngineRefused if that fails."""
    made = await _patient(client).indices.create(index=index, **body, timeout=f"{READY_WITHIN_S}s")
    await _require_allocated(client, index, made)


async def is_placed(client: AsyncElasticsearch, index: str, within_s: float) -> bool:
    """Wait for the allocation of all shards; return whether it succeeded."""
    patient = client.options(ignore_status=408, request_timeout=within_s + ANSWER_LIMIT_S)
    health = await patient.cluster.health(
        index=index, wait_for_status="yellow", timeout=f"{int(1000 * within_s)}ms"
    )
    return not health["timed_out"]


def _patient(client: AsyncElasticsearch) -> AsyncElasticsearch:
    return client.options(request_timeout=READY_WITHIN_S + ANSWER_LIMIT_S)


async def _require_allocated(client: AsyncElasticsearch, index: str, made: ObjectApiResponse[Any]) -> None:
    """Delete an index whose shards were not allocated."""
    if not made["shards_acknowledged"]:
        await client.indices.delete(index=index)
        raise EngineRefused(
            f"the cluster allocated no shards of index {index} within {READY_WITHIN_S} s",
            remedy="see GET /_cluster/allocation/explain (often a full disk), then repeat the command",
        )


async def merge(client: AsyncElasticsearch, index: str, *, settle_s: float) -> None:
    """Merge each shard to one segment, so that BM25 statistics exclude deleted passages.

    The cluster retains deleted passages for replicas of the shard, and releases them every 30 seconds. The
    function waits for this up to `settle_s` seconds after the first merge.
    """
    deadline = None
    while True:
        await client.indices.flush(index=index)
        await client.indices.forcemerge(index=index, max_num_segments=1, wait_for_completion=False)
        stats = await _merged(client, index)
        deadline = deadline or time.monotonic() + settle_s
        if not stats["docs"]["deleted"] or time.monotonic() > deadline:
            return
        await asyncio.sleep(FLUSH_INTERVAL_S)


async def _merged(client: AsyncElasticsearch, index: str) -> dict[str, Any]:
    """Wait for running merges, and return the statistics."""
    idle = 0
    while True:
        await client.indices.refresh(index=index)
        answer = await client.indices.stats(index=index, metric="segments,merge,docs")
        total: dict[str, Any] = answer["_all"]["primaries"]
        idle = 0 if total["merges"]["current"] else idle + 1
        if idle > IDLE_POLLS or total["segments"]["count"] <= answer["_shards"]["successful"]:
            return total
        await asyncio.sleep(QUERY_INTERVAL_S)
