"""The sources of papers that can be searched instead of an index."""

import asyncio
from typing import Annotated, Any, NotRequired

from fastapi import APIRouter
from pydantic import Field
from typing_extensions import TypedDict

from server.api.schemas import Shaped
from server.limits.gate import Read
from server.services import Shared

router = APIRouter(prefix="/api/v1", tags=["indexes"])


class Source(TypedDict):
    """A source of papers that can be searched instead of an index."""

    name: str
    kind: Annotated[str, Field(description="index, elasticsearch, openalex …")]
    description: NotRequired[Annotated[str, Field(description="its content")]]
    private: Annotated[bool, Field(description="questions stay within the institution")]


class UnopenedSource(TypedDict):
    """A source that cannot be opened."""

    name: str
    kind: str
    description: NotRequired[str]
    error: str


class Sources(TypedDict):
    """The offered sources."""

    sources: list[Source | UnopenedSource]


@router.get("/sources")
async def sources(services: Shared, _: Read) -> Annotated[dict[str, Any], Shaped(Sources)]:
    """List the offered sources, and whether questions to them leave the institution."""
    offered = services.sources
    return {"sources": list(await asyncio.gather(*map(offered.described, offered.names())))}
