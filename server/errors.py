"""What can go wrong between a caller of the server and its layers below.

ServerError
├── BadRequest        a call that cannot be read: `place` says which part of it
├── AddressTooLong, BodyTooLarge, BodyTooSlow, BodyTooDeep     calls that are not read to their end
├── CallerGone        the caller left before the call had arrived
├── WrongMediaType    a body that is no JSON, or says so
├── TooBusy           refused before any work was done; `retry_after_s` says when to come again
│   ├── TooOften      more calls than a key, or an address, has in a time
│   ├── QuotaUsed     as many calls as a key has in a day
│   └── TooManyOpen   as many calls open at once as a key, or an address, may have
├── Unauthorized      no key, or one that opens nothing
├── Forbidden         a key that does not allow this, or a page of another site that asks
├── Misdirected       a name of a host that this server does not answer to
├── TooSlow           work that took longer than it may
├── NotProtected      the server would answer everybody, and nobody has said that it may
├── Stopping          the server is being stopped
├── Starting          what questions are asked of is still being opened
├── NothingOpens      there are indexes, and none of them can be opened
├── UnknownSearch     no search for papers of that id is kept for the caller
├── SearchRunning     a kept search that is gone on with elsewhere
├── SearchUnusable    a kept search that cannot be read or removed
├── UnknownKey        no key of that id
└── KeysUnreadable    the store of keys cannot be read or written
    └── KeysEmpty     its file has no content, so no key opens anything
"""

from base.errors import RemediableError


class ServerError(Exception):
    """Base of all; the message says what happened, and what to do next."""


class BadRequest(ServerError):
    """A call that cannot be read; `place` names the part of it, like `body.k`."""

    def __init__(self, message: str, *, place: str = "") -> None:
        """Keep the place beside the message."""
        self.place = place
        super().__init__(message)


class AddressTooLong(ServerError):
    """A path and a query of more bytes than are read."""


class BodyTooLarge(ServerError):
    """A call of more bytes than are read."""


class BodyTooSlow(ServerError):
    """A call that did not arrive in time."""


class BodyTooDeep(ServerError):
    """JSON of more brackets in one another than are read."""


class CallerGone(ServerError):
    """The caller left before the call had arrived; there is nobody to tell."""


class WrongMediaType(ServerError):
    """A body in a form that is not read, like a packed one."""


class TooBusy(ServerError):
    """The server has more to do than it can; nothing was begun."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        """Keep beside the message after how many seconds the call may be made again."""
        self.retry_after_s = retry_after_s
        super().__init__(message)


class Stopping(ServerError):
    """The server is being stopped."""


class Starting(ServerError):
    """What questions are asked of is still being opened."""


class NothingOpens(ServerError):
    """There are indexes, and none of those that questions are expected for can be opened."""


class TooOften(TooBusy):
    """A key, or an address, has made as many calls as it may in a time."""


class QuotaUsed(TooBusy):
    """A key has made as many calls as it may in a day."""


class TooManyOpen(TooBusy):
    """A key, or an address, has as many calls open as it may."""


class Unauthorized(ServerError):
    """No key, or one that opens nothing."""


class Forbidden(ServerError):
    """A key that does not allow this, or a page of another site that asks."""


class Misdirected(ServerError):
    """A name of a host that this server does not answer to."""


class TooSlow(ServerError):
    """Work that took longer than it may."""

    def __init__(self, seconds: float) -> None:
        """Say how long it may take."""
        super().__init__(f"this took longer than {seconds:g} seconds")


class UnknownSearch(ServerError):
    """No search for papers of that id is kept for the caller."""


class SearchRunning(ServerError):
    """A kept search that is under way; it is gone on with once at a time."""


class SearchUnusable(ServerError):
    """A kept search that cannot be read or removed."""


class NotProtected(RemediableError, ServerError):
    """The server would answer everybody, and nobody has said that it may."""


class UnknownKey(RemediableError, ServerError):
    """No key has that id."""


class KeysUnreadable(RemediableError, ServerError):
    """The store of keys cannot be read or written; `passing` where that may be over in a moment."""

    def __init__(self, what: str, *, remedy: str | tuple[str, ...] = (), passing: bool = False) -> None:
        """Keep whether it is worth trying again."""
        self.passing = passing
        super().__init__(what, remedy=remedy)


class KeysEmpty(KeysUnreadable):
    """The file of keys has no content: no key opens anything."""
