"""A guard on the sockets of this process: what the settings do not name is refused, and recorded.

Python raises an audit event before a name is looked up and before a connection is made, whichever library
asks. Not seen: native code that opens sockets itself, and processes started from here; for those, run the
command in a network of its own (`unshare --net`, or a container without one).
"""

import socket
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
LOOKED_UP = frozenset(
    {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}
)
CONNECTED = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
OWN_FRAMES = 2  # of the guard itself, at the end of a stack


class AddressRefused(ConnectionRefusedError):
    """An address that no setting names."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a setting points to."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return it as in an address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A connection or a look-up that was refused."""

    target: str
    event: str
    stack: tuple[str, ...]


@dataclass(slots=True)
class Watch:
    """What is allowed, and what was seen while the guard stood."""

    allowed: frozenset[Address]
    hosts: frozenset[str]
    attempts: list[Attempt] = field(default_factory=list)
    passed: int = 0  # to addresses that the settings name

    def meet(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Judge one audit event.

        Raises:
            AddressRefused: the settings do not name the address.
        """
        if event in LOOKED_UP:
            by_number = event == "socket.getnameinfo"  # of an address as it is connected to
            host = _text(arguments[0][0] if by_number else arguments[0])
            if not host or host in self.hosts:
                return
            port = arguments[1] if event == "socket.getaddrinfo" else None
            self._refuse(f"{host}:{_text(port)}" if port else host, event)
        elif event in CONNECTED:
            sock, to = arguments[0], arguments[1]
            if sock.family not in {socket.AF_INET, socket.AF_INET6} or not to:
                return  # within this machine's kernel, or on a connection that was judged
            if Address(_text(to[0]), int(to[1])) in self.allowed:
                self.passed += 1
                return
            self._refuse(str(Address(_text(to[0]), int(to[1]))), event)

    def _refuse(self, target: str, event: str) -> None:
        stack = tuple(line.rstrip() for line in traceback.format_stack()[: -OWN_FRAMES - 1])
        self.attempts.append(Attempt(target, event, stack))
        raise AddressRefused(f"{target} is named by no setting; refused by shrag doctor --offline")


_standing: list[Watch] = []
_hooked = False


def address_of(url: str) -> Address:
    """Return host and port of an address; the scheme's port where it names none."""
    parts = urlsplit(url.strip())
    return Address(parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0))


@contextmanager
def only(urls: Iterable[str]) -> Iterator[Watch]:
    """Let this process connect to these addresses and to no others, and tell what was tried.

    Names are looked up before the guard stands, since a connection is seen by number.
    """
    global _hooked  # noqa: PLW0603 - an audit hook is the process's, and cannot be taken away
    named = [address_of(url) for url in urls]
    allowed = {*named, *(found for address in named for found in _looked_up(address))}
    watch = Watch(frozenset(allowed), frozenset(address.host for address in allowed))
    if not _hooked:
        sys.addaudithook(_on_event)
        _hooked = True
    _standing.append(watch)
    try:
        yield watch
    finally:
        _standing.remove(watch)


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if _standing and event.startswith("socket."):
        _standing[-1].meet(event, arguments)


def _looked_up(address: Address) -> list[Address]:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except OSError:  # whoever connects there gets the error
        return []
    return [Address(str(to[0]), int(to[1])) for *_, to in found]


def _text(value: Any) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value or "")
