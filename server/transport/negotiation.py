"""Two routes at one address: the streaming one answers callers that accept server-sent events."""

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

EVENT_STREAM = "text/event-stream"


class StreamRoute(APIRoute):
    """A route for callers whose `Accept` includes server-sent events; it must come before the plain one."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match if the caller accepts a stream."""
        accepted = b",".join(value for name, value in scope.get("headers", ()) if name == b"accept")
        return super().matches(scope) if EVENT_STREAM.encode() in accepted.lower() else (Match.NONE, {})
