"""`/metrics` for Prometheus."""

import asyncio

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from server.limits.gate import Admin
from server.monitoring import metrics
from server.services import Shared

router = APIRouter(tags=["operation"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def read_metrics(services: Shared, _: Admin) -> Response:
    """Return the metrics of all processes; needs a key with the scope admin."""
    for index, version in services.indexes.versions().items():
        metrics.VERSION.labels(index).set(version)
    return Response(await asyncio.to_thread(metrics.exposition), media_type=CONTENT_TYPE_LATEST)
