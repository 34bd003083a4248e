"""Concurrent coroutines that are all cancelled when one fails."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

Made = TypeVar("Made")


async def all_of(works: Iterable[Coroutine[Any, Any, Made]]) -> list[Made]:
    """Run coroutines concurrently and return their results in order; the first error cancels the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
