"""Programs in front of the server, run with the examples of docker/proxy."""

import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.indexer.made_corpora import ROOT
from tests.server.running import START_S


def example(name: str, changes: Mapping[str, str]) -> str:
    """Return an example with changed values; each pattern must be found."""
    text = (ROOT / "docker" / "proxy" / name).read_text("utf-8")
    for pattern, value in changes.items():
        text, count = re.subn(pattern, value, text)
        assert count, f"nothing of the example is like {pattern}"
    return text


@contextmanager
def listening(command: Sequence[str | Path], url: str) -> Iterator[None]:
    """Run a proxy in the foreground, from its first answer at an address to the end of a block."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert process.stderr
    try:
        ends = time.monotonic() + START_S
        while time.monotonic() < ends:
            assert process.poll() is None, process.stderr.read()
            try:
                httpx.get(url, timeout=START_S)
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                break
        yield
    finally:
        process.terminate()
        process.wait(START_S)
        process.stderr.close()
