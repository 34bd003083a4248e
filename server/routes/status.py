"""The status for an operator: indexes, running builds, work, times, keys."""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field
from typing_extensions import TypedDict

from base.errors import ResourceError
from base.remedies import describe_error
from base.versions import installed_version
from indexer.console import as_record, describe_vectors
from indexer.errors import UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import COMMITTED, PLAN, TANTIVY_META, BuildFolder, unfinished_builds
from indexer.versions.store.engines import index_names, open_store
from server.api.schemas import Shaped
from server.limits.gate import Admin
from server.monitoring.metrics import running_and_waiting, stage_times
from server.services import Shared

router = APIRouter(prefix="/api/v1", tags=["operation"])

STARTED = datetime.now(UTC)


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
        bool | None, Field(description="a model is paused after repeated failures; null: none is set")
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
    """The status for an operator; needs the role operator."""

    server: Process
    health: Health
    indexes: list[dict[str, Any]]
    work: dict[str, Work]
    times: dict[str, StageTimes]
    keys: Annotated[
        list[dict[str, Any]],
        Field(
            description="without their indexes and sources; `today`: calls of today in the answering process"
        ),
    ]


@router.get("/status")
async def status(services: Shared, _: Admin) -> Annotated[Status, Shaped(Status)]:
    """Return the status of the server for the operator."""
    settings, server = services.settings.indexer, services.server
    indexes, keys, times, work = await asyncio.gather(
        asyncio.to_thread(_indexes, settings),
        asyncio.to_thread(services.keys.all),
        asyncio.to_thread(stage_times),
        asyncio.to_thread(running_and_waiting),
    )
    llm, now = services.settings.generator.llm, datetime.now(UTC)
    return {
        "server": {
            "shrag": installed_version("shrag"),
            "started": STARTED.isoformat(timespec="seconds"),
            "process": os.getpid(),
            "workers": server.processes,
            "engine": settings.engine,
            "language_model": llm.model if llm.configured else None,
        },
        "health": {
            "stopping": services.stopping.is_set(),
            "indexes_listed": services.indexes.trouble is None,
            "model_left_alone": (
                any(model.circuit_is_open for model in services.models.values()) if services.models else None
            ),
            "not_opened": [
                f"{name}: {describe_error(error)}" for name, error in services.indexes.failures.items()
            ],
        },
        "indexes": indexes,
        "work": {
            name: {
                "running": work.get(name, {}).get("running", 0),
                "waiting": work.get(name, {}).get("waiting", 0),
                "places": queue.slots * server.processes,
            }
            for name, queue in services.gate.queues.items()
        },
        "times": times,
        "keys": [key.as_record(now) | {"today": services.gate.days.used(key.id)} for key in keys.values()],
    }


def _indexes(settings: IndexerSettings) -> list[dict[str, Any]]:
    names = {*index_names(settings), *unfinished_builds(settings.home)}
    return [_index(settings, name) for name in sorted(names)]


def _index(settings: IndexerSettings, name: str) -> dict[str, Any]:
    try:
        with open_store(settings, name) as store:
            building = _building(store.local)
            try:
                manifest = store.manifest()
            except UnknownIndex:
                if not building["being_indexed"]:
                    raise
                return {"name": name, **building}
            found = as_record(manifest)
            return {
                **{key: found[key] for key in ("name", "version", "papers", "passages", "published")},
                "vectors": describe_vectors(manifest) or None,
                "versions": store.versions(),
                **building,
                "dead_letters": manifest.counts.get("dead_letters", 0),
            }
    except (ResourceError, OSError) as error:
        return {"name": name, "error": describe_error(error)}


def _building(local: BuildFolder) -> dict[str, Any]:
    """Describe the running build on this machine: its start, its committed passages, and its last commit."""
    is_building = local.is_unfinished()
    return {
        "being_indexed": is_building,
        "began": _changed(local.building / PLAN),
        "committed": _changed(local.building / TANTIVY_META) or _changed(local.building / COMMITTED),
        "committed_passages": local.passages_committed() if is_building else None,
    }


def _changed(file: Path) -> str | None:
    """Return the modification time of a file of the build; None if it does not exist."""
    try:
        changed = file.stat().st_mtime
    except OSError:
        return None
    return datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")
