"""Bulk requests."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from elasticsearch.helpers import async_streaming_bulk

from indexer.versions.cluster.connection import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    NOT_FOUND,
    TRANSIENT,
    Cluster,
    pauses_within,
)


async def send_in_bulk(
    cluster: Cluster, actions: Sequence[dict[str, Any]], *, at_once: int
) -> AsyncIterator[dict[str, Any]]:
    """Send actions with the client's bulk helper; yield the results of refused actions.

    Transient failures are retried with growing pauses, up to `patience_s`. Deleting or updating a missing
    document is not a refusal.

    Args:
        cluster: the cluster.
        actions: `delete` and `update` by `_op_type`; without it, documents to write.
        at_once: maximal number of actions per request.
    """
    settings = cluster.settings
    results = async_streaming_bulk(
        cluster.client.options(max_retries=0),
        actions,
        chunk_size=at_once,
        max_chunk_bytes=settings.request_bytes,
        raise_on_error=False,
        max_retries=pauses_within(settings.patience_s),
        initial_backoff=FIRST_PAUSE_S,
        max_backoff=LONGEST_PAUSE_S,
        retry_on_status=TRANSIENT,
    )
    async for taken, item in results:
        [(kind, answer)] = item.items()
        if not taken and (kind == "index" or answer["status"] != NOT_FOUND):
            yield answer
