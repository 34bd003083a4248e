"""The sources of papers that can be searched instead of an index."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter

from server.api.shapes import Shaped
from server.api.shapes.indexes import Sources
from server.limits.gate import Read
from server.services import Shared

router = APIRouter(prefix="/api/v1", tags=["indexes"])


@router.get("/sources")
async def sources(services: Shared, _: Read) -> Annotated[dict[str, Any], Shaped(Sources)]:
    """List the offered sources, and whether questions to them leave the institution."""
    offered = services.sources
    return {"sources": list(await asyncio.gather(*map(offered.described, offered.names())))}
