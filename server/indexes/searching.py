"""A search of the version that answers, with what that version is."""

from fastapi import Request

from indexer.manifest import Manifest
from retriever.hits import SearchResult
from retriever.index import SearchIndex
from retriever.request import SearchRequest
from retriever.search import search
from server.services import Services
from server.transport.leaving import while_connected


async def searched(
    request: Request, services: Services, name: str | None, asked: SearchRequest
) -> tuple[SearchResult, Manifest]:
    """Search an index, without a name the only one; the search ends when the reader leaves.

    Raises:
        IndexerError, RetrieverError: an index that cannot be opened, a request that cannot be used.
    """
    index = await services.indexes.get(await services.indexes.chosen(name))

    async def of_version(version: SearchIndex) -> tuple[SearchResult, Manifest]:
        return await search(version, asked, services.settings.retriever), version.manifest

    return await while_connected(request, services, index.ask(of_version))
