"""Sign-in of persons: to the provider, and back with a session."""

from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import parse_qs

import httpx
from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from server.access.authentication import cookie_in, cookie_name, set_cookie
from server.access.callers import Caller, visit_of
from server.access.sign_in.signing_in import BACK_CHANNEL, CALLBACK, SIGN_IN_S, SignIn
from server.errors import ServerError, SignInFailed
from server.limits.rates import Rate
from server.services import Services, Shared

router = APIRouter(include_in_schema=False)

BEGUN = Rate(per_minute=60, burst=30)  # per caller
STARTED = "-sign-in"  # suffix of the cookie that binds a sign-in to the browser that started it
SEE_OTHER = 303
NOT_STORED = {"Cache-Control": "no-store"}


@router.get("/sign-in")
async def begin(
    request: Request, services: Shared, next_: Annotated[str, Query(alias="next", max_length=20_000)] = "/"
) -> Response:
    """Send the reader to the provider; `next` is the address of this server to return to."""
    sign_in = _sign_in(services)
    _count(request, services)
    address, started = await sign_in.begin(next_)
    response = RedirectResponse(address, SEE_OTHER)
    set_cookie(response, cookie_name(request.scope, services.server), started, int(SIGN_IN_S), STARTED)
    return response


@router.get(CALLBACK)
async def finish(request: Request, services: Shared) -> Response:
    """Take the provider's response, begin a session, and send the reader to the page it came from."""
    visit = visit_of(request)
    visit.event, visit.caller = "sign-in", Caller(visit.caller.address)
    name, given = cookie_name(request.scope, services.server), request.query_params
    try:
        sign_in = _sign_in(services)
        _count(request, services)
        if any(len(given.getlist(part)) > 1 for part in ("state", "code", "iss", "error")):
            raise SignInFailed("the response of the provider repeats a parameter", reason="repeated")
        token, visit.caller, path = await sign_in.finish(
            given,
            cookie_in(request.scope, name + STARTED),
            address=visit.caller.address,
            replaced=cookie_in(request.scope, name),
        )
    except ServerError as error:
        visit.reason = getattr(error, "reason", "") or type(error).__name__
        raise
    response = RedirectResponse(sign_in.address_of(path), SEE_OTHER)
    seconds = int(((visit.caller.expires or datetime.now(UTC)) - datetime.now(UTC)).total_seconds())
    set_cookie(response, name, token, seconds)
    set_cookie(response, name, suffix=STARTED)
    return response


@router.post(BACK_CHANNEL)
async def log_out(request: Request, services: Shared) -> Response:
    """End the sessions of a person who has signed out at the provider (Back-Channel Logout 1.0)."""
    visit = visit_of(request)
    visit.event = "back-channel sign-out"
    try:
        token = _logout_token_in(await request.body())
        person, visit.counts["sessions"] = await _sign_in(services).end_sessions_at(token)
    except (SignInFailed, ValueError) as error:
        visit.reason = getattr(error, "reason", "body")
        _count(request, services, "refused logout")  # valid tokens are not limited
        found = {"error": "invalid_request", "error_description": str(error)}
        return JSONResponse(found, httpx.codes.BAD_REQUEST, NOT_STORED)
    except ServerError as error:
        visit.reason = type(error).__name__
        raise
    visit.caller = Caller(visit.caller.address, person=person)
    return Response(headers=NOT_STORED)


def _logout_token_in(body: bytes) -> str:
    tokens = parse_qs(body.decode("ascii", "replace"), max_num_fields=10).get("logout_token", [])
    if len(tokens) != 1:
        raise SignInFailed("the body needs one logout_token", reason="body")
    return tokens[0]


def _sign_in(services: Services) -> SignIn:
    if services.sign_in is None or not services.sign_in.has_provider:
        raise SignInFailed("this server has no sign-in; use a key", reason="provider")
    return services.sign_in


def _count(request: Request, services: Services, what: str = "sign-in") -> None:
    name = f"{what} {visit_of(request).caller.counted_as}"
    services.gate.buckets.require(name, BEGUN, "too many calls from this address")
