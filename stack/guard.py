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
LOOKED_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
CONNECTED = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})

Address = tuple[str, int]  # host and port


class AddressRefused(ConnectionRefusedError):
    """An address that no setting names."""


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
    attempts: list[Attempt] = field(default_factory=list)
    passed: int = 0  # to addresses that the settings name

    def meet(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Judge one audit event.

        Raises:
            AddressRefused: the settings do not name the address.
        """
        if event == "socket.getnameinfo":  # of an address as it is connected to
            self._look_up(_text(arguments[0][0]), None, event)
        elif event in LOOKED_UP:
            port = arguments[1] if event == "socket.getaddrinfo" else None
            self._look_up(_text(arguments[0]), port, event)
        elif event in CONNECTED:
            sock, to = arguments[0], arguments[1]
            if sock.family not in {socket.AF_INET, socket.AF_INET6} or not to:
                return  # within this machine's kernel, or on a connection that was judged
            host, port = _text(to[0]), int(to[1])
            if (host, port) in self.allowed:
                self.passed += 1
                return
            self._refuse(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", event)

    def _look_up(self, host: str, port: Any, event: str) -> None:
        if host and host not in {named for named, _ in self.allowed}:
            self._refuse(f"{host}:{_text(port)}" if port else host, event)

    def _refuse(self, target: str, event: str) -> None:
        lines = [line.rstrip() for line in traceback.format_stack()]
        meeting = next(number for number, line in enumerate(lines) if "in _on_event" in line)
        self.attempts.append(Attempt(target, event, tuple(lines[:meeting])))
        raise AddressRefused(f"{target} is named by no setting; refused by shrag doctor --offline")


_standing: list[Watch] = []
_hooked = False


@contextmanager
def only(urls: Iterable[str]) -> Iterator[Watch]:
    """Let this process connect to these addresses and to no others, and tell what was tried.

    Names are looked up before the guard stands, since a connection is seen by number.
    """
    global _hooked  # noqa: PLW0603 - an audit hook is the process's, and cannot be taken away
    watch = Watch(frozenset(address for url in urls for address in _addresses(url)))
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


def _addresses(url: str) -> Iterator[Address]:
    """Yield host and port of an address, by name and by each of its numbers."""
    parts = urlsplit(url.strip())
    host, port = parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    yield host, port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:  # whoever connects there gets the error
        return
    yield from ((str(to[0]), int(to[1])) for *_, to in found)


def _text(value: Any) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value or "")
