"""The person whom a trusted proxy names in a header, as Apache's mod_auth_openidc and Shibboleth do."""

import re
from functools import lru_cache
from ipaddress import ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

from base.settings.lists import listed
from server.errors import BadRequest, Forbidden
from server.settings import SignInSettings

PEER = "peer"  # of the scope's state: the address of the connection, before X-Forwarded-For
SEPARATORS = re.compile(r"[,;]")


class RemembersPeer:
    """Record the address of the connection, which the header X-Forwarded-For of a proxy replaces later."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on."""
        if scope["type"] == "http":
            scope.setdefault("state", {})[PEER] = (scope.get("client") or ("", 0))[0]
        await self._app(scope, receive, send)


def named_by_proxy(scope: Scope, settings: SignInSettings) -> tuple[str, list[str]] | None:
    """Return the name and the groups of the person in the headers; None if no header names one.

    Raises:
        Forbidden: an address that is not the proxy's sent the headers.
        BadRequest: a header is repeated or not UTF-8.
    """
    if not settings.user_header:
        return None
    user = _value(scope, settings.user_header)
    groups = _value(scope, settings.groups_header) if settings.groups_header else None
    if user is None and groups is None:
        return None
    if not _is_trusted(scope["state"].get(PEER, ""), settings.header_from):
        raise Forbidden(f"the header {settings.user_header} is accepted only from the sign-in proxy")
    if not user:
        return None
    return user, [group for each in SEPARATORS.split(groups or "") if (group := each.strip())]


def _value(scope: Scope, header: str) -> str | None:
    name = header.lower().encode()
    found = [value for given, value in scope["headers"] if given == name]
    if len(found) > 1:
        raise BadRequest(f"the header {header} is repeated", place="header")
    try:
        return found[0].decode().strip() if found else None
    except UnicodeDecodeError:
        raise BadRequest(f"the header {header} must be UTF-8", place="header") from None


@lru_cache(maxsize=1_024)
def _is_trusted(peer: str, networks: str) -> bool:
    try:
        address = ip_address(peer)
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in ip_network(network, strict=False) for network in listed(networks))
