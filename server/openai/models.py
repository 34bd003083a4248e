"""Models: the indexes that there are."""

import asyncio
from datetime import datetime
from typing import Any
from unicodedata import normalize

from indexer.errors import IndexerError
from server.openai.errors import CallRefused
from server.services import Services

SHOWN_NAMES = 10


async def models(services: Services) -> list[dict[str, Any]]:
    """List the indexes in OpenAI's form, `created` when the version that answers was published."""
    return await asyncio.gather(*(_described(services, name) for name in await services.indexes.names()))


async def model(services: Services, name: str) -> dict[str, Any]:
    """Describe one index.

    Raises:
        CallRefused: there is none of that name.
    """
    return await _described(services, await require_model(services, name))


async def require_model(services: Services, name: str) -> str:
    """Return the name of an index that there is.

    Raises:
        CallRefused: there is none of that name.
    """
    name = normalize("NFC", name)
    if not await services.indexes.knows(name):
        names = await services.indexes.names()
        listed = ", ".join(names[:SHOWN_NAMES]) or "there are none yet"
        raise CallRefused(
            f"there is no model {name[:100]!r}: the models are the indexes ({listed})",
            param="model",
            code="model_not_found",
            status=404,
        )
    return name


async def _described(services: Services, name: str) -> dict[str, Any]:
    try:
        published = (await services.indexes.manifest(name)).published
        created = int(datetime.fromisoformat(published).timestamp())
    except (IndexerError, OSError, ValueError):
        created = 0  # its questions will tell what is wrong
    return {"id": name, "object": "model", "created": created, "owned_by": "shrag"}
