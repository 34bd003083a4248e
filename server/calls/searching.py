"""A search of the published version, or of sources, with the version's manifest."""

from fastapi import Request

from indexer.versions.manifest import Manifest
from retriever.index import SearchIndex
from retriever.requests.request import SearchRequest
from retriever.search import search
from retriever.stages.hits import SearchResult
from server.calls.target import CallTarget
from server.services import Services
from server.transport.leaving import while_connected


async def searched(
    request: Request, services: Services, of: CallTarget, asked: SearchRequest
) -> tuple[SearchResult, Manifest]:
    """Search an index, or sources; cancel the search when the reader leaves.

    Raises:
        RetrieverError: the request is invalid, or none of the sources answers.
    """

    async def of_version(version: SearchIndex) -> tuple[SearchResult, Manifest]:
        return await search(version, asked, services.settings.retriever), version.manifest

    return await while_connected(request, services, of.opened.ask(of_version))
