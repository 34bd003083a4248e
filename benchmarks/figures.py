"""Measured figures with their bars, and the machine."""

import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import click

from base.amounts import plain
from base.cores import usable_cores
from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines
from indexer.options import json_option


def _resolved(context: click.Context, _: click.Parameter, home: Path | None) -> Path:
    """Return the folder of the option, or a temporary one for the time of the command."""
    return (home or Path(context.with_resource(TemporaryDirectory(prefix="shrag-bench-")))).resolve()


KILOBYTE, GIGABYTE = 1024, 10**9

home_option = click.option(
    "--home",
    type=click.Path(path_type=Path),
    callback=_resolved,
    help="Folder of the indexes, kept for the next run. Default: a temporary folder.",
)


def count_option(
    name: str, default: int, least: int = 1
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an option with a number."""
    return click.option(name, type=click.IntRange(least), default=default, show_default=True)


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. A bar is a maximum, or a minimum if `higher_is_better`."""

    part: str
    name: str
    value: float
    unit: str = ""
    bar: float | None = None
    higher_is_better: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the value meets its bar; None without a bar."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.higher_is_better else self.value <= self.bar

    def as_record(self) -> dict[str, Any]:
        """Return the row as JSON; `met` only with a bar."""
        record = {"part": self.part, "name": self.name, "value": self.value, "unit": self.unit}
        return record if self.bar is None else record | {"bar": self.bar, "met": self.met}

    def as_row(self) -> tuple[str, ...]:
        """Return the row as text."""
        size = self.value
        digits = 0 if size >= 1_000 or size == int(size) else 1 if size >= 100 else 3  # noqa: PLR2004
        bar = "" if self.bar is None else f"{'≥' if self.higher_is_better else '≤'} {plain(self.bar)}"
        met = "" if self.met is None else "yes" if self.met else "NO"
        return self.part, self.name, f"{size:,.{digits}f}", self.unit, bar, met


def benchmark(measure: Callable[..., list[Figure]]) -> click.Command:
    """Make a command of a function with options that returns figures."""

    @click.command()
    @click.option("--strict", is_flag=True, help="Exit with 1 if a figure misses its bar.")
    @json_option
    @wraps(measure)
    def command(*, strict: bool, as_json: bool, **options: Any) -> None:
        facts, figures = machine(), measure(**options)  # the load before the measurement
        if as_json:
            echo_json({"machine": facts, "figures": [figure.as_record() for figure in figures]})
        else:
            header = ("", "figure", "value", "unit", "bar", "met")
            echo_lines(table([header, *(figure.as_row() for figure in figures)], words=2))
            echo()
            echo(", ".join(f"{name} {value}" for name, value in facts.items()))
        if strict and any(figure.met is False for figure in figures):
            sys.exit(1)

    return command


def machine() -> dict[str, str | int | float]:
    """Describe the machine."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text(encoding="utf-8").splitlines() if cpu.is_file() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "processor": next(models, platform.processor()),
        "cores": usable_cores(),
        "load": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": platform.python_version(),
        "tantivy": version("tantivy"),
        "python-mecab-ko": version("python-mecab-ko"),
    }


def peak_bytes() -> int:
    """Return the peak resident memory of this process, with the pages of mapped files that it touched."""
    # Unlike ru_maxrss, VmHWM leaves out the memory of the parent before exec.
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * KILOBYTE


def seconds_of(work: Callable[[], object]) -> float:
    """Return the duration of a call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not exceeded by at least this share of the values (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def latencies(part: str, name: str, seconds: Sequence[float], *bars: float | None) -> list[Figure]:
    """Return median and 95th percentile in milliseconds, optionally with bars."""
    median_bar, high_bar = (*bars, None, None)[:2]
    return [
        Figure(part, f"{name}, p50", 1000 * median(seconds), "ms", median_bar),
        Figure(part, f"{name}, p95", 1000 * percentile(seconds, 0.95), "ms", high_bar),
    ]
