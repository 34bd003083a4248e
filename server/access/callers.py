"""Who calls, and what is to be remembered of a call."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime

from starlette.requests import HTTPConnection
from starlette.types import Scope as AsgiScope

from base.net.networks import network_of
from server.access.keys import NO_OWN_LIMITS, Key, KeyLimits, Scope
from server.errors import Forbidden, Unauthorized

KEY_NEEDED = "a key is needed, as 'Authorization: Bearer KEY' or in the field of the page"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: a key, or nobody that is known; and from where."""

    address: str
    scopes: tuple[Scope, ...] = ()
    key_id: str = ""
    label: str = ""
    indexes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()  # without indexes and sources: all of both
    expires: datetime | None = None
    by_cookie: bool = False
    limits: KeyLimits = NO_OWN_LIMITS
    is_local: bool = False  # a process of this machine, not a proxy that passes on what others ask

    @classmethod
    def of(cls, key: Key, address: str, *, by_cookie: bool = False) -> "Caller":
        """Return the caller that a key names."""
        return cls(
            *(address, key.scopes, key.id, key.label, key.indexes, key.sources, key.expires, by_cookie),
            limits=key.limits,
        )

    @property
    def has_no_limits(self) -> bool:
        """Whether this is the operator's own work at this machine, which only its capacity bounds."""
        return self.is_local and not self.key_id

    @property
    def counted_as(self) -> str:
        """What limits go by: the key, without one the address, of IPv6 its network."""
        return f"key {self.key_id}" if self.key_id else f"address {network_of(self.address)}"

    def may_see(self, index: str) -> bool:
        """Tell whether an index is there for this caller."""
        return not self.is_limited or index in self.indexes

    def may_use(self, source: str) -> bool:
        """Tell whether a source is there for this caller."""
        return not self.is_limited or source in self.sources

    @property
    def is_limited(self) -> bool:
        """Whether only what its key names is there."""
        return bool(self.indexes or self.sources)

    def require(self, scope: Scope) -> None:
        """Raise Unauthorized without a key that is needed, Forbidden with one that does not allow this."""
        if scope in self.scopes:
            return
        if not self.key_id:
            raise Unauthorized(KEY_NEEDED if scope == "read" else f"this takes a key of the scope {scope}")
        raise Forbidden(f"the key {self.key_id} has not the scope {scope}")


@dataclass(slots=True)
class Visit:
    """What one call is about, filled in as it becomes known: for the audit log, metrics and headers."""

    request_id: str
    caller: Caller
    route: str = ""
    index: str = ""
    question: str = ""
    charged: str = ""  # the work whose rate was counted at the entrance
    counted_today: bool = False  # in the key's day, for work that has not begun
    open_call: ExitStack = field(default_factory=ExitStack)  # closes when the answer has ended
    ends_at: float = math.inf  # when the time of its work is up, by the event loop's clock
    waiting_elsewhere: Callable[[], AbstractContextManager[None]] = nullcontext  # others have its place
    counts: dict[str, int] = field(default_factory=dict)
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)


_VISIT: ContextVar[Visit | None] = ContextVar("visit", default=None)


def enter(scope: AsgiScope, visit: Visit) -> None:
    """Make a visit known to what is done for it, in this task and those that it starts."""
    scope.setdefault("state", {})["visit"] = visit
    _VISIT.set(visit)


def visit_of(connection: HTTPConnection) -> Visit:
    """Return the visit of a connection that came in by the entrance."""
    visit: Visit = connection.scope["state"]["visit"]
    return visit


def current_visit() -> Visit | None:
    """Return whose work this is; None where it is nobody's from outside."""
    return _VISIT.get()


def may_use(source: str) -> bool:
    """Tell whether a source is there for whoever this work is done for."""
    visit = _VISIT.get()
    return visit is None or visit.caller.may_use(source)


def may_see(index: str) -> bool:
    """Tell whether an index is there for whoever this work is done for."""
    visit = _VISIT.get()
    return visit is None or visit.caller.may_see(index)
