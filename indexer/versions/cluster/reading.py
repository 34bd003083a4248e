"""Reading all documents of an index in pages; a shard that does not answer is an error."""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any

from elasticsearch import AsyncElasticsearch

from base.errors import Remedy
from indexer.errors import EngineRefused, IndexDamaged
from indexer.files.schema import StoredPassage
from indexer.files.stored import place_in_paper
from indexer.versions.cluster.connection import Cluster
from indexer.versions.cluster.documents import from_document
from indexer.versions.cluster.node import AnswerTooLong

PAGE = 2_000  # documents per page


async def page_of(
    client: AsyncElasticsearch, index: str, *, after: list[Any] | None, **search: Any
) -> list[dict[str, Any]]:
    """Return the page of hits after the sort values `after`; empty at the end.

    Raises EngineRefused if the hits are not after them, as paging would not end.
    """
    size = PAGE
    while True:
        try:
            answer = await client.search(
                index=index,
                size=size,
                search_after=after,
                track_total_hits=False,
                allow_partial_search_results=False,
                **search,
            )
        except AnswerTooLong:
            if size == 1:
                raise
            size = max(1, size // 8)
        else:
            hits: list[dict[str, Any]] = answer["hits"]["hits"]
            if hits and after is not None and hits[-1]["sort"] <= after:
                raise EngineRefused(
                    f"the server repeats a page of {index}",
                    remedy="check the proxy before Elasticsearch, if there is one",
                )
            return hits


def passages_of_version(cluster: Cluster, index: str, most: int) -> Iterator[StoredPassage]:
    """Yield the passages of a published version in corpus order; IndexDamaged if more than `most`."""
    for number, passage in enumerate(passages_of_index(cluster, index)):
        if number == most:
            raise IndexDamaged(
                f"{index} contains more than the {most:,} passages written", remedy=Remedy.REBUILD
            )
        yield passage


def passages_of_index(cluster: Cluster, index: str, **search: Any) -> Iterator[StoredPassage]:
    """Yield the passages of an index, or those matching a search, in corpus order."""
    for _, record in groupby(_sources(cluster, index, search), key=lambda source: source["sequence"]):
        yield from sorted(map(from_document, record), key=place_in_paper)


def _sources(cluster: Cluster, index: str, search: dict[str, Any]) -> Iterator[dict[str, Any]]:
    order = [{"sequence": "asc"}, {"passage_id": "asc"}]
    after = None
    ask = partial(page_of, cluster.client, index, sort=order, **search)
    while hits := cluster.run_patiently(partial(ask, after=after)):
        yield from (hit["_source"] for hit in hits)
        after = hits[-1]["sort"]


def refresh(cluster: Cluster, index: str) -> None:
    """Make written documents visible to searches."""
    cluster.run_patiently(lambda: cluster.client.indices.refresh(index=index))


def count(
    cluster: Cluster, index: str, query: dict[str, Any] | None = None, *, just_written: bool = True
) -> int:
    """Return the number of documents that match a query, or of all.

    Recently written documents are included unless `just_written` is false, which requires only read rights.
    """
    if just_written:
        refresh(cluster, index)
    every: dict[str, Any] = {"match_all": {}}
    # Not the count API, which skips shards that do not answer.
    ask = partial(
        cluster.client.search,
        index=index,
        query=query or every,
        size=0,
        track_total_hits=True,
        allow_partial_search_results=False,
    )
    return int(cluster.run_patiently(ask)["hits"]["total"]["value"])
