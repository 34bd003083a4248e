"""Liveness, readiness, metrics, and calls of operators and librarians: status, statistics, keys."""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path as File
from typing import Annotated, Any, Literal, NotRequired

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field
from typing_extensions import TypedDict

from base.errors import ResourceError
from base.files.durable import describe_error
from base.versions import installed_version
from indexer.console import as_record, describe_vectors
from indexer.errors import UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import PLAN, TANTIVY_META, unfinished_builds
from indexer.versions.store.engines import index_names, open_store
from server.access.callers import may_see, visit_of
from server.access.keys import KeyCall
from server.addresses import sources_named
from server.api.schemas import Shaped
from server.errors import NothingOpens, Starting, Stopping
from server.limits.gate import Admin, Curate
from server.monitoring import metrics
from server.monitoring.audit import note_change
from server.monitoring.metrics import running_and_waiting, stage_times
from server.monitoring.search_statistics import read_statistics
from server.problems import code_of
from server.services import Shared
from server.stopping import STOPPING

router = APIRouter(tags=["operation"])
STARTED = datetime.now(UTC)


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
    errors: NotRequired[
        Annotated[list[str], Field(description="codes of unreadable indexes; named ones first")]
    ]
    unreadable: NotRequired[Annotated[list[str], Field(description="their names, if visible to the caller")]]


@router.get("/healthz")
async def healthz(services: Shared) -> Annotated[Alive, Shaped(Alive)]:
    """Report that the process is alive, and the code of an error that prevents checks of keys."""
    trouble = services.keys.trouble()
    return {"status": "ok", "errors": [code_of(trouble)]} if trouble else {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request, services: Shared) -> Annotated[Ready, Shaped(Ready)]:
    """Report that questions can be answered, and which indexes cannot be opened; runs no query.

    Where keys are needed, names are for callers with a key. `/api/v1/indexes` has messages too.
    """
    if services.stopping.is_set():
        raise Stopping(STOPPING)
    if not services.server.open and (trouble := services.keys.trouble()):
        raise trouble
    indexes = services.indexes
    if not indexes.started:
        raise indexes.trouble or Starting("the index is being opened; try again in a moment")
    codes = {name: code_of(error) for name, error in indexes.failures.items()}
    is_reader = visit_of(request).caller.has("reader")
    names = [name for name in codes if is_reader and may_see(name)]
    hidden = [code for name, code in codes.items() if name not in names]
    if indexes.opens_none:
        shown = [*(f"{name} ({codes[name]})" for name in names), *sorted(set(hidden))]
        raise NothingOpens(f"no index can be opened: {', '.join(shown)}")
    ready: Ready = {"status": "ok", "indexes": indexes.count}
    if codes:
        ready["errors"] = [*(codes[name] for name in names), *hidden]
    if names:
        ready["unreadable"] = names
    return ready


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def read_metrics(services: Shared, _: Admin) -> Response:
    """Return the metrics of all processes; needs the role operator."""
    for index, version in services.indexes.versions().items():
        metrics.VERSION.labels(index).set(version)
    return Response(await asyncio.to_thread(metrics.exposition), media_type=CONTENT_TYPE_LATEST)


class Status(TypedDict):
    """The status for an operator; needs the role operator."""

    server: Annotated[dict[str, Any], Field(description="the answering process")]
    health: Annotated[
        dict[str, Any],
        Field(description="current problems; `model_left_alone`: a model is paused after repeated failures"),
    ]
    indexes: Annotated[list[dict[str, Any]], Field(description="with their running builds on this machine")]
    work: Annotated[
        dict[str, dict[str, int]], Field(description="running and waiting calls of all processes, by kind")
    ]
    times: Annotated[dict[str, dict[str, float]], Field(description="mean times of the stages of searches")]
    keys: Annotated[
        list[dict[str, Any]], Field(description="`today`: calls of today in the answering process")
    ]


