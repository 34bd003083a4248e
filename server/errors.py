"""What can go wrong between a caller of the server and its layers below.

ServerError
├── BadRequest        a call that cannot be read: `place` says which part of it
├── TooBusy           refused before any work was done; `retry_after_s` says when to come again
└── Stopping          the server is being stopped
"""


class ServerError(Exception):
    """Base of all; the message says what happened, and what to do next."""


class BadRequest(ServerError):
    """A call that cannot be read; `place` names the part of it, like `body.k`."""

    def __init__(self, message: str, *, place: str = "") -> None:
        """Keep the place beside the message."""
        self.place = place
        super().__init__(message)


class TooBusy(ServerError):
    """The server has more to do than it can; nothing was begun."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        """Keep beside the message after how many seconds the call may be made again."""
        self.retry_after_s = retry_after_s
        super().__init__(message)


class Stopping(ServerError):
    """The server is being stopped."""
