"""A tool: what it is called with, what it gives, and what does its work."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict
from starlette.requests import HTTPConnection

from server.addresses import public_address
from server.calls.asked_of import AskedOf, asked_of
from server.limits.gate import Work
from server.services import Backends, Services

A = TypeVar("A", bound=BaseModel)
Progress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]


async def _unheard(*_: object) -> None:
    """Tell nobody."""


def _needed_first(schema: dict[str, Any]) -> None:
    needed = schema.get("required", ())
    schema["properties"] = dict(sorted(schema["properties"].items(), key=lambda each: each[0] not in needed))


class Arguments(BaseModel):
    """What a tool is called with; "" and null are as good as nothing, as models write them."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_needed_first)


@dataclass(frozen=True, slots=True)
class Desk:
    """What a tool works with: what all doors share, who asks, and the index that is meant without a name.

    Over stdio nobody but the person who has started the process asks: there is no connection, and no gate.
    `progress` takes how far the work is, of how much, and in words, for a client that wants to know.
    """

    services: Backends
    connection: HTTPConnection | None = None
    index: str | None = None
    progress: Progress = _unheard

    async def index_named(self, name: str | None) -> str:
        """Return the name of the index that is meant; raises as `OpenIndexes.chosen`."""
        return await self.services.indexes.chosen(name or self.index)

    async def asked_of(self, index: str | None, sources: Sequence[str]) -> AskedOf:
        """Open what is meant; raises as `server.calls.asked_of.asked_of`."""
        return await asked_of(self.services, index or (None if sources else self.index), sources)

    @property
    def public(self) -> str:
        """Where readers reach the server."""
        return public_address(self.services.server, self.connection)

    @asynccontextmanager
    async def admitted(self, work: Work, *, ends_by_itself: bool) -> AsyncIterator[None]:
        """Hold a place to do some work in."""
        if self.connection is None:
            yield
            return
        services: Services = self.connection.state.services
        async with services.gate.admit(self.connection, work, is_stream=ends_by_itself):
            yield


@dataclass(frozen=True, slots=True)
class Given:
    """What a tool gives: values for programs, and a text for a model to read; without one it is the JSON."""

    values: BaseModel
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool of the protocol; `description` is what a model decides by.

    One that ends by itself gives what it has come to when its time is over or the server stops.
    """

    name: str
    title: str
    description: str
    arguments: type[A]
    output: type[BaseModel]
    work: Work
    run: Callable[[A, Desk], Awaitable[Given]]
    ends_by_itself: bool = False


AnyTool = Tool[Any]
