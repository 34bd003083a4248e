"""Delays for frequent refusals: the caller waits for each, and then has to connect again.

A caller who retries without back-off would otherwise get thousands of refusals a second, and use up the
processor time of other callers. Only refusals are delayed, never admitted calls.
"""

import asyncio
import time
from contextlib import suppress
from random import uniform

from starlette.types import Receive, Scope

from server.access.callers import Visit
from server.errors import Stopping
from server.limits.rates import Buckets, Rate
from server.monitoring import metrics
from server.monitoring.call_log import NOT_LET_IN
from server.services import Services
from server.transport.bodies import is_cheap_to_skip
from server.transport.leaving import unless_stopping

ANSWERED_AT_ONCE = Rate(per_minute=60, burst=20)  # refusals per caller
HELD_S = 1.0, 3.0  # a random time between these, so that calls refused together do not return together


def is_to_be_held(status: int, visit: Visit, buckets: Buckets) -> bool:
    """Return whether this status is a refusal, and the caller has had too many of them."""
    if status not in NOT_LET_IN:
        return False
    return not buckets.take(f"refused {visit.caller.counted_as}", ANSWERED_AT_ONCE).allowed


async def hold(scope: Scope, receive: Receive, services: Services, visit: Visit) -> float:
    """Delay an answer until its time is up, the caller leaves or the server stops; return the seconds."""
    began, seconds = time.perf_counter(), uniform(*HELD_S)  # noqa: S311 - no secret
    visit.open_call.close()
    with metrics.HELD.track_inprogress(), suppress(TimeoutError, Stopping):
        async with asyncio.timeout(seconds):
            await unless_stopping(services, _left(scope, receive))
    return time.perf_counter() - began


async def _left(scope: Scope, receive: Receive) -> None:
    """Wait until the caller leaves. A body that is too large to skip is not read."""
    if not is_cheap_to_skip(scope):
        await asyncio.Event().wait()
    while (await receive())["type"] != "http.disconnect":
        pass
