"""The host names of the server, and the sites whose pages may call it from a reader's browser.

A page of another site can make a browser send requests to this server. It cannot read the answers unless its
own name resolves to this server (DNS rebinding); the check of the Host header refuses that. The check of the
request's origin prevents changes with the page's cookie, and prevents that such a page starts work.
"""

import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from base.net.addresses import is_loopback
from base.settings.fields import listed
from server.errors import BadRequest, Forbidden, Misdirected
from server.settings import ServerSettings

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?")
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FROM_ELSEWHERE = "a page of another site may not call this; SHRAG_SERVER__ORIGINS lists the sites that may"

Headers = list[tuple[bytes, bytes]]
SAYING_WHERE_FROM = frozenset({b"origin", b"sec-fetch-site", b"sec-fetch-mode"})


@dataclass(frozen=True, slots=True)
class Origins:
    """The host names and page origins that are accepted."""

    hosts: frozenset[str]
    addresses: bool  # any IP address is accepted as host: DNS rebinding needs a name
    origins: frozenset[str]

    @classmethod
    def of(cls, settings: ServerSettings) -> "Origins":
        """Read them from the settings; without names, accept the machine's own."""
        named = {host.lower() for host in listed(settings.allowed_hosts)}
        origins = set(listed(settings.origins))
        if settings.public_url:
            public = urlsplit(settings.public_url)
            named.add((public.hostname or "").lower())
            origins.add(f"{public.scheme}://{public.netloc}")
        if not named and not settings.only_local:
            named |= _names_of_this_machine() | {settings.host.lower()}
        return cls(frozenset(named), not settings.only_local, frozenset(origins))

    def check_host(self, headers: Headers) -> str:
        """Return the host, with its port, that a request names.

        Raises:
            BadRequest: it names none, or several.
            Misdirected: the name is not one of this server's.
        """
        given = [value for name, value in headers if name == b"host"]
        text = given[0].decode("latin-1") if len(given) == 1 else ""
        found = HOST.fullmatch(text)
        if not found:
            raise BadRequest("the header Host must name one host", place="header.host")
        name = found[1].strip("[]").lower().rstrip(".")
        if not (name in self.hosts or _is_own_name(name) or (self.addresses and _is_address(name))):
            raise Misdirected(
                f"this server is not called {name[:100]!r}; SHRAG_SERVER__ALLOWED_HOSTS adds names"
            )
        return text

    def check_origin(
        self, method: str, host: str, scheme: str, headers: Headers, *, by_browser: bool
    ) -> None:
        """Refuse requests that a page of another site makes in a browser; following a link is allowed.

        Raises:
            Forbidden: the request comes from another site, or a browser added its rights.
        """
        given = {name: value.decode("latin-1") for name, value in headers if name in SAYING_WHERE_FROM}
        origin = given.get(b"origin")
        own = {f"{each}://{host.lower()}" for each in (scheme, "https")}  # a proxy may terminate https
        if origin is not None and (origin in self.origins or origin.lower() in own):
            return
        site = given.get(b"sec-fetch-site")
        if method in SAFE_METHODS:
            if site in {"cross-site", "same-site"} and given.get(b"sec-fetch-mode") != "navigate":
                raise Forbidden(FROM_ELSEWHERE)
            return
        if origin is not None or site in {"cross-site", "same-site"}:
            raise Forbidden(FROM_ELSEWHERE)
        if by_browser and site != "same-origin":
            raise Forbidden("a change needs a key in a header, or a browser that sends the page's origin")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _names_of_this_machine() -> set[str]:
    """Return the machine's name, with and without its domain, and its mDNS name."""
    name = socket.gethostname().lower()
    first = name.partition(".")[0]
    return {name, first, f"{first}.local"} - {""}


def _is_own_name(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost") or is_loopback(name)
