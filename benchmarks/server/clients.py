"""Client processes of a measured server, and their measurements."""

import json
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.server.served import ROOT, Served

OK, REFUSED = 200, 429

Measured = list[tuple[float, float, int]]  # scheduled time of a call, seconds until its response, status


def started(
    served: Served, rate: float, seconds: float, questions: Sequence[str], **options: object
) -> "subprocess.Popen[str]":
    """Start a client in another process with a rate of calls; rate 0 is as fast as possible."""
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    command = [
        sys.executable,
        "-m",
        "benchmarks.server.open_loop",
        *map(str, (served.port, rate, seconds)),
        *given,
    ]
    client = subprocess.Popen(  # noqa: S603 - own module
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert client.stdin is not None  # noqa: S101 - piped above
    client.stdin.write("\n".join(json.dumps({"question": question}) for question in questions))
    client.stdin.close()
    return client


def measured_by(client: "subprocess.Popen[str]") -> Measured:
    """Wait for a client process, and return its calls."""
    assert client.stdout is not None  # noqa: S101 - piped where it was started
    with client.stdout:
        calls = [(due, took, status) for due, took, status in json.loads(client.stdout.read())]
    if client.wait():
        raise RuntimeError("the client failed")
    return calls


def send(served: Served, rate: float, seconds: float, questions: Sequence[str]) -> Measured:
    """Send searches at `rate` per second for `seconds` from another process, and return its calls."""
    return measured_by(started(served, rate, seconds, questions))
