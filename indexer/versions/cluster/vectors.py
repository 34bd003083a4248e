"""Vectors of passages in a cluster: finding passages without a vector, and uploading vectors.

A version based on another is a clone with its vectors. Other vectors are sent as partial updates, which keep
the other fields of a document.
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
