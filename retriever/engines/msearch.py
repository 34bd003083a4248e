"""Many searches in one request to a cluster; each must succeed on all shards.

An index may be used from several event loops: a command runs one for each question. The client belongs to
one, so it has its own loop, in a thread.
"""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from indexer.errors import EngineRefused
from indexer.settings import ElasticsearchSettings
from indexer.versions.cluster.connection import (
    TRANSPORT_RETRIES,
    cause_in,
    connect_async,
    growing_pauses,
    map_client_errors,
    version_gone,
)

# Errors of a search whose node died: the cluster tries another copy, but not in the middle of a search.
NODE_LOST = {"node_disconnected_exception", "node_not_connected_exception", "connect_transport_exception"}
MISSING = {"no_shard_available_action_exception", *NODE_LOST}


class ManySearches:
    """Sends searches of one index, and retries searches whose node was lost."""

    def __init__(self, settings: ElasticsearchSettings, index: str, options: Mapping[str, Any]) -> None:
        """Take the options for the header of each search; sends no request."""
        self._settings, self._index = settings, index
        self._header = {**options, "allow_partial_search_results": False}
        self._client = connect_async(settings)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="elasticsearch")
        self._thread.start()

    async def send(self, bodies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers to the bodies, in their order; cancelling it cancels the request.

        Raises:
            EngineUnreachable: no server answers.
            EngineRefused: it does not answer one of the searches.
            VersionGone: the index was deleted.
        """
        if not bodies:
            return []
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._send(bodies), self._loop))

    async def _send(self, bodies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        answers: dict[int, dict[str, Any]] = {}
        left, pauses = list(range(len(bodies))), growing_pauses()
        with map_client_errors(self._settings):
            for attempt in range(TRANSPORT_RETRIES + 1):
                searches = [part for place in left for part in (self._header, bodies[place])]
                found = await self._client.msearch(index=self._index, searches=searches)
                answers |= dict(zip(left, found["responses"], strict=True))
                left = [place for place in left if cause_in(answers[place].get("error"))[0] in NODE_LOST]
                if not left or attempt == TRANSPORT_RETRIES:
                    break
                await asyncio.sleep(next(pauses))
            for answer in answers.values():
                if "error" in answer:
                    await self._refuse(answer)
        return [answers[place] for place in range(len(bodies))]

    async def _refuse(self, answer: dict[str, Any]) -> NoReturn:
        kind, reason = cause_in(answer["error"])
        # An index that is deleted in the middle of a search is reported as missing shards.
        if kind == "index_not_found_exception" or not await self._client.indices.exists(index=self._index):
            raise version_gone(self._index)
        where = f"Elasticsearch at {self._settings.url}"
        if kind in MISSING or answer.get("status") in {429, 503}:
            what = (
                f"{where} cannot search all of {self._index} now ({reason}): shards are missing or starting"
            )
            raise EngineRefused(what, remedy="see GET /_cluster/health, and try again")
        raise EngineRefused(f"{where} refused a search: {reason}")

    def close(self) -> None:
        """Cancel pending requests, close the connections and stop the loop; can be called repeatedly."""
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _end(self) -> None:
        pending = asyncio.all_tasks() - {asyncio.current_task()}
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        await self._client.close()
