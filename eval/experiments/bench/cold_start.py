"""`shrag search` from nothing: a new process for each question."""

import os
import subprocess
import sys
import time
from pathlib import Path

from eval.experiments.bench.figures import Figure, median

BAR = 1.0
PART = "cold start"
STARTS = 10
QUESTION = "세계에서 가장 높은 산은 무엇인가?"


def measure_cold_start(home: Path, name: str) -> list[Figure]:
    """Start `shrag search` ten times, after one that brings the files into the system's memory."""
    command = [sys.executable, "-m", "shrag", "search", QUESTION, "--name", name, "--json"]
    seconds = [_seconds(command, home) for _ in range(1 + STARTS)][1:]
    bare = [_seconds([sys.executable, "-c", ""], home) for _ in range(STARTS)]
    return [
        Figure(PART, "shrag search, median of 10", median(seconds), "s", BAR),
        Figure(PART, "shrag search, slowest of 10", max(seconds), "s"),
        Figure(PART, "of which Python itself", median(bare), "s"),
    ]


def _seconds(command: list[str], home: Path) -> float:
    environment = os.environ | {"SHRAG_HOME": str(home)}
    started = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - own command
    return time.perf_counter() - started
