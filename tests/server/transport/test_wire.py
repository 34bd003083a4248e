"""Connections by themselves: which is closed to make room for another."""

import asyncio
from types import SimpleNamespace

from uvicorn import Config
from uvicorn.server import ServerState

from server.access.callers import Caller, Visit
from server.transport.holding import hold
from server.transport.wire import BoundedProtocol
from tests.virtual_clock import run

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Transport(asyncio.Transport):
    """A connection that notes what becomes of it."""

    def __init__(self):
        super().__init__()
        self.sent = b""
        self.is_aborted = False

    def write(self, data):
        self.sent += data

    def is_closing(self):
        return self.is_aborted

    def close(self):
        self.is_aborted = True

    abort = close

    def pause_reading(self):
        """Nothing is read from it anyway."""


async def hold_back(scope, receive, _):
    """Refuse every call, and hold the answer back."""
    await hold(scope, receive, scope["state"]["services"], Visit("r", Caller("192.0.2.1")))


def test_a_held_refusal_makes_room_also_where_a_further_request_waits_behind_it():
    async def main():
        config = Config(hold_back, http=BoundedProtocol, lifespan="off", log_config=None)
        config.load()
        services = SimpleNamespace(server=SimpleNamespace(connections=1), stopping=asyncio.Event())
        shared = config, ServerState(), {"services": services}

        def connect():
            protocol, transport = BoundedProtocol(*shared), Transport()
            protocol.connection_made(transport)
            return protocol, transport

        protocol, first = connect()
        protocol.data_received(GET + GET)
        await asyncio.sleep(0.1)
        _, second = connect()

        assert (first.is_aborted, second.is_aborted, second.sent) == (True, False, b"")

    run(main())
