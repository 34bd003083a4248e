"""HEAD is answered wherever GET is (RFC 9110, 9.3.2), for monitors and checkers of links."""

from starlette.types import ASGIApp, Receive, Scope, Send


class AnswersHead:
    """Handles HEAD as GET; the HTTP server leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on."""
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        await self._app({**scope, "method": "GET"} if is_head else scope, receive, send)
