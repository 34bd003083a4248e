"""How the server learns that it is to stop, while its streams are still open."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def told_to_stop(stopping: asyncio.Event) -> Iterator[None]:
    """Set the event on a signal, before uvicorn, which waits for open streams, acts on it.

    Elsewhere than in the main thread there are no signals, and the event is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def stop(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stopping.set)
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in SIGNALS:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
