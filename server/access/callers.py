"""The caller of a request, and the facts recorded about the call."""

import math
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime

from starlette.requests import HTTPConnection
from starlette.types import Scope as AsgiScope

from base.calls import Call, observer
from base.net.addresses import network_of
from server.access.keys import NO_OWN_LIMITS, Key, KeyLimits
from server.errors import Forbidden, Unauthorized
from server.settings import ROLES, Role

KEY_NEEDED = "a key is needed, as 'Authorization: Bearer KEY' or in the field of the page"


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller: its role, its key or the person who signed in, if any, and its address."""

    address: str
    role: Role | None = None
    key_id: str = ""
    label: str = ""
    indexes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()  # no indexes and no sources: all of both
    expires: datetime | None = None
    by_cookie: bool = False
    limits: KeyLimits = NO_OWN_LIMITS
    person: str = ""  # pseudonym of a person who signed in, see `access.sign_in`
    by_proxy: bool = False  # the proxy's header names the person
    is_local: bool = False  # at this machine, with the setting `local_operator`

    @classmethod
    def of(cls, key: Key, address: str, *, by_cookie: bool = False) -> "Caller":
        """Return the caller of a key."""
        return cls(
            *(address, key.role, key.id, key.label, key.indexes, key.sources, key.expires, by_cookie),
            limits=key.limits,
        )

    @property
    def has_no_limits(self) -> bool:
        """Whether the caller is the operator at this machine, limited only by its capacity."""
        return self.is_local and not self.is_known

    @property
    def is_known(self) -> bool:
        """Whether the caller has a key or has signed in."""
        return bool(self.key_id or self.person)

    @property
    def is_sent_by_browser(self) -> bool:
        """Whether a browser adds the caller's rights by itself, also to requests of other sites' pages."""
        return self.by_cookie or self.by_proxy

    @property
    def counted_as(self) -> str:
        """The subject of limits: the key or person, else the address, for IPv6 its network."""
        if self.person:
            return f"person {self.person}"
        return f"key {self.key_id}" if self.key_id else f"address {network_of(self.address)}"

    def may_see(self, index: str) -> bool:
        """Check whether the caller may use an index."""
        return not self.is_limited or index in self.indexes

    def may_use(self, source: str) -> bool:
        """Check whether the caller may use a source."""
        return not self.is_limited or source in self.sources

    @property
    def is_limited(self) -> bool:
        """Whether the caller is restricted to the named indexes and sources."""
        return bool(self.indexes or self.sources)

    def has(self, role: Role) -> bool:
        """Check whether the caller has the rights of a role; without a role it has none."""
        return self.role is not None and ROLES.index(self.role) >= ROLES.index(role)

    def require(self, role: Role) -> None:
        """Raise Unauthorized if a key or a person is needed, Forbidden if its role is too low."""
        if self.has(role):
            return
        if not self.is_known:
            raise Unauthorized(KEY_NEEDED if role == "reader" else f"this needs the role {role}")
        raise Forbidden(
            f"this needs the role {role}; the {self.counted_as} has {self.role or 'no role here'}"
        )


@dataclass(slots=True)
class Visit:
    """The facts of one call, filled in as they become known: for the audit log, metrics and headers."""

    request_id: str
    caller: Caller
    route: str = ""
    index: str = ""
    question: str = ""
    is_privileged: bool = False  # work of librarians or operators
    event: str = ""  # of the audit log: sign-in, sign-out
    reason: str = ""  # of a failed sign-in
    charged: str = ""  # the work whose rate was counted at the entrance
    is_unmetered: bool = False  # no rate applies
    open_call: ExitStack = field(default_factory=ExitStack)  # closed at the end of the response
    ends_at: float = math.inf  # deadline, on the event loop's clock
    counts: dict[str, int] = field(default_factory=dict)
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)


_VISIT: ContextVar[Visit | None] = ContextVar("visit", default=None)


def enter(scope: AsgiScope, visit: Visit) -> None:
    """Make a visit available to its task and the tasks that this one starts."""
    scope.setdefault("state", {})["visit"] = visit
    _VISIT.set(visit)

    def note(call: Call) -> None:
        """Note the first question, as the caller wrote it."""
        visit.question = visit.question or getattr(call, "question", None) or ""

    observer.set(note)


def visit_of(connection: HTTPConnection) -> Visit:
    """Return the visit of a connection that passed the entrance."""
    visit: Visit = connection.scope["state"]["visit"]
    return visit


def current_visit() -> Visit | None:
    """Return the visit of the running work; None outside a request."""
    return _VISIT.get()


def may_use(source: str) -> bool:
    """Check whether the current caller may use a source."""
    visit = _VISIT.get()
    return visit is None or visit.caller.may_use(source)


def may_see(index: str) -> bool:
    """Check whether the current caller may use an index."""
    visit = _VISIT.get()
    return visit is None or visit.caller.may_see(index)
