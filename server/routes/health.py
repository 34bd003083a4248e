"""Whether the process lives, and whether it can answer."""

from typing import Annotated, Any

from fastapi import APIRouter

from server.errors import Starting, Stopping
from server.problems import problem
from server.services import Shared
from server.shapes import Shaped
from server.shapes.operation import Alive, Ready
from server.stopping import STOPPING

router = APIRouter(tags=["operation"])


@router.get("/healthz")
async def healthz() -> Annotated[dict[str, Any], Shaped(Alive)]:
    """Say that the process lives."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(services: Shared) -> Annotated[dict[str, Any], Shaped(Ready)]:
    """Say that questions can be answered; of the index that calls mean, why it cannot be opened.

    Names and reasons in words are for who has a key: `/api/v1/indexes`.
    """
    if services.stopping.is_set():
        raise Stopping(STOPPING)
    indexes = services.indexes
    if not indexes.started:
        await indexes.names()  # tells why, where they cannot be listed
        raise Starting("the index is being opened; ask again in a moment")
    errors = [problem(error)["code"] for error in indexes.failures.values()]
    return {"status": "ok", "indexes": len(await indexes.names()), **({"errors": errors} if errors else {})}
