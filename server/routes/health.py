"""Liveness, readiness, and metrics for Prometheus."""

import asyncio
from typing import Annotated, Literal, NotRequired

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field
from typing_extensions import TypedDict

from server.api.schemas import Shaped
from server.errors import NothingOpens, Starting, Stopping
from server.limits.gate import Admin
from server.monitoring import metrics
from server.problems import code_of
from server.services import Shared
from server.stopping import STOPPING

router = APIRouter(tags=["operation"])


class Alive(TypedDict):
    """The process is alive."""

    status: Literal["ok"]
    errors: NotRequired[
        Annotated[list[str], Field(description="codes of errors that prevent checks of keys")]
    ]


class Ready(TypedDict):
    """Questions can be answered."""

    status: Literal["ok"]
    indexes: Annotated[int, Field(description="number of indexes")]
    errors: NotRequired[Annotated[list[str], Field(description="codes of the indexes that cannot be opened")]]


@router.get("/healthz")
async def healthz(services: Shared) -> Annotated[Alive, Shaped(Alive)]:
    """Report that the process is alive, and the code of an error that prevents checks of keys."""
    trouble = services.keys.trouble()
    return {"status": "ok", "errors": [code_of(trouble)]} if trouble else {"status": "ok"}


@router.get("/readyz")
async def readyz(services: Shared) -> Annotated[Ready, Shaped(Ready)]:
    """Report that questions can be answered, and the errors of indexes that cannot be opened; runs no query.

    Names and messages need a key: `/api/v1/indexes`.
    """
    if services.stopping.is_set():
        raise Stopping(STOPPING)
    if not services.server.open and (trouble := services.keys.trouble()):
        raise trouble
    indexes = services.indexes
    if not indexes.started:
        raise indexes.trouble or Starting("the index is being opened; try again in a moment")
    errors = [code_of(error) for error in indexes.failures.values()]
    if indexes.opens_none:
        raise NothingOpens(f"no index can be opened: {', '.join(sorted(set(errors)))}")
    ready: Ready = {"status": "ok", "indexes": indexes.count}
    return {**ready, "errors": errors} if errors else ready


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def read_metrics(services: Shared, _: Admin) -> Response:
    """Return the metrics of all processes; needs the role operator."""
    for index, version in services.indexes.versions().items():
        metrics.VERSION.labels(index).set(version)
    return Response(await asyncio.to_thread(metrics.exposition), media_type=CONTENT_TYPE_LATEST)
