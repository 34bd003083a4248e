"""A tool: its arguments, its result, and its function."""

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


async def _no_progress(*_: object) -> None:
    """Ignore progress."""


def _needed_first(schema: dict[str, Any]) -> None:
    needed = schema.get("required", ())
    schema["properties"] = dict(sorted(schema["properties"].items(), key=lambda each: each[0] not in needed))


class Arguments(BaseModel):
    """The arguments of a tool; models write "" and null for absent values, so both count as absent."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_needed_first)


@dataclass(frozen=True, slots=True)
class Desk:
    """The context of a tool: the shared backends, the connection, and the default index.

    Over stdio the only caller is the person who started the process, so there is no connection and no gate.
    `progress` reports the done work, the total and a text to clients that want it.
    """

    services: Backends
    connection: HTTPConnection | None = None
    index: str | None = None
    progress: Progress = _no_progress

    async def index_named(self, name: str | None) -> str:
        """Return the name of the chosen index; raises as `OpenIndexes.chosen`."""
        return await self.services.indexes.chosen(name or self.index)

    async def asked_of(self, index: str | None, sources: Sequence[str]) -> AskedOf:
        """Open what is meant; raises as `server.calls.asked_of.asked_of`."""
        return await asked_of(self.services, index or (None if sources else self.index), sources)

    @property
    def public(self) -> str:
        """The address of the server for readers."""
        return public_address(self.services.server, self.connection)

    @asynccontextmanager
    async def admitted(self, work: Work, *, ends_by_itself: bool) -> AsyncIterator[None]:
        """Hold a place for some work."""
        if self.connection is None:
            yield
            return
        services: Services = self.connection.state.services
        async with services.gate.admit(self.connection, work, is_stream=ends_by_itself):
            yield


@dataclass(frozen=True, slots=True)
class Given:
    """The result of a tool: values for programs, and text for a model, by default the values as JSON."""

    values: BaseModel
    text: str = ""


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool of the protocol; models choose it by its `description`.

    With `ends_by_itself` it returns partial results at its time limit or when the server stops.
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
