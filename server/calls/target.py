"""The target of a call: an index, or sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from base.errors import InvalidCall
from retriever.index import OpenIndex
from server.services import Backends


@dataclass(frozen=True, slots=True)
class CallTarget:
    """The target of a call; `index` is None if `sources` are named."""

    opened: OpenIndex
    index: str | None
    sources: tuple[str, ...] = ()

    def as_record(self) -> dict[str, Any]:
        """Return the target's fields of a response."""
        return {"index": self.index, **({"sources": list(self.sources)} if self.sources else {})}


async def open_target(services: Backends, index: str | None, sources: Sequence[str] = ()) -> CallTarget:
    """Open the target of a call: sources, an index, or by default the only index.

    Raises:
        InvalidCall: the call names both, or neither although there are several indexes.
        UnknownSource: a source is not offered to the caller.
        ResourceError: as opening an index.
    """
    if sources and index:
        raise InvalidCall("a call takes an index or sources, not both; leave out one of them")
    if sources:
        opened = services.sources.index(sources)
        return CallTarget(opened, None, opened.names)
    name = await services.indexes.chosen(index)
    return CallTarget(await services.indexes.get(name), name)
