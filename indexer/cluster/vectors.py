"""Vectors of passages in a cluster: which passages have none, and how those that were encoded get there.

A version that starts from another is a clone of it, and holds its vectors already. Others are sent as partial
updates of the documents, which keep what else a document holds.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from elasticsearch import AsyncElasticsearch
from elasticsearch.helpers import async_streaming_bulk

from indexer.cluster.connection import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    NOT_FOUND,
    PASSING,
    Cluster,
    pauses_within,
)
from indexer.cluster.documents import document_id, from_document
from indexer.cluster.mapping import VectorField, vector_field
from indexer.cluster.reading import PAGE, page_of
from indexer.encoders import VectorFingerprint
from indexer.errors import EngineRefused
from indexer.vectors.adding import row_of
from indexer.vectors.store import Row, VectorStore

FIELD = "vector"
WITHOUT = {"bool": {"must_not": [{"exists": {"field": FIELD}}]}}


def prepare(cluster: Cluster, index: str, fingerprint: VectorFingerprint) -> None:
    """Give an index the field for vectors, which one that has the same field does not notice."""
    field = VectorField(fingerprint.dimensions, cluster.settings.vector_index, fingerprint.storage)
    properties = {FIELD: vector_field(field)}
    cluster.run_patiently(lambda: cluster.client.indices.put_mapping(index=index, properties=properties))


def place(
    cluster: Cluster, index: str, sources: Sequence[VectorStore], still_held: Callable[[], None]
) -> None:
    """Send the vectors of all passages that have none there, from the first source that has each.

    `still_held` raises where this process may no longer write.
    """
    if not sources:
        return
    for left in _lacking(cluster, index):
        for source in sources:
            still_held()
            held = source.known(left)
            vectors = source.matrix()
            updates = [
                (document_id(row.passage_id), vectors[place].tolist())
                for row, place in zip(left, held, strict=True)
                if place is not None
            ]
            cluster.run_patiently(partial(_sent, cluster.client, index, updates, cluster))
            left = [row for row, place in zip(left, held, strict=True) if place is None]  # noqa: PLW2901


def count(cluster: Cluster, index: str) -> int:
    """Return how many passages have a vector."""
    cluster.run_patiently(lambda: cluster.client.indices.refresh(index=index))
    query = {"exists": {"field": FIELD}}
    return int(cluster.run_patiently(lambda: cluster.client.count(index=index, query=query))["count"])


def _lacking(cluster: Cluster, index: str) -> Iterator[list[Row]]:
    """Yield the passages without a vector, a page at a time, as they were when it began."""
    cluster.run_patiently(lambda: cluster.client.indices.refresh(index=index))
    order, after = [{"sequence": "asc"}, {"passage_id": "asc"}], None
    ask = partial(page_of, cluster.client, index, query=WITHOUT, sort=order)
    while hits := cluster.run_patiently(partial(ask, after=after)):
        yield [row_of(from_document(hit["_source"])) for hit in hits]
        after = hits[-1]["sort"]


async def _sent(
    client: AsyncElasticsearch, index: str, updates: Sequence[tuple[str, list[float]]], cluster: Cluster
) -> None:
    """Send partial updates, those again that come back as passing failures.

    Raises:
        EngineRefused: the cluster will not take one.
    """
    settings = cluster.settings
    actions: list[Any] = [
        {"_op_type": "update", "_index": index, "_id": name, "doc": {FIELD: vector}}
        for name, vector in updates
    ]
    results = async_streaming_bulk(
        client.options(max_retries=0),
        actions,
        chunk_size=PAGE,
        max_chunk_bytes=settings.request_bytes,
        raise_on_error=False,
        max_retries=pauses_within(settings.patience_s),
        initial_backoff=FIRST_PAUSE_S,
        max_backoff=LONGEST_PAUSE_S,
        retry_on_status=PASSING,
    )
    async for taken, item in results:
        answer = item["update"]
        if not taken and answer["status"] != NOT_FOUND:
            raise EngineRefused(
                f"Elasticsearch at {settings.url} takes no vector of passage {answer['_id']!r} "
                f"({answer['status']}: {(answer.get('error') or {}).get('reason', '')}); nothing was "
                "published, and what was encoded is kept: mend the cause and give the same command again"
            )
