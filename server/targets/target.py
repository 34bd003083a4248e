"""The target of a call: an index, or sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from base.errors import InvalidCall
from base.records import IF_ANY, Recordable
from retriever.index import OpenIndex
from server.services import Backends


class Target(TypedDict):
    """An index or sources."""

    index: Annotated[str | None, Field(description="null if sources were searched")]
    sources: Annotated[tuple[str, ...], IF_ANY, Field(description="searched instead of an index")]


@dataclass(frozen=True, slots=True)
class CallTarget(Recordable):
    """The target of a call; `index` is None if `sources` are named."""

    opened: OpenIndex
    index: str | None
    sources: tuple[str, ...] = ()

    def record_fields(self) -> Target:
        """Return the target's fields of a response."""
        return {"index": self.index, "sources": self.sources}


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