@router.get("/api/v1/status")
async def status(services: Shared, _: Admin) -> Annotated[Status, Shaped(Status)]:
    """Return the status of the server for the operator."""
    indexes, keys, times, work = await asyncio.gather(
        asyncio.to_thread(_indexes, services.settings.indexer),
        asyncio.to_thread(services.keys.all),
        asyncio.to_thread(stage_times),
        asyncio.to_thread(running_and_waiting),
    )
    now, processes = datetime.now(UTC), services.server.processes
    llm = services.settings.generator.llm
    return {
        "server": {
            "shrag": installed_version("shrag"),
            "started": STARTED.isoformat(timespec="seconds"),
            "process": os.getpid(),
            "workers": processes,
            "engine": services.settings.indexer.engine,
            "language_model": llm.model if llm.configured else None,
        },
        "health": {
            "stopping": services.stopping.is_set(),
            "indexes_listed": services.indexes.trouble is None,
            "model_left_alone": (
                any(model.circuit.is_open for model in services.models.values()) if services.models else None
            ),
            "not_opened": [
                f"{name}: {describe_error(error)}" for name, error in services.indexes.failures.items()
            ],
        },
        "indexes": indexes,
        "work": {
            name: {"running": 0, "waiting": 0, **work.get(name, {}), "places": slots.number * processes}
            for name, slots in services.gate.slots.items()
        },
        "times": times,
        "keys": [key.as_record(now) | {"today": services.gate.days.used(key.id)} for key in keys.values()],
    }


def _indexes(settings: IndexerSettings) -> list[dict[str, Any]]:
    names = {*index_names(settings), *unfinished_builds(settings.home)}
    return [_index(settings, name) for name in sorted(names)]


def _index(settings: IndexerSettings, name: str) -> dict[str, Any]:
    """Describe an index, and its running build on this machine."""
    try:
        with open_store(settings, name) as store:
            local = store.local
            is_building = local.is_unfinished()
            building = {
                "being_indexed": is_building,
                "began": _changed(local.building / PLAN),
                "committed": _changed(local.building / TANTIVY_META),
                "committed_passages": local.passages_committed() if is_building else None,
            }
            try:
                manifest = store.manifest()
            except UnknownIndex:
                if not is_building:
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


def _changed(file: File) -> str | None:
    """Return the modification time of a file of the build; None if it does not exist."""
    try:
        changed = file.stat().st_mtime
    except OSError:
        return None
    return datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds")


class Statistics(TypedDict):
    """Searches of the last days (UTC), without callers; needs the role librarian."""

    counted: bool
    since: str
    days: list[dict[str, Any]]
    indexes: Annotated[list[dict[str, Any]], Field(description="indexes, and sources")]
    words: Annotated[
        list[dict[str, int]], Field(description="by the number of words; 20 includes longer ones")
    ]
    without_results: Annotated[
        list[dict[str, Any]], Field(description="questions that found nothing, with their number on a day")
    ]


@router.get("/api/v1/statistics")
async def statistics(
    request: Request,
    services: Shared,
    _: Curate,
    days: Annotated[int, Query(ge=1, le=36_500, description="counted days", examples=[30])] = 30,
) -> Annotated[dict[str, Any], Shaped(Statistics)]:
    """Count the searches of the last days on the caller's indexes; empty unless counting is switched on."""
    caller = visit_of(request).caller

    def may_see(index: str) -> bool:
        sources = sources_named(index)
        return all(map(caller.may_use, sources)) if sources else caller.may_see(index)

    found = await asyncio.to_thread(read_statistics, services.store, days, may_see)
    return {"counted": services.server.statistics, **found}


class CreatedKey(TypedDict):
    """A new key; its text is shown only once."""

    key: str
    record: dict[str, Any]


KeyId = Annotated[str, Path(max_length=40, description="of the list of keys", examples=["x6xhzmkqmj"])]


@router.post("/api/v1/keys", status_code=201)
async def create_key(
    call: KeyCall, request: Request, services: Shared, _: Admin
) -> Annotated[CreatedKey, Shaped(CreatedKey)]:
    """Create a key; the answer contains its text, which is not stored."""
    now = datetime.now(UTC)
    text, key = call.key(now)
    await asyncio.to_thread(services.keys.add, key)
    await _note(request, "key created", **key.audited())
    return {"key": text, "record": key.as_record(now)}


@router.delete("/api/v1/keys/{key_id}")
async def revoke_key(key_id: KeyId, request: Request, services: Shared, _: Admin) -> dict[str, Any]:
    """Revoke a key, in all processes of the server."""
    now = datetime.now(UTC)
    key = await asyncio.to_thread(services.keys.revoke, key_id, now)
    await _note(request, "key revoked", key=key.id)
    return key.as_record(now)


async def _note(request: Request, event: str, **facts: Any) -> None:
    """Note a change, and who made it: a person's pseudonym, as the name is not kept after the session."""
    caller = visit_of(request).caller
    by = caller.person or caller.label or caller.key_id or "this machine"
    await asyncio.to_thread(note_change, event, **facts, by=by)
