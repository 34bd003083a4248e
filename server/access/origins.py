"""Which names the server answers to, and which sites' pages may ask it by a reader's browser.

A page of another site can make a browser send requests here. It cannot read the answers, unless its own
name is made to point here (DNS rebinding), which the check of the header Host refuses. And it can neither
change anything with the page's cookie nor start any work: where a request comes from is checked.
"""

import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from base.net.networks import is_loopback
from server.errors import BadRequest, Forbidden, Misdirected
from server.settings import ServerSettings, listed

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?")
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FROM_ELSEWHERE = "a page of another site may not ask this; SHRAG_SERVER__ORIGINS names those that may"

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Origins:
    """The names of hosts, and the origins of pages, that are answered."""

    hosts: frozenset[str]
    addresses: bool  # whether any IP address may stand for the server: no site's name can be made to be one
    origins: frozenset[str]

    @classmethod
    def of(cls, settings: ServerSettings) -> "Origins":
        """Take them from the settings: those that are named, without any the machine's own."""
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
            Misdirected: it is not one of this server's.
        """
        given = [value for name, value in headers if name == b"host"]
        text = given[0].decode("latin-1") if len(given) == 1 else ""
        found = HOST.fullmatch(text)
        if not found:
            raise BadRequest("the header Host must name one host", place="header.host")
        name = found[1].strip("[]").lower().rstrip(".")
        if not (name in self.hosts or _is_own_name(name) or (self.addresses and _is_address(name))):
            raise Misdirected(
                f"no server of the name {name[:100]!r} is here; SHRAG_SERVER__ALLOWED_HOSTS adds some"
            )
        return text

    def check_origin(self, method: str, host: str, scheme: str, headers: Headers, *, by_cookie: bool) -> None:
        """Refuse what a page of another site makes a browser ask.

        Following a link here is no such thing. Raises:
            Forbidden: it comes from there; or with the cookie alone, and nothing says where it comes from.
        """
        given = {name: value.decode("latin-1") for name, value in headers if name in SAYING_WHERE_FROM}
        origin = given.get(b"origin")
        if origin is not None and (origin in self.origins or _same(origin, scheme, host)):
            return
        site = given.get(b"sec-fetch-site")
        if method in SAFE_METHODS:
            if site in {"cross-site", "same-site"} and given.get(b"sec-fetch-mode") != "navigate":
                raise Forbidden(FROM_ELSEWHERE)
            return
        if origin is not None or site in {"cross-site", "same-site"}:
            raise Forbidden(FROM_ELSEWHERE)
        if by_cookie and site != "same-origin":
            raise Forbidden("a change takes a key in a header, or a browser that says which page asks")


SAYING_WHERE_FROM = frozenset({b"origin", b"sec-fetch-site", b"sec-fetch-mode"})


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _names_of_this_machine() -> set[str]:
    """Return its name, whole and without its domain, and that by which a local network finds it."""
    name = socket.gethostname().lower()
    first = name.partition(".")[0]
    return {name, first, f"{first}.local"} - {""}


def _is_own_name(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost") or is_loopback(name)


def _same(origin: str, scheme: str, host: str) -> bool:
    """Tell whether an origin is the server's own; a proxy may speak https for it."""
    parts = urlsplit(origin) if origin.startswith(("http://", "https://")) else None
    return parts is not None and parts.netloc.lower() == host.lower() and parts.scheme in {scheme, "https"}
