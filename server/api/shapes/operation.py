"""Whether the server can answer, how it is, and who asks."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Alive(TypedDict):
    """The process lives."""

    status: Literal["ok"]
    errors: NotRequired[Annotated[list[str], Field(description="codes of what keeps it from checking keys")]]


class Ready(TypedDict):
    """Questions can be answered."""

    status: Literal["ok"]
    indexes: Annotated[int, Field(description="how many there are")]
    errors: NotRequired[Annotated[list[str], Field(description="codes of those that cannot be opened")]]


class Session(TypedDict):
    """Who asks, and whether a key is needed; null and empty for who shows none."""

    keys_needed: bool
    signed_in: Annotated[bool, Field(description="by the page's cookie")]
    key: Annotated[str | None, Field(description="its id")]
    label: str | None
    scopes: list[str]
    indexes: Annotated[list[str] | None, Field(description="that the key opens; null: all")]
    sources: Annotated[list[str] | None, Field(description="that the key opens; null: all that are offered")]
    expires: str | None


class Process(TypedDict):
    """The process that answers."""

    shrag: str
    started: str
    process: int
    workers: int
    engine: str
    language_model: str | None


class Health(TypedDict):
    """What is wrong now, as this process knows."""

    stopping: bool
    indexes_listed: Annotated[bool, Field(description="the engine could be asked which indexes there are")]
    model_left_alone: Annotated[bool | None, Field(description="it failed too often; null: there is none")]
    not_opened: Annotated[list[str], Field(description="indexes, each with why")]


class Work(TypedDict):
    """Calls of one kind that are under way or wait, in all processes of the server."""

    running: int
    places: int
    waiting: int


class StageTimes(TypedDict):
    """How long a stage of a search took."""

    searches: float
    mean_ms: float


class Status(TypedDict):
    """What an operator looks at; for keys of the scope admin."""

    server: Process
    health: Health
    indexes: list[dict[str, Any]]
    work: dict[str, Work]
    times: dict[str, StageTimes]
    keys: Annotated[list[dict[str, Any]], Field(description="without what they open")]
