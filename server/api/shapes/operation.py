"""Liveness, readiness, status and session."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class Alive(TypedDict):
    """The process is alive."""

    status: Literal["ok"]
    errors: NotRequired[
        Annotated[list[str], Field(description="codes of errors that prevent checks of keys")]
    ]


class Ready(TypedDict):
    """Questions can be answered."""

    status: Literal["ok"]
    indexes: Annotated[int, Field(description="number of indexes")]
    errors: NotRequired[Annotated[list[str], Field(description="codes of the indexes that cannot be opened")]]


class Session(TypedDict):
    """The caller, and whether a key is needed; null and empty without a key."""

    keys_needed: bool
    signed_in: Annotated[bool, Field(description="by the page's cookie")]
    key: Annotated[str | None, Field(description="its id")]
    label: str | None
    scopes: list[str]
    indexes: Annotated[list[str] | None, Field(description="allowed by the key; null: all")]
    sources: Annotated[list[str] | None, Field(description="allowed by the key; null: all offered ones")]
    expires: str | None


class Process(TypedDict):
    """The answering process."""

    shrag: str
    started: str
    process: int
    workers: int
    engine: str
    language_model: str | None


class Health(TypedDict):
    """Current problems, as far as this process knows."""

    stopping: bool
    indexes_listed: Annotated[bool, Field(description="the engine could list the indexes")]
    model_left_alone: Annotated[
        bool | None, Field(description="paused after repeated failures; null: no model is set")
    ]
    not_opened: Annotated[list[str], Field(description="indexes, each with the reason")]


class Work(TypedDict):
    """Running and waiting calls of one kind, in all processes of the server."""

    running: int
    places: int
    waiting: int


class StageTimes(TypedDict):
    """Mean time of a stage of searches."""

    searches: float
    mean_ms: float


class Status(TypedDict):
    """The status for an operator; needs a key with the scope admin."""

    server: Process
    health: Health
    indexes: list[dict[str, Any]]
    work: dict[str, Work]
    times: dict[str, StageTimes]
    keys: Annotated[list[dict[str, Any]], Field(description="without their indexes and sources")]
