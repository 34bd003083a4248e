"""Whether the process lives, and whether it can answer."""

from typing import Annotated, Any

from fastapi import APIRouter

from server.api.shapes import Shaped
from server.api.shapes.operation import Alive, Ready
from server.errors import NothingOpens, Starting, Stopping
from server.problems.details import code_of
from server.processes.stopping import STOPPING
from server.services import Shared

router = APIRouter(tags=["operation"])


@router.get("/healthz")
async def healthz(services: Shared) -> Annotated[dict[str, Any], Shaped(Alive)]:
    """Say that the process lives, and by codes what keeps it from checking keys."""
    trouble = await services.keys.trouble()
    return {"status": "ok", **({"errors": [code_of(trouble)]} if trouble else {})}


@router.get("/readyz")
async def readyz(services: Shared) -> Annotated[dict[str, Any], Shaped(Ready)]:
    """Say that questions can be answered; of an index that cannot be opened, why. Nothing is asked for it.

    Names and reasons in words are for who has a key: `/api/v1/indexes`.
    """
    if services.stopping.is_set():
        raise Stopping(STOPPING)
    if not services.server.open and (trouble := await services.keys.trouble()):
        raise trouble
    indexes = services.indexes
    if not indexes.started:
        raise indexes.trouble or Starting("the index is being opened; ask again in a moment")
    errors = [code_of(error) for error in indexes.failures.values()]
    if indexes.opens_none:
        raise NothingOpens(f"no index can be opened: {', '.join(sorted(set(errors)))}")
    return {"status": "ok", "indexes": indexes.count, **({"errors": errors} if errors else {})}
