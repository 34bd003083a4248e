"""Layouts of published benchmarks for finding papers.

`shrag experiment import LAYOUT PATH --out DIR` turns a benchmark into the files of an experiment: topics,
qrels, and papers for an index (`benchmark.py`).
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.experiments.layouts.benchmark import Benchmark

# The module of each layout, with a function `read_LAYOUT`.
LAYOUTS: Mapping[str, str] = {
    "autoscholar": "listed",
    "sparbench": "listed",
    "litsearch": "corpora",
    "beir": "corpora",
    "miracl": "corpora",
}


def read_benchmark(layout: str, path: Path, split: str) -> "Benchmark":
    """Read a benchmark of a layout, at the path of its folder or file.

    Raises:
        BadBenchmark, BadTopics, BadQrels: with file and line.
        LibraryMissing: as the reader of the layout.
    """
    module = import_module(f"{__name__}.{LAYOUTS[layout]}")
    read: Callable[[Path, str], Benchmark] = getattr(module, f"read_{layout}")
    return read(path, split)
