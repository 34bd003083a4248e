"""Many documents in few requests."""

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
    """Send actions of the client's bulk helper; yield the answers to those that the cluster refuses.

    Those that come back as passing failures are sent again, with growing pauses, for as long as the settings
    have patience. What is to be deleted or updated and is not there is no refusal.

    Args:
        cluster: where to.
        actions: `delete` and `update` by `_op_type`, without one documents that are written.
        at_once: actions of a request, at most.
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
