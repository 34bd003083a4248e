"""Many searches in one request to a cluster; each must succeed on all shards."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from elasticsearch import NotFoundError

from indexer.errors import EngineRefused, VersionGone
from indexer.versions.cluster.connection import TRANSPORT_RETRIES, Cluster, cause_in, growing_pauses

# Errors of a search whose node died: the cluster tries another copy, but not in the middle of a search, which
# stays on its first node.
NODE_LOST = frozenset(
    {"node_disconnected_exception", "node_not_connected_exception", "connect_transport_exception"}
)


class ManySearches:
    """Sends searches of one index, and retries searches whose node was lost."""

    def __init__(self, cluster: Cluster, index: str, options: Mapping[str, Any]) -> None:
        """Take the options for the header of each search."""
        self._cluster = cluster
        self._index = index
        self._header = {**options, "allow_partial_search_results": False}

    async def send(self, bodies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers to the bodies, in their order.

        Raises:
            EngineUnreachable: no server answers.
            EngineRefused: it does not answer one of the searches.
            VersionGone: the index was deleted.
        """
        answers = await self._answered(bodies)
        pauses = growing_pauses()
        for _ in range(TRANSPORT_RETRIES):
            lost = [
                place for place, answer in enumerate(answers) if cause_in(answer.get("error"))[0] in NODE_LOST
            ]
            if not lost:
                break
            await asyncio.sleep(next(pauses))
            again = await self._answered([bodies[place] for place in lost])
            for place, answer in zip(lost, again, strict=True):
                answers[place] = answer
        for answer in answers:
            if "error" in answer:
                await self._refuse(answer)
        return answers

    async def _answered(self, bodies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        if not bodies:
            return []
        searches = [part for body in bodies for part in (self._header, body)]
        try:
            sent = self._cluster.client.msearch(index=self._index, searches=searches)
            answers: list[dict[str, Any]] = (await self._cluster.call(sent))["responses"]
        except EngineRefused as error:
            if isinstance(error.__cause__, NotFoundError):
                self._gone(error)
            raise
        return answers

    async def _refuse(self, answer: dict[str, Any]) -> NoReturn:
        kind, reason = cause_in(answer.get("error"))
        exists = self._cluster.client.indices.exists
        # An index that is deleted in the middle of a search is reported as missing shards.
        if kind == "index_not_found_exception" or not await self._cluster.call(exists(index=self._index)):
            self._gone(None)
        if (
            kind == "no_shard_available_action_exception"
            or kind in NODE_LOST
            or answer.get("status") in {429, 503}
        ):
            raise EngineRefused(
                f"Elasticsearch at {self._cluster.settings.url} cannot search all of {self._index} now "
                f"({reason}): shards are missing (a red cluster), starting, or overloaded; see "
                "GET /_cluster/health, and try again"
            )
        raise EngineRefused(f"Elasticsearch at {self._cluster.settings.url} refused a search: {reason}")

    def _gone(self, error: Exception | None) -> NoReturn:
        raise VersionGone(
            f"index {self._index} is gone from the cluster: it was replaced by a newer version, or deleted",
            remedy="open it again",
        ) from error
