"""Whether the process lives, and whether it can answer."""

from typing import Any

from fastapi import APIRouter

from server.errors import Stopping
from server.leaving import STOPPING
from server.services import Shared

router = APIRouter(tags=["operation"])


@router.get("/healthz")
async def healthz() -> dict[str, Any]:
    """Say that the process lives."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(services: Shared) -> dict[str, Any]:
    """Say that questions can be answered, and from how many indexes."""
    if services.stopping.is_set():
        raise Stopping(STOPPING)
    return {"status": "ok", "indexes": len(await services.indexes.names())}
