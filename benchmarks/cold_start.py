"""`shrag search` from nothing: a new process for each question."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.timing import seconds_of

BAR = 1.0
PART = "cold start"
STARTS = 10
QUESTION = "세계에서 가장 높은 산은 무엇인가?"


def measure_cold_start(home: Path, name: str) -> list[Figure]:
    """Start `shrag search` ten times, after one that brings the files into the system's memory."""
    environment = os.environ | {"SHRAG_HOME": str(home)}

    def start(*words: str) -> None:
        command = [sys.executable, *words]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - own command

    def search() -> None:
        start("-m", "shrag", "search", QUESTION, "--name", name, "--json")

    search()
    seconds = [seconds_of(search) for _ in range(STARTS)]
    bare = [seconds_of(lambda: start("-c", "")) for _ in range(STARTS)]
    return [
        Figure(PART, "shrag search, median of 10", median(seconds), "s", BAR),
        Figure(PART, "shrag search, slowest of 10", max(seconds), "s"),
        Figure(PART, "of which Python itself", median(bare), "s"),
    ]
