"""Readers of published benchmarks for finding papers, one file for each layout.

`shrag experiment import LAYOUT PATH --out DIR` (`importing.py`) turns a benchmark into the files of an
experiment: topics, qrels, and papers for an index.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from eval.experiments.benchmarks.autoscholar import read_autoscholar
from eval.experiments.benchmarks.beir import read_beir
from eval.experiments.benchmarks.benchmark import Benchmark
from eval.experiments.benchmarks.litsearch import read_litsearch
from eval.experiments.benchmarks.miracl import read_miracl
from eval.experiments.benchmarks.sparbench import read_sparbench

Reader: TypeAlias = Callable[[Path, str], Benchmark]  # path and split

LAYOUTS: Mapping[str, Reader] = {
    "autoscholar": read_autoscholar,
    "sparbench": read_sparbench,
    "litsearch": read_litsearch,
    "beir": read_beir,
    "miracl": read_miracl,
}
