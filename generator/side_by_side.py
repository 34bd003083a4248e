"""Work side by side, none of which goes on when another fails."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

Made = TypeVar("Made")


async def all_of(works: Iterable[Coroutine[Any, Any, Made]]) -> list[Made]:
    """Return what each work gives, in order; where one fails, end the others and raise what it raised."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
