"""The end of a server: stop signals reach it while its streams are open, and hanging work is ended."""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOPPING = "the server is being stopped; try again in a moment"
CLOSED_WITHIN_S = 0.5  # time to close everything after the time for open calls


@contextmanager
def stop_event_on_signal(stopping: asyncio.Event, within_s: float) -> Iterator[None]:
    """Set the event on a signal, before uvicorn, which waits for open streams, handles it.

    A process that has not ended `within_s` seconds later is killed, even if its threads are busy:
    acknowledged data is never only in memory. Outside the main thread there are no signals, and the event is
    not set.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def stop(number: int, frame: FrameType | None) -> None:
        if not stopping.is_set():
            ending = threading.Timer(within_s + CLOSED_WITHIN_S, os._exit, (0,))
            ending.daemon = True
            ending.start()
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


def stop_with_parent() -> bool:
    """Return whether this process is a worker; a worker stops when its parent ends for any reason."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return False

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()
    return True
