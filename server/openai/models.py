"""Models: the indexes, and the offered sources."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from unicodedata import normalize

from base.errors import ResourceError
from indexer.errors import UnknownIndex
from server.services import Services
from server.source_names import as_index, sources_named

SHOWN_NAMES = 10


@dataclass(frozen=True, slots=True)
class Model:
    """An index, or sources instead of one, under the name that programs use."""

    id: str
    index: str | None = None
    sources: tuple[str, ...] = ()


async def models(services: Services) -> list[dict[str, Any]]:
    """List the models in OpenAI's format; `created` is the time when an index version was published."""
    indexes = [Model(name, name) for name in await services.indexes.names()]
    sources = [Model(as_index(name), sources=(name,)) for name in services.sources.names()]
    return await asyncio.gather(*(_described(services, each) for each in (*indexes, *sources)))


async def model(services: Services, name: str) -> dict[str, Any]:
    """Describe one model; raises as `require_model`."""
    return await _described(services, await require_model(services, name))


async def require_model(services: Services, name: str) -> Model:
    """Return the index of a name, else sources: `source:NAME`, several separated by commas, or NAME alone.

    Raises:
        UnknownIndex: no index or source has the name.
    """
    name = normalize("NFC", name)
    if await services.indexes.knows(name):
        return Model(name, name)
    sources, offered = sources_named(name) or tuple(name.split(",")), services.sources.names()
    if set(sources) <= {*offered}:
        return Model(name, sources=sources)
    names = [*await services.indexes.names(), *map(as_index, offered)]
    listed = ", ".join(names[:SHOWN_NAMES]) or "there are none yet"
    raise UnknownIndex(
        f"no model {name[:100]!r}: the models are the indexes{' and sources' if offered else ''} ({listed})"
    )


async def _described(services: Services, model: Model) -> dict[str, Any]:
    created = 0
    if model.index:
        try:
            published = (await services.indexes.manifest(model.index)).published
            created = int(datetime.fromisoformat(published).timestamp())
        except (ResourceError, OSError, ValueError):
            pass  # questions to it will report the error
    return {"id": model.id, "object": "model", "created": created, "owned_by": "shrag"}
