"""The process of a job: runs `shrag`, and writes the result when it ends.

    python -m server.jobs.process FOLDER LOCK ARGUMENT…

LOCK is the descriptor of the job's lock, which this process and the command hold until both have ended. The
server may stop and start in the meantime. A file `stop` in the folder interrupts the command.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from base.files.durable import write_durably
from server.jobs.job import INTERRUPTED, Result

STOP, RESULT = "stop", "result.json"
CHECKED_EVERY_S = 0.5
STOPPING_S = 60.0  # between SIGINT and SIGKILL
PRIORITY = 5  # of processes that serve nobody
COMMAND = "import sys, shrag; sys.argv[0] = 'shrag'; shrag.main()"


def run(folder: Path, lock: int, arguments: list[str]) -> Result:
    """Run the command to its end, or until it is stopped; its output is this process's output."""
    with suppress(OSError):
        os.nice(PRIORITY)
    process = subprocess.Popen(  # noqa: S603 - own command
        [sys.executable, "-P", "-c", COMMAND, *arguments], stdin=subprocess.DEVNULL, pass_fds=[lock]
    )
    stopped = False
    while not stopped:
        try:
            process.wait(CHECKED_EVERY_S)
            break
        except subprocess.TimeoutExpired:
            stopped = (folder / STOP).exists()
    if stopped:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOPPING_S)
        except subprocess.TimeoutExpired:
            process.kill()
    code = process.wait()
    ended = datetime.now(UTC).isoformat(timespec="seconds")
    return Result(ended, code, stopped and code in {INTERRUPTED, -signal.SIGINT, -signal.SIGKILL})


def main() -> None:
    """Run a job, and write its result."""
    folder, lock, *arguments = sys.argv[1:]
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # A server that a script started in the background ignores SIGINT, and so would the command.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    result = run(Path(folder), int(lock), arguments)
    write_durably(Path(folder) / RESULT, json.dumps(asdict(result)))


if __name__ == "__main__":
    main()
