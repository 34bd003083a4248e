"""What a call is asked of: an index, or sources in its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from base.errors import InvalidCall
from retriever.index import OpenIndex
from server.services import Backends


@dataclass(frozen=True, slots=True)
class AskedOf:
    """What questions are asked of; `index` is None where `sources` are named."""

    opened: OpenIndex
    index: str | None
    sources: tuple[str, ...] = ()

    def as_record(self) -> dict[str, Any]:
        """Return what an answer says of it."""
        return {"index": self.index, **({"sources": list(self.sources)} if self.sources else {})}


async def asked_of(services: Backends, index: str | None, sources: Sequence[str] = ()) -> AskedOf:
    """Open what a call names: sources, an index, without either the only index there is.

    Raises:
        InvalidCall: it names both, or nothing where there are several indexes.
        UnknownSource: a source that is not offered to the caller.
        ResourceError: as opening an index.
    """
    if sources and index:
        raise InvalidCall("a call is asked of an index or of sources, not of both; leave one of them out")
    if sources:
        opened = services.sources.index(sources)
        return AskedOf(opened, None, opened.names)
    name = await services.indexes.chosen(index)
    return AskedOf(await services.indexes.get(name), name)
