"""A job: what the operator asked for, the command that runs it, and its state."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from base.errors import InvalidCall

Kind: TypeAlias = Literal["build", "verify", "backup"]
State: TypeAlias = Literal["running", "done", "failed", "stopped", "interrupted"]

INTERRUPTED = 130  # exit code of a command after SIGINT
MOST_PATHS = 20


class JobCall(BaseModel):
    """A job to start. A build needs an index and paths, a verification an index."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Annotated[Kind, Field(description="build an index, verify its files, or back up all indexes")]
    index: Annotated[str, Field(max_length=200, description="not for backups")] = ""
    paths: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=4_000)], ...],
        Field(max_length=MOST_PATHS, description="files or folders to index, on the server's machine"),
    ] = ()
    rebuild: Annotated[bool, Field(description="build from empty instead of adding to the index")] = False


class JobRecord(TypedDict):
    """A job and its state."""

    id: str
    kind: Kind
    index: str | None
    paths: list[str]
    rebuild: bool
    by: Annotated[str, Field(description="the key's label or id, or a person's pseudonym")]
    started: str
    ended: str | None
    state: Annotated[
        State,
        Field(description="interrupted: killed; a build resumes if it is started again"),
    ]
    exit_code: int | None


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a job."""

    ended: str
    exit_code: int
    stopped: bool


def command_of(call: JobCall) -> list[str]:
    """Return the arguments of `shrag`; the paths are absolute, so that none is an option."""
    match call.kind:
        case "build":
            return ["index", *call.paths, "--name", call.index, *(["--rebuild"] if call.rebuild else [])]
        case "verify":
            return ["indexes", "verify", call.index]
        case "backup":
            return ["indexes", "backup"]


def checked_paths(paths: tuple[str, ...], folders: list[str]) -> tuple[str, ...]:
    """Return the paths without links; each must exist below one of the folders.

    Raises:
        InvalidCall: a path is elsewhere, or does not exist; the message is the same for both.
    """
    allowed = [Path(folder).resolve() for folder in folders]
    found = []
    for given in paths:
        try:
            path = Path(given).resolve(strict=True)
            str(path).encode()  # a job is stored as UTF-8
        except (OSError, ValueError, RuntimeError):
            path = None
        if path is None or not Path(given).is_absolute() or not any(map(path.is_relative_to, allowed)):
            raise InvalidCall("a path must exist below one of the folders of SHRAG_SERVER__CORPORA")
        found.append(str(path))
    return tuple(found)


def state_of(result: Result | None, *, is_running: bool) -> State:
    """Return the state of a job."""
    if result is None:
        return "running" if is_running else "interrupted"
    if result.stopped:
        return "stopped"
    return "failed" if result.exit_code else "done"


def record_of(job_id: str, stored: dict[str, Any], result: Result | None, *, is_running: bool) -> JobRecord:
    """Return the record of a job from its file `job.json` and its result."""
    return {
        "id": job_id,
        "kind": stored["kind"],
        "index": stored["index"] or None,
        "paths": list(stored["paths"]),
        "rebuild": bool(stored["rebuild"]),
        "by": str(stored["by"]),
        "started": str(stored["started"]),
        "ended": result.ended if result else None,
        "state": state_of(result, is_running=is_running),
        "exit_code": result.exit_code if result else None,
    }
