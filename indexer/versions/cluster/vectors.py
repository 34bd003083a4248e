"""Vectors of passages in a cluster: finding passages without a vector, and uploading vectors.

A version based on another is a clone with its vectors. Other vectors are sent as partial updates, which keep
the other fields of a document.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

from elasticsearch.helpers import async_streaming_bulk

from base.windows import windows
from indexer.encoders import VectorFingerprint
from indexer.errors import EngineRefused
from indexer.vectors.adding import row_of
from indexer.vectors.store import VectorStore
from indexer.versions.cluster.connection import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    NOT_FOUND,
    TRANSIENT,
    Cluster,
    cause_in,
    pauses_within,
)
from indexer.versions.cluster.documents import document_id
from indexer.versions.cluster.mapping import VectorField, vector_field
from indexer.versions.cluster.reading import PAGE, passages_of_index, refresh


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


FIELD = "vector"
WITH = {"exists": {"field": FIELD}}
WITHOUT = {"bool": {"must_not": [WITH]}}


def prepare(cluster: Cluster, index: str, fingerprint: VectorFingerprint) -> None:
    """Add the vector field to an index; without effect if the index already has it."""
    field = VectorField(fingerprint.dimensions, cluster.settings.vector_index, fingerprint.storage)
    properties = {FIELD: vector_field(field)}
    cluster.run_patiently(lambda: cluster.client.indices.put_mapping(index=index, properties=properties))


def place(
    cluster: Cluster, index: str, sources: Sequence[VectorStore], still_held: Callable[[], None]
) -> None:
    """Upload the vectors of all passages without one, each from the first source that has it.

    `still_held` raises if this process has lost its lease.
    """
    if not sources:
        return
    refresh(cluster, index)
    lacking = passages_of_index(cluster, index, query=WITHOUT)
    for left in windows(map(row_of, lacking), PAGE):
        for source in sources:
            still_held()
            held = source.known(left)
            vectors = source.matrix()
            updates = [
                (document_id(row.passage_id), vectors[place].tolist())
                for row, place in zip(left, held, strict=True)
                if place is not None
            ]
            cluster.run_patiently(partial(_send, cluster, index, updates))
            left = [row for row, place in zip(left, held, strict=True) if place is None]  # noqa: PLW2901


async def _send(cluster: Cluster, index: str, updates: Sequence[tuple[str, list[float]]]) -> None:
    """Send partial updates.

    Raises:
        EngineRefused: the cluster refuses a vector.
    """
    actions = [
        {"_op_type": "update", "_index": index, "_id": name, "doc": {FIELD: vector}}
        for name, vector in updates
    ]
    async for answer in send_in_bulk(cluster, actions, at_once=PAGE):
        raise EngineRefused(
            f"Elasticsearch at {cluster.settings.url} refuses the vector of passage {answer['_id']!r} "
            f"({answer['status']}: {cause_in(answer.get('error'))[1]}); nothing was "
            "published, and the encoded vectors are kept: fix the cause and repeat the command"
        )
