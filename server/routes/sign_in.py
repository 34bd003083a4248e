"""Sign-in of persons: to the provider, and back with a session."""

from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import parse_qs

import httpx
from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from base.logs import get_logger
from base.untrusted import one_line
from server.access.authentication import cookie_in, cookie_name, set_cookie
from server.access.callers import Caller, visit_of
from server.access.sessions import SIGN_IN_S
from server.access.sign_in.signing_in import BACK_CHANNEL, CALLBACK, SignIn
from server.errors import ServerError, SignInFailed, TooOften
from server.limits.rates import Rate
from server.problems import error_response
from server.services import Services, Shared

router = APIRouter(include_in_schema=False)

BEGUN = Rate(per_minute=60, burst=30)  # per caller
STARTED_SUFFIX = "-sign-in"  # of the cookie that binds a sign-in to the browser that started it
SEE_OTHER = 303
NOT_STORED = {"Cache-Control": "no-store"}

log = get_logger("server")


@router.get("/sign-in")
async def begin(
    request: Request, services: Shared, next_: Annotated[str, Query(alias="next", max_length=20_000)] = "/"
) -> Response:
    """Send the reader to the provider; `next` is the address of this server to return to."""
    try:
        sign_in = _sign_in(services)
        _count(request, services)
        address, browser = await sign_in.begin(next_)
    except ServerError as error:
        return error_response(error, request.scope)
    response = RedirectResponse(address, SEE_OTHER)
    name = cookie_name(request.scope, services.server)
    set_cookie(response, name, browser, int(SIGN_IN_S), STARTED_SUFFIX)
    return response


@router.get(CALLBACK)
async def finish(request: Request, services: Shared) -> Response:
    """Take the provider's response, begin a session, and send the reader to the page it came from."""
    visit = visit_of(request)
    visit.event, visit.caller = "sign-in", Caller(visit.caller.address)
    name = cookie_name(request.scope, services.server)
    try:
        sign_in = _sign_in(services)
        _count(request, services)
        given = request.query_params
        if any(len(given.getlist(name)) > 1 for name in ("state", "code", "iss", "error")):
            raise SignInFailed("the response of the provider repeats a parameter", reason="repeated")
        browser = cookie_in(request.scope, name + STARTED_SUFFIX)
        started = await sign_in.started(given.get("state", ""), browser)
        if "error" in given:
            log.warning("sign-in refused by the provider", error=one_line(given["error"])[:100])
            raise SignInFailed("the provider did not sign you in", reason="provider")
        before = cookie_in(request.scope, name)
        token, caller = await sign_in.finish(
            *(started, given.get("code", ""), given.get("iss")),
            address=visit.caller.address,
            replaced=before,
        )
    except ServerError as error:
        visit.reason = getattr(error, "reason", "") or type(error).__name__
        return _without_started(error_response(error, request.scope), request, services)
    visit.caller = caller
    response = RedirectResponse(sign_in.address_of(started.returns_to), SEE_OTHER)
    seconds = int(((caller.expires or datetime.now(UTC)) - datetime.now(UTC)).total_seconds())
    set_cookie(response, name, token, seconds)
    return _without_started(response, request, services)


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
        try:
            _count(request, services, "refused logout")  # valid tokens are not limited
        except TooOften as often:
            return error_response(often, request.scope)
        found = {"error": "invalid_request", "error_description": str(error)}
        return JSONResponse(found, httpx.codes.BAD_REQUEST, NOT_STORED)
    except ServerError as error:
        visit.reason = type(error).__name__
        return error_response(error, request.scope)
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


def _without_started(response: Response, request: Request, services: Services) -> Response:
    set_cookie(response, cookie_name(request.scope, services.server), suffix=STARTED_SUFFIX)
    return response
