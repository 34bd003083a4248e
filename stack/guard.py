"""A guard on the sockets of this process: addresses that are not in the settings are refused, and recorded.

Python raises an audit event before a name look-up and before a connection, for all libraries. Not covered are
native code that opens sockets itself, and child processes; for those, run the command in a separate network
namespace (`unshare --net`, or a container without network).
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
    """An address that is not in the settings."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A refused connection or look-up."""

    target: str
    event: str
    stack: tuple[str, ...]


@dataclass(slots=True)
class Watch:
    """The allowed addresses, and the attempts while the guard was active."""

    allowed: frozenset[Address]
    attempts: list[Attempt] = field(default_factory=list)
    passed: int = 0  # connections to allowed addresses

    def meet(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Check one audit event.

        Raises:
            AddressRefused: the address is not in the settings.
        """
        if event == "socket.getnameinfo":  # its argument is an address
            self._look_up(_text(arguments[0][0]), None, event)
        elif event in LOOKED_UP:
            port = arguments[1] if event == "socket.getaddrinfo" else None
            self._look_up(_text(arguments[0]), port, event)
        elif event in CONNECTED:
            sock, to = arguments[0], arguments[1]
            if sock.family not in {socket.AF_INET, socket.AF_INET6} or not to:
                return  # a local socket, or a connection that was already checked
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
        raise AddressRefused(f"{target} is not in the settings; refused by shrag doctor --offline")


_active: list[Watch] = []
_hooked = False


@contextmanager
def only(urls: Iterable[str]) -> Iterator[Watch]:
    """Allow connections to these addresses only, and yield a record of other attempts.

    Names are resolved before the guard is active, as audit events of connections contain numeric addresses.
    """
    global _hooked  # noqa: PLW0603 - an audit hook is global, and cannot be removed
    watch = Watch(frozenset(address for url in urls for address in _addresses(url)))
    if not _hooked:
        sys.addaudithook(_on_event)
        _hooked = True
    _active.append(watch)
    try:
        yield watch
    finally:
        _active.remove(watch)


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if _active and event.startswith("socket."):
        _active[-1].meet(event, arguments)


def _addresses(url: str) -> Iterator[Address]:
    """Yield host and port of an address, with its name and each of its numeric addresses."""
    parts = urlsplit(url.strip())
    host, port = parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    yield host, port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:  # a connection to it will raise the error
        return
    yield from ((str(to[0]), int(to[1])) for *_, to in found)


def _text(value: Any) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value or "")
