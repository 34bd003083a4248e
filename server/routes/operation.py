"""Calls of the operator: jobs (builds, verifications, backups), and keys."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from base.errors import InvalidCall
from base.settings.lists import listed
from indexer.versions.store.build_folder import NAME
from server.access.callers import Caller, visit_of
from server.access.key_store import KeyStore
from server.access.keys import end_of, make_key
from server.api.schemas import Shaped
from server.changes import note_change
from server.jobs.job import JobCall, JobRecord
from server.jobs.store import JobStore
from server.limits.gate import Admin
from server.roles import Role
from server.services import Services, Shared

router = APIRouter(prefix="/api/v1", tags=["operation"])


class Jobs(TypedDict):
    """The jobs, newest first, and the folders whose files may be indexed."""

    jobs: list[JobRecord]
    folders: list[str]


class JobLog(TypedDict):
    """A job with the last lines of its output."""

    job: JobRecord
    log: list[str]


class KeyCall(BaseModel):
    """A key to create."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: Annotated[str, Field(max_length=100, description="the owner, as shown in lists")] = ""
    role: Annotated[Role, Field(description="as of `shrag keys create`")] = "reader"
    indexes: Annotated[
        tuple[str, ...], Field(max_length=100, description="the key opens these alone; none: all")
    ] = ()
    expires: Annotated[
        str, Field(max_length=20, description="a number of days, like 90d, or a date; empty: never")
    ] = ""


class CreatedKey(TypedDict):
    """A new key; its text is shown only once."""

    key: str
    record: dict[str, Any]


JobId = Annotated[str, Path(max_length=40, description="of the list", examples=["20260101043000-0f8a12c4"])]
KeyId = Annotated[str, Path(max_length=40, description="of the list of keys", examples=["x6xhzmkqmj"])]


@router.get("/jobs")
async def jobs(services: Shared, _: Admin) -> Annotated[Jobs, Shaped(Jobs)]:
    """List the jobs, newest first."""
    store = _jobs_of(services)
    return {"jobs": await asyncio.to_thread(store.jobs), "folders": store.folders}


@router.post("/jobs", status_code=201)
async def start_job(
    call: JobCall, request: Request, services: Shared, _: Admin
) -> Annotated[JobRecord, Shaped(JobRecord, name="StartedJob")]:
    """Start a build, a verification or a backup as a separate process; an index has at most one."""
    by = _name_of(visit_of(request).caller)
    return await asyncio.to_thread(_jobs_of(services).start, call, by)


@router.get("/jobs/{job_id}")
async def job(job_id: JobId, services: Shared, _: Admin) -> Annotated[JobLog, Shaped(JobLog)]:
    """Return a job and the last lines of its output."""
    store = _jobs_of(services)
    return {
        "job": await asyncio.to_thread(store.find, job_id),
        "log": await asyncio.to_thread(store.log, job_id),
    }


@router.delete("/jobs/{job_id}", status_code=202)
async def stop_job(
    job_id: JobId, services: Shared, _: Admin
) -> Annotated[JobRecord, Shaped(JobRecord, name="StoppedJob")]:
    """Interrupt a job; a build that is started again resumes."""
    return await asyncio.to_thread(_jobs_of(services).stop, job_id)


@router.post("/keys", status_code=201)
async def create_key(
    call: KeyCall, request: Request, services: Shared, _: Admin
) -> Annotated[CreatedKey, Shaped(CreatedKey)]:
    """Create a key; the answer contains its text, which is not stored."""
    now = datetime.now(UTC)
    for name in call.indexes:
        if not NAME.fullmatch(name):
            raise InvalidCall(f"{name!r} cannot name an index")
    if call.role == "operator" and call.indexes:
        raise InvalidCall("a key of the role operator allows every index", remedy="omit the indexes")
    expires = end_of(call.expires, now) if call.expires else None
    text, key = make_key(call.label, call.role, tuple(dict.fromkeys(call.indexes)), expires, now=now)
    await asyncio.to_thread(KeyStore(services.settings.indexer.home).add, key)
    by = _name_of(visit_of(request).caller)
    await asyncio.to_thread(note_change, "key created", key=key.id, role=key.role, indexes=key.indexes, by=by)
    return {"key": text, "record": key.as_record(now)}


@router.delete("/keys/{key_id}")
async def revoke_key(key_id: KeyId, request: Request, services: Shared, _: Admin) -> dict[str, Any]:
    """Revoke a key, in all processes of the server."""
    now = datetime.now(UTC)
    key = await asyncio.to_thread(KeyStore(services.settings.indexer.home).revoke, key_id, now)
    by = _name_of(visit_of(request).caller)
    await asyncio.to_thread(note_change, "key revoked", key=key.id, by=by)
    return key.as_record(now)


def _jobs_of(services: Services) -> JobStore:
    return JobStore(services.settings.indexer, listed(services.server.corpora))


def _name_of(caller: Caller) -> str:
    """Name who made a change; a person's pseudonym, as the name to display is not kept after the session."""
    return caller.person or caller.label or caller.key_id or "this machine"
