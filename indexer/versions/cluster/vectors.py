"""Vectors of passages in a cluster: which passages have none, and how those that were encoded get there.

A version that starts from another is a clone of it, and holds its vectors already. Others are sent as partial
updates of the documents, which keep what else a document holds.
"""

from collections.abc import Callable, Sequence
from functools import partial

from base.windows import windows
from indexer.encoders import VectorFingerprint
from indexer.errors import EngineRefused
from indexer.vectors.adding import row_of
from indexer.vectors.store import VectorStore
from indexer.versions.cluster.bulk import send_in_bulk
from indexer.versions.cluster.connection import Cluster, cause_in
from indexer.versions.cluster.documents import document_id
from indexer.versions.cluster.mapping import VectorField, vector_field
from indexer.versions.cluster.reading import PAGE, passages_of_index, refresh

FIELD = "vector"
WITH = {"exists": {"field": FIELD}}
WITHOUT = {"bool": {"must_not": [WITH]}}


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
        EngineRefused: the cluster will not take one.
    """
    actions = [
        {"_op_type": "update", "_index": index, "_id": name, "doc": {FIELD: vector}}
        for name, vector in updates
    ]
    async for answer in send_in_bulk(cluster, actions, at_once=PAGE):
        raise EngineRefused(
            f"Elasticsearch at {cluster.settings.url} takes no vector of passage {answer['_id']!r} "
            f"({answer['status']}: {cause_in(answer.get('error'))[1]}); nothing was "
            "published, and what was encoded is kept: mend the cause and give the same command again"
        )
