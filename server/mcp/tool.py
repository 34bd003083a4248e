"""A tool: what it is called with, what it gives, and what does its work."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict
from starlette.requests import HTTPConnection

from server.addresses import public_address
from server.limits.gate import Work
from server.services import Backends, Services
from server.sources.asked_of import AskedOf, asked_of

A = TypeVar("A", bound=BaseModel)


class Arguments(BaseModel):
    """What a tool is called with; "" and null are as good as nothing, as models write them."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Desk:
    """What a tool works with: what all doors share, who asks, and the index that is meant without a name.

    Over stdio nobody but the person who has started the process asks: there is no connection, and no gate.
    """

    services: Backends
    connection: HTTPConnection | None = None
    index: str | None = None

    async def index_named(self, name: str | None) -> str:
        """Return the name of the index that is meant; raises as `OpenIndexes.chosen`."""
        return await self.services.indexes.chosen(name or self.index)

    async def asked_of(self, index: str | None, sources: Sequence[str]) -> AskedOf:
        """Open what is meant; raises as `server.sources.asked_of.asked_of`."""
        return await asked_of(self.services, index or (None if sources else self.index), sources)

    @property
    def public(self) -> str:
        """Where readers reach the server."""
        return public_address(self.services.server, self.connection)

    @asynccontextmanager
    async def admitted(self, work: Work) -> AsyncIterator[None]:
        """Hold a place to do some work in."""
        if self.connection is None:
            yield
            return
        services: Services = self.connection.state.services
        async with services.gate.admit(self.connection, work):
            yield


@dataclass(frozen=True, slots=True)
class Given:
    """What a tool gives: values for programs, and a text for a model to read; without one it is the JSON."""

    values: BaseModel
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool of the protocol; `description` is what a model decides by."""

    name: str
    title: str
    description: str
    arguments: type[A]
    output: type[BaseModel]
    work: Work
    run: Callable[[A, Desk], Awaitable[Given]]


AnyTool = Tool[Any]
