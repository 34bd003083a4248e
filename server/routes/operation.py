"""Calls of the operator: keys are created and revoked."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from base.errors import InvalidCall
from indexer.versions.store.build_folder import NAME
from server.access.callers import Caller, visit_of
from server.access.keys import end_of, make_key
from server.api.schemas import Shaped
from server.changes import note_change
from server.limits.gate import Admin
from server.roles import Role
from server.services import Shared

router = APIRouter(prefix="/api/v1", tags=["operation"])


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


KeyId = Annotated[str, Path(max_length=40, description="of the list of keys", examples=["x6xhzmkqmj"])]


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
    await asyncio.to_thread(services.keys.add, key)
    by = _name_of(visit_of(request).caller)
    await asyncio.to_thread(note_change, "key created", key=key.id, role=key.role, indexes=key.indexes, by=by)
    return {"key": text, "record": key.as_record(now)}


@router.delete("/keys/{key_id}")
async def revoke_key(key_id: KeyId, request: Request, services: Shared, _: Admin) -> dict[str, Any]:
    """Revoke a key, in all processes of the server."""
    now = datetime.now(UTC)
    key = await asyncio.to_thread(services.keys.revoke, key_id, now)
    by = _name_of(visit_of(request).caller)
    await asyncio.to_thread(note_change, "key revoked", key=key.id, by=by)
    return key.as_record(now)


def _name_of(caller: Caller) -> str:
    """Name who made a change; a person's pseudonym, as the name to display is not kept after the session."""
    return caller.person or caller.label or caller.key_id or "this machine"
