"""A search of the published version, or of sources, with the version's manifest."""

from fastapi import Request

from indexer.versions.manifest import Manifest
from retriever.index import SearchIndex
from retriever.search import search
from retriever.searching.hits import SearchResult
from retriever.searching.request import SearchRequest
from server.services import Services
from server.sources.asked_of import AskedOf
from server.transport.leaving import while_connected


async def searched(
    request: Request, services: Services, of: AskedOf, asked: SearchRequest
) -> tuple[SearchResult, Manifest]:
    """Search an index, or sources; cancel the search when the reader leaves.

    Raises:
        RetrieverError: the request is invalid, or none of the sources answers.
    """

    async def of_version(version: SearchIndex) -> tuple[SearchResult, Manifest]:
        return await search(version, asked, services.settings.retriever), version.manifest

    return await while_connected(request, services, of.opened.ask(of_version))
