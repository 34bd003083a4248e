"""Several processes that serve one address, supervised by their parent."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time

from uvicorn import Config
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from server.processes.stopping import CLOSED_WITHIN_S

SHORTEST_LIFE_S = 5.0  # of a worker; one that ends sooner is replaced only after this time

log = logging.getLogger("uvicorn.workers")


class Workers(Multiprocess):
    """Worker processes; an ended one is replaced, and none outlives the time limit for stopping.

    uvicorn's own supervisor also checks that each process is alive, and waits for the answer, for seconds if
    one is just starting; in this time it would handle no signal.
    """

    def __init__(self, config: Config, listener: socket.socket, stop_s: float) -> None:
        """`stop_s`: seconds for open calls to finish when the workers stop."""
        super().__init__(config, [listener])
        self._stop_s = stop_s
        self._replaced: dict[int, float] = {}

    @property
    def failed(self) -> bool:
        """Whether they ended because one could not start."""
        return any(worker.exitcode == STARTUP_FAILURE for worker in self.processes)

    def keep_subprocess_alive(self) -> None:
        """Replace ended workers."""
        now = time.monotonic()
        for number, worker in enumerate(self.processes):
            if worker.process.is_alive() or now < self._replaced.get(number, 0.0) + SHORTEST_LIFE_S:
                continue
            if worker.exitcode == STARTUP_FAILURE:  # a new one would also fail
                self.should_exit.set()
                return
            log.warning("worker %s ended (%s); another one is started", worker.pid, worker.exitcode)
            self._replaced[number] = now
            self.processes[number] = Process(self.config, self.sockets)
            self.processes[number].start()

    def terminate_all(self) -> None:
        """Refuse new connections, and stop all workers."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()

    def join_all(self) -> None:
        """Wait for all workers, and kill those that exceed the time limit."""
        ends = time.monotonic() + self._stop_s + CLOSED_WITHIN_S
        for worker in self.processes:
            worker.process.join(max(0.0, ends - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


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
