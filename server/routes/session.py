"""The page's session: a reader enters the key once, and the browser keeps a cookie hidden from scripts."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from typing_extensions import TypedDict

from server.access.authentication import (
    HOST_COOKIE,
    PLAIN_COOKIE,
    WRONG_KEY,
    cookie_in,
    cookie_name,
    set_cookie,
)
from server.access.callers import Caller, visit_of
from server.access.keys import digest_of
from server.access.sessions import end_session
from server.api.schemas import Shaped
from server.errors import Unauthorized
from server.limits.rates import Rate
from server.services import Services, Shared
from server.transport.entrance import count_wrong_key

router = APIRouter(prefix="/api/v1", tags=["session"])


BEGUN = Rate(per_minute=30, burst=30)  # sessions per key


class SignIn(BaseModel):
    """A key, as printed by `shrag keys create`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: Annotated[SecretStr, Field(max_length=200, examples=["shrag_…"])]


class Session(TypedDict):
    """The caller, and whether a key is needed; null and empty without a key."""

    keys_needed: bool
    signed_in: Annotated[bool, Field(description="by the page's cookie, or at the proxy")]
    sign_in: Annotated[str | None, Field(description="address at which persons sign in")]
    person: Annotated[str | None, Field(description="pseudonym of a person who signed in")]
    key: Annotated[str | None, Field(description="its id")]
    label: str | None
    role: Annotated[str | None, Field(description="reader, librarian or operator; null: no rights")]
    indexes: Annotated[list[str] | None, Field(description="allowed by the key; null: all")]
    sources: Annotated[list[str] | None, Field(description="allowed by the key; null: all offered ones")]
    expires: str | None


class SignedOut(TypedDict):
    """The session has ended here."""

    continue_at: Annotated[str, Field(description="address at which the other session ends")]


SESSION = Annotated[Session, Shaped(Session)]


@router.get("/session")
async def session(request: Request, services: Shared) -> SESSION:
    """Describe the caller, and whether a key is needed."""
    return _described(services, visit_of(request).caller)


@router.post("/session")
async def sign_in(call: SignIn, request: Request, response: Response, services: Shared) -> SESSION:
    """Start a session with a key."""
    visit = visit_of(request)
    key = services.keys.find(call.key.get_secret_value().strip())
    if key is None:
        count_wrong_key(services, visit.caller)
        raise Unauthorized(WRONG_KEY)
    too_often = "too many sessions were started with this key"
    services.gate.buckets.require(f"session {key.id}", BEGUN, too_often)
    token, ends = await asyncio.to_thread(services.keys.begin_session, key)
    seconds = int((ends - datetime.now(UTC)).total_seconds())
    set_cookie(response, cookie_name(request.scope, services.server), token, seconds)
    visit.caller = Caller.of(key, visit.caller.address, by_cookie=True)
    return _described(services, visit.caller)


@router.delete("/session", status_code=204, responses={200: {"model": SignedOut}})
async def sign_out(request: Request, services: Shared) -> Response:
    """End the session; 200 if the provider or proxy has a session of its own."""
    visit = visit_of(request)
    caller, address = visit.caller, None
    if caller.by_cookie:
        token = cookie_in(request.scope, cookie_name(request.scope, services.server))
        await asyncio.to_thread(end_session, services.store, digest_of(token or ""))
    if caller.person and services.sign_in:
        visit.event = "sign-out"
        address = await services.sign_in.sign_out_address(by_proxy=caller.by_proxy)
    response = JSONResponse({"continue_at": address}) if address else Response(status_code=204)
    for name in (HOST_COOKIE, PLAIN_COOKIE):
        set_cookie(response, name)
    return response


def _described(services: Services, caller: Caller) -> Session:
    return {
        "keys_needed": services.access_is_limited() and not services.server.open,
        "signed_in": caller.is_sent_by_browser,
        "sign_in": "/sign-in" if services.sign_in and services.sign_in.has_provider else None,
        "person": caller.person or None,
        "key": caller.key_id or None,
        "label": caller.label or None,
        "role": caller.role,
        "indexes": list(caller.indexes) if caller.is_limited else None,
        "sources": list(caller.sources) if caller.is_limited else None,
        "expires": caller.expires.isoformat(timespec="seconds") if caller.expires else None,
    }
