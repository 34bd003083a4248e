"""What is measured, beside what it should be, and on which machine."""

import json
import os
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from eval.tables import aligned


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. A bar is a highest value, or a lowest one where `higher_is_better`."""

    part: str
    name: str
    value: float
    unit: str = ""
    bar: float | None = None
    higher_is_better: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the value keeps to its bar; None where there is none."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.higher_is_better else self.value <= self.bar

    def as_record(self) -> dict[str, Any]:
        """Return the row as JSON; `met` stands only beside a bar."""
        record = {"part": self.part, "name": self.name, "value": self.value, "unit": self.unit}
        return record if self.bar is None else record | {"bar": self.bar, "met": self.met}


def table(figures: Sequence[Figure]) -> str:
    """Lay the figures out as a table."""
    rows = [
        (
            one.part,
            one.name,
            _shown(one.value),
            one.unit,
            _shown_bar(one),
            _shown_met(one),
        )
        for one in figures
    ]
    return aligned(("", "figure", "value", "unit", "bar", "met"), rows, words=2)


def report(
    figures: Sequence[Figure], facts: Mapping[str, str | int | float], *, as_json: bool, strict: bool = False
) -> None:
    """Print the figures, and the machine as it was before; with `strict` end with 1 where a bar is missed."""
    if as_json:
        rows = [figure.as_record() for figure in figures]
        click.echo(json.dumps({"machine": facts, "figures": rows}, ensure_ascii=False))
    else:
        click.echo(table(figures))
        click.echo("\n" + ", ".join(f"{name} {value}" for name, value in facts.items()))
    if strict and any(figure.met is False for figure in figures):
        sys.exit(1)


def _shown(value: float) -> str:
    digits = 0 if value >= 1_000 or value == int(value) else 1 if value >= 100 else 3  # noqa: PLR2004
    return f"{value:,.{digits}f}"


def _shown_met(figure: Figure) -> str:
    return "" if figure.met is None else "yes" if figure.met else "NO"


def _shown_bar(figure: Figure) -> str:
    return "" if figure.bar is None else f"{'≥' if figure.higher_is_better else '≤'} {figure.bar:g}"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return statistics.median(values)


def machine() -> dict[str, str | int | float]:
    """Tell what the figures were measured on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": platform.python_version(),
        "tantivy": version("tantivy"),
        "python-mecab-ko": version("python-mecab-ko"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )
