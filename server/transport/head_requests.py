"""HEAD requests are answered like GET (RFC 9110, 9.3.2), for monitors and link checkers."""

from starlette.types import ASGIApp, Receive, Scope, Send


class AnswersHead:
    """Handle HEAD as GET; the HTTP server omits the body."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on."""
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        await self._app({**scope, "method": "GET"} if is_head else scope, receive, send)
