"""Errors between a caller of the server and the layers below.

ServerError
├── BadRequest        an unreadable call; `place` names the part of it
├── AddressTooLong, BodyTooLarge, BodyTooSlow, BodyTooDeep     calls that are not read to the end
├── CallerGone        the caller left before the call had arrived
├── WrongMediaType    a body that is not JSON, or is labelled as another type
├── TooBusy           refused before any work was done; `retry_after_s` is the time to wait
│   ├── TooOften      the rate limit of a key, or an address
│   ├── QuotaUsed     the daily limit of a key
│   └── TooManyOpen   the limit of open calls of a key, or an address
├── Unauthorized      no key, or an invalid one
├── Forbidden         the caller's role is too low, or a page of another site made the request
├── SignInFailed      a sign-in that the provider or this server did not complete
├── ProviderFailed    the provider of sign-in does not answer as its standard says
├── SessionsUnreadable    the store of sign-ins cannot be read or written
├── SignInUnusable    settings with which nobody could sign in safely
├── Misdirected       the Host header names another server
├── TooSlow           the work exceeded its time limit
├── NotProtected      the server would answer everybody without the setting that allows it
├── Stopping          the server is being stopped
├── Starting          indexes or sources are still being opened
├── NothingOpens      there are indexes, and none of them can be opened
├── UnknownSearch     no search for papers with that id is kept for the caller, or no feed with that address
├── SearchRunning     a kept search that another call is continuing
├── JudgementNotKept  the file of readers' judgements is full, busy or cannot be written
├── SearchUnusable    a kept search, or a feed, that cannot be read, saved or removed
├── UnknownKey        no key with that id
└── KeysUnreadable    the store of keys cannot be read or written
    └── KeysEmpty     its file has no content, so no key is valid
"""

from base.errors import RemediableError


class ServerError(Exception):
    """Base of all server errors; the message names the cause and the next step."""


class BadRequest(ServerError):
    """An unreadable call; `place` names the part of it, like `body.k`, and `reason` what is wrong with it."""

    def __init__(self, message: str, *, place: str = "", reason: str = "") -> None:
        """Keep place and reason next to the message."""
        self.place, self.reason = place, reason
        super().__init__(message)


class AddressTooLong(ServerError):
    """A path and query longer than the limit."""


class BodyTooLarge(ServerError):
    """A body larger than the limit."""


class BodyTooSlow(ServerError):
    """A call that did not arrive in time."""


class BodyTooDeep(ServerError):
    """JSON nested more deeply than the limit."""


class CallerGone(ServerError):
    """The caller left before the call had arrived; no response can be sent."""


class WrongMediaType(ServerError):
    """A body in an unsupported form, like a compressed one."""


class TooBusy(ServerError):
    """The server is at capacity; no work was started."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        """`retry_after_s`: seconds after which the call may be repeated."""
        self.retry_after_s = retry_after_s
        super().__init__(message)


class Stopping(ServerError):
    """The server is being stopped."""


class Starting(ServerError):
    """Indexes or sources are still being opened."""


class NothingOpens(ServerError):
    """There are indexes, and none of the expected ones can be opened."""


class TooOften(TooBusy):
    """A key, or an address, has reached its rate limit."""


class QuotaUsed(TooBusy):
    """A key has reached its daily limit."""


class TooManyOpen(TooBusy):
    """A key, or an address, has reached its limit of open calls."""


class Unauthorized(ServerError):
    """No key, or an invalid one."""


class PersonsSessionEnded(Unauthorized):
    """The browser's cookie is of a person's session that has ended."""


class Forbidden(ServerError):
    """The caller's role is too low, or a page of another site made the request."""


class SignInFailed(ServerError):
    """A sign-in that was not completed; `reason` is a word for the audit log."""

    def __init__(self, message: str, *, reason: str) -> None:
        """Keep the reason next to the message."""
        self.reason = reason
        super().__init__(message)


class ProviderFailed(ServerError):
    """The provider of sign-in does not answer as its standard says."""


class SessionsUnreadable(RemediableError, ServerError):
    """The store of sign-ins cannot be read or written."""


class SignInUnusable(RemediableError, ServerError):
    """Settings with which nobody could sign in safely."""


class Misdirected(ServerError):
    """The Host header names another server."""


class TooSlow(ServerError):
    """The work exceeded its time limit."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: the limit."""
        super().__init__(f"this took longer than {seconds:g} seconds")


class UnknownSearch(ServerError):
    """No search for papers with that id is kept for the caller, or no feed has that id or address."""


class SearchRunning(ServerError):
    """A kept search is running; only one call can continue it at a time."""


class SearchUnusable(ServerError):
    """A kept search, or a feed, that cannot be read, saved or removed."""


class JudgementNotKept(ServerError):
    """The file of readers' judgements is full, busy or cannot be written."""


class NotProtected(RemediableError, ServerError):
    """The server would answer everybody without the setting that allows it."""


class UnknownKey(RemediableError, ServerError):
    """No key has that id."""


class KeysUnreadable(RemediableError, ServerError):
    """The store of keys cannot be read or written; `passing` if the cause may disappear soon."""

    def __init__(self, what: str, *, remedy: str | tuple[str, ...] = (), passing: bool = False) -> None:
        """`passing`: a retry may succeed."""
        self.passing = passing
        super().__init__(what, remedy=remedy)


class KeysEmpty(KeysUnreadable):
    """The file of keys has no content, so no key is valid."""
