"""A tool: its arguments, its result, and its function."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, TypeAlias, TypeVar, get_args

from annotated_types import Le
from pydantic import BaseModel, Field, WithJsonSchema, create_model
from starlette.requests import HTTPConnection

from base.calls import Call, Flag
from server.addresses import public_address
from server.limits.gate import Work
from server.services import Backends, Services
from server.targets import CallTarget, open_target

A = TypeVar("A", bound=Call)
Progress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]


async def _no_progress(*_: object) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of a tool's call: the shared backends, the connection, and the default index.

    Over stdio the only caller is the person who started the process, so there is no connection and no gate.
    `progress` reports the done work, the total and a text to clients that want it.
    """

    services: Backends
    connection: HTTPConnection | None = None
    index: str | None = None
    progress: Progress = _no_progress

    async def chosen_index(self, name: str | None) -> str:
        """Return the name of the index of a call; raises as `OpenIndexes.chosen`."""
        return await self.services.indexes.chosen(name or self.index)

    async def open_target(self, index: str | None, sources: Sequence[str]) -> CallTarget:
        """Open the index or the sources of a call; raises as `server.targets.open_target`."""
        return await open_target(self.services, index or (None if sources else self.index), sources)

    @property
    def public(self) -> str:
        """The address of the server for readers."""
        return public_address(self.services.server, self.connection)

    @asynccontextmanager
    async def admitted(self, work: Work, *, ends_by_itself: bool) -> AsyncIterator[None]:
        """Hold a place during the work; raises as `Gate.admit`."""
        if self.connection is None:
            yield
            return
        services: Services = self.connection.state.services
        async with services.gate.admit(self.connection, work, is_stream=ends_by_itself):
            yield


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool: values for programs, and text for a model (by default the values as JSON)."""

    values: BaseModel
    text: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool, made from a field of its call.

    `description`, `default` and `most` replace the description, the default and the upper bound of the field.
    A required argument is never null.
    """

    field: str
    description: str = ""
    required: bool = False
    default: Any = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool of the protocol; models choose it by its `description`.

    With `ends_by_itself` it returns partial results at its time limit or when the server stops.
    """

    name: str
    title: str
    description: str
    call: type[A]
    arguments: Mapping[str, Argument]
    output: type[BaseModel]
    work: Work
    run: Callable[[A, ToolContext], Awaitable[ToolResult]]
    ends_by_itself: bool = False

    def call_of(self, values: Mapping[str, Any]) -> A:
        """Return the call with these arguments; raise ValidationError if they are invalid.

        Models write "" and null for absent values, so both count as absent.
        """
        optional = {name for name, argument in self.arguments.items() if not argument.required}
        present = {
            name: value for name, value in values.items() if name not in optional or value not in (None, "")
        }
        given = dict(self._model().model_validate(present))
        return self.call(
            **{
                argument.field: given[name]
                for name, argument in self.arguments.items()
                if given[name] is not None or argument.required
            }
        )

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments, the required ones first."""
        return self._model().model_json_schema()

    def _model(self) -> type[BaseModel]:
        return _arguments_model(self.call, tuple(self.arguments.items()))


AnyTool = Tool[Any]


@cache
def _arguments_model(call: type[Call], arguments: tuple[tuple[str, Argument], ...]) -> type[BaseModel]:
    """Return a model of the arguments of a tool, made from the fields of its call."""
    made: dict[str, Any] = {}
    for name, argument in sorted(arguments, key=lambda each: not each[1].required):
        field = call.model_fields[argument.field]
        parts = [part for part in field.metadata if not isinstance(part, Flag)]
        if argument.most is not None:
            parts = [*(part for part in parts if not isinstance(part, Le)), Le(argument.most)]
        annotation: Any = field.annotation
        is_optional = type(None) in get_args(annotation)
        if argument.required and is_optional:
            annotation = get_args(annotation)[0]
            parts = [part for part in parts if not isinstance(part, WithJsonSchema)]  # it allows null
        kind: Any = Annotated[annotation, *parts] if parts else annotation
        if not argument.required and not is_optional:
            kind = kind | None
        kind = Annotated[kind, Field(description=argument.description or field.description)]
        default = field.default if argument.default is None else argument.default
        made[name] = kind if argument.required else (kind, default)
    return create_model(f"{call.__name__}Arguments", __base__=Call, **made)
