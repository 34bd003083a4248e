"""Sessions of the page, hidden from scripts: by a key that a reader enters, or by sign-in at the provider."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
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
from server.access.keys import digest_of, end_session
from server.access.sign_in.signing_in import BACK_CHANNEL, CALLBACK, SIGN_IN_S, SignIn
from server.description import Shaped
from server.errors import SignInFailed, Unauthorized
from server.limits.counting import Rate
from server.services import Services, Shared
from server.transport.entrance import SESSION, count_wrong_key

router = APIRouter()


SESSIONS_BEGUN = Rate(per_minute=30, burst=30)  # per key
SIGN_INS_BEGUN = Rate(per_minute=60, burst=30)  # per caller
# The suffix of the cookie of a sign-in that the browser started, before a mark of its state.
SIGN_IN_SUFFIX = "-sign-in-"
SEE_OTHER, BAD_REQUEST = 303, 400
NOT_STORED = {"Cache-Control": "no-store"}


class GivenKey(BaseModel):
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


SESSION_RESULT = Annotated[Session, Shaped(Session)]


@router.get(SESSION, tags=["session"])
async def session(request: Request, services: Shared) -> SESSION_RESULT:
    """Describe the caller, and whether a key is needed."""
    return _described(services, visit_of(request).caller)


@router.post(SESSION, tags=["session"])
async def sign_in(call: GivenKey, request: Request, response: Response, services: Shared) -> SESSION_RESULT:
    """Start a session with a key."""
    visit = visit_of(request)
    key = services.keys.find(call.key.get_secret_value().strip())
    if key is None:
        count_wrong_key(services, visit.caller)
        raise Unauthorized(WRONG_KEY)
    too_often = "too many sessions were started with this key"
    services.gate.buckets.require(f"session {key.id}", SESSIONS_BEGUN, too_often)
    token, ends = await asyncio.to_thread(services.keys.begin_session, key)
    seconds = int((ends - datetime.now(UTC)).total_seconds())
    set_cookie(response, cookie_name(request.scope, services.server), token, seconds)
    visit.caller = Caller.of(key, visit.caller.address, by_cookie=True)
    return _described(services, visit.caller)


@router.delete(SESSION, status_code=204, responses={200: {"model": SignedOut}}, tags=["session"])
async def sign_out(request: Request, services: Shared) -> Response:
    """End the session; 200 if the provider or proxy has a session of its own."""
    visit = visit_of(request)
    caller, address = visit.caller, None
    if caller.by_cookie:
        token = cookie_in(request.scope, cookie_name(request.scope, services.server))
        await asyncio.to_thread(end_session, services.store, token or "")
    if caller.person and services.sign_in:
        visit.event = "sign-out"
        address = await services.sign_in.sign_out_address(by_proxy=caller.by_proxy)
    response = JSONResponse({"continue_at": address}) if address else Response(status_code=204)
    for name in (HOST_COOKIE, PLAIN_COOKIE):
        set_cookie(response, name)
    return response


def _described(services: Services, caller: Caller) -> Session:
    return {
        "keys_needed": not services.server.open and services.access_is_limited(),
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


@router.get("/sign-in", include_in_schema=False)
async def begin(
    request: Request, services: Shared, next_: Annotated[str, Query(alias="next", max_length=20_000)] = "/"
) -> Response:
    """Send the reader to the provider; `next` is the address of this server to return to."""
    sign_in = _sign_in(services)
    _count(request, services)
    address, state, started = await sign_in.begin(next_)
    response = RedirectResponse(address, SEE_OTHER)
    name = cookie_name(request.scope, services.server)
    set_cookie(response, name, started, int(SIGN_IN_S), _suffix(state))
    return response


@router.get(CALLBACK, include_in_schema=False)
async def finish(request: Request, services: Shared) -> Response:
    """Take the provider's response, begin a session, and send the reader to the page it came from."""
    visit = visit_of(request)
    visit.event, visit.caller = "sign-in", Caller(visit.caller.address)
    name, given = cookie_name(request.scope, services.server), request.query_params
    sign_in = _sign_in(services)
    _count(request, services)
    token, visit.caller, path = await sign_in.finish(
        given,
        cookie_in(request.scope, name + _suffix(given.get("state", ""))),
        address=visit.caller.address,
        replaced=cookie_in(request.scope, name),
    )
    response = RedirectResponse(f"{services.server.public_url}{path}", SEE_OTHER)
    seconds = int(((visit.caller.expires or datetime.now(UTC)) - datetime.now(UTC)).total_seconds())
    set_cookie(response, name, token, seconds)
    set_cookie(response, name, suffix=_suffix(given.get("state", "")))
    return response


def _suffix(state: str) -> str:
    """Return the suffix of the cookie of a sign-in: each tab has its own."""
    return SIGN_IN_SUFFIX + digest_of(state)[:8].hex()


@router.post(BACK_CHANNEL, include_in_schema=False)
async def log_out(request: Request, services: Shared) -> Response:
    """End the sessions of a person who has signed out at the provider (Back-Channel Logout 1.0)."""
    visit = visit_of(request)
    visit.event = "back-channel sign-out"
    tokens = parse_qs((await request.body()).decode("ascii", "replace")).get("logout_token", [])
    try:
        person, visit.counts["sessions"] = await _sign_in(services).end_sessions_at("".join(tokens))
    except SignInFailed as error:
        visit.reason = error.reason
        _count(request, services, "refused logout")  # valid tokens are not limited
        found = {"error": "invalid_request", "error_description": str(error)}
        return JSONResponse(found, BAD_REQUEST, NOT_STORED)
    visit.caller = Caller(visit.caller.address, person=person)
    return Response(headers=NOT_STORED)


def _sign_in(services: Services) -> SignIn:
    if services.sign_in is None or not services.sign_in.has_provider:
        raise SignInFailed("this server has no sign-in; use a key", reason="provider")
    return services.sign_in


def _count(request: Request, services: Services, what: str = "sign-in") -> None:
    name = f"{what} {visit_of(request).caller.counted_as}"
    services.gate.buckets.require(name, SIGN_INS_BEGUN, "too many calls from this address")
