"""Errors between a caller of the server and the layers below."""

from base.errors import RemediableError

IN_LOG = "the reason is in the server's log"


class ServerError(RemediableError):
    """Base of all server errors; the message names the cause and the next step."""


class BadRequest(ServerError, http_status=422, code="bad-request"):
    """An unreadable call; `place` names the part of it, like `body.k`, and `reason` what is wrong with it."""

    def __init__(self, message: str, *, place: str = "", reason: str = "") -> None:
        """Keep place and reason next to the message."""
        self.place, self.reason = place, reason
        super().__init__(message)


class AddressTooLong(ServerError, http_status=414, code="address-too-long"):
    """A path and query longer than the limit."""


class BodyTooLarge(ServerError, http_status=413, code="too-large"):
    """A body larger than the limit."""


class BodyTooSlow(ServerError, http_status=408, code="too-slow-to-arrive"):
    """A call that did not arrive in time."""


class CallerGone(ServerError):
    """The caller left before the call had arrived; no response can be sent."""


class WrongMediaType(ServerError, http_status=415, code="wrong-media-type"):
    """A body that is not JSON, or is labelled or packed as another type."""


class TooBusy(ServerError, http_status=429, code="too-busy"):
    """The server is at capacity; no work was started."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        """`retry_after_s`: seconds after which the call may be repeated."""
        self.retry_after_s = retry_after_s
        super().__init__(message)


class TooOften(TooBusy, code="too-often"):
    """A key, or an address, has reached its rate limit."""


class QuotaUsed(TooBusy, code="quota-used"):
    """A key has reached its daily limit."""


class TooSlow(ServerError, http_status=503, code="too-slow"):
    """The work exceeded its time limit."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: the limit."""
        super().__init__(f"this took longer than {seconds:g} seconds")


class Stopping(ServerError, http_status=503, code="stopping"):
    """The server is being stopped."""


class Starting(ServerError, http_status=503, code="starting"):
    """Indexes or sources are still being opened."""


class NothingOpens(ServerError, http_status=503, code="no-index-opens"):
    """There are indexes, and none of the expected ones can be opened."""


class Misdirected(ServerError, http_status=421, code="unknown-host"):
    """The Host header names another server."""


class Unauthorized(ServerError, http_status=401, code="key-needed"):
    """No key, or an invalid one."""


class SessionEnded(Unauthorized):
    """The browser's cookie is of a session that has ended."""


class Forbidden(ServerError, http_status=403, code="forbidden"):
    """The caller's role is too low, or a page of another site made the request."""


class SignInFailed(ServerError, http_status=403, code="sign-in-failed"):
    """A sign-in that was not completed; `reason` is a word for the audit log."""

    def __init__(self, message: str, *, reason: str) -> None:
        """Keep the reason next to the message."""
        self.reason = reason
        super().__init__(message)


class ProviderFailed(
    ServerError,
    http_status=502,
    code="provider-failed",
    public="the sign-in service failed; the details are in the server's log",
):
    """The provider of sign-in does not answer as its standard says."""


class SignInUnusable(ServerError, exit_code=2):
    """Settings with which nobody could sign in safely."""


class NotProtected(ServerError, exit_code=2):
    """The server would answer everybody without the setting that allows it."""


class UnknownKey(ServerError, http_status=404, code="unknown-key", exit_code=2):
    """No key has that id."""


class StoreUnusable(
    ServerError,
    http_status=503,
    code="keys-unreadable",
    public=f"keys and searches cannot be read or written now; {IN_LOG}",
):
    """The store of keys, sessions, searches and feeds is damaged, locked for too long or not writable."""


class UnknownSearch(ServerError, http_status=404, code="unknown-search"):
    """No search for papers with that id is kept for the caller, or no feed has that id or address."""


class SearchRunning(ServerError, http_status=409, code="search-running"):
    """A kept search is running; only one call can continue it at a time."""


class SearchUnusable(ServerError, http_status=503, code="search-unusable"):
    """A kept search, or a feed, that cannot be read, saved or removed."""


class JudgementNotKept(ServerError, http_status=503, code="judgement-not-kept"):
    """The file of readers' judgements is full, busy or cannot be written."""


class NotFound(ServerError, http_status=404, code="not-found"):
    """No page or endpoint is at the address."""


class WrongMethod(ServerError, http_status=405, code="wrong-method"):
    """The address exists, but not for the method of the call."""
