"""Indexing a Korean corpus, from MIRACL's files to the published version.

With no more cores than workers, the lattice's share of the processor time bounds what can be reached:
reading, writing and the glossary then take their time from the analysis.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from benchmarks.analysis import bare_lattice, seconds_for
from benchmarks.figures import Figure
from benchmarks.korean import Passage, texts_of, write_copies
from indexer.errors import IndexMismatch, UnknownIndex
from indexer.ingest import build_index
from indexer.requests import IngestRequest, Progress
from indexer.settings import IndexerSettings
from retriever.index import open_index

WORKERS = 2
ROUNDS = 3
BAR = 0.4
PART = "indexing"
REPEATED_TO = 30_000
NAME = "korean"


def measure_indexing(
    home: Path, passages: Sequence[Passage], rounds: int, progress: Progress
) -> list[Figure]:
    """Index the passages as they are, then repeated under other ids; leaves the former as index `korean`."""
    settings = IndexerSettings(home=home, engine="tantivy", workers=WORKERS)
    texts = texts_of(passages)
    figures: list[Figure] = []
    for name, copies in ((NAME, 1), (f"{NAME}-repeated", -(-REPEATED_TO // len(passages)))):
        path = write_copies(home / f"{name}.jsonl", passages, copies)
        rates, shares, busy = [], [], []
        for _ in range(rounds):
            before_build = _bare_seconds(texts)
            before = _processor_seconds()
            report = build_index(_request(name, path), settings, progress)
            spent = (_processor_seconds() - before) / report.manifest.passages
            elapsed, processor = map(fmean, zip(before_build, _bare_seconds(texts), strict=True))
            rates.append(report.manifest.passages / report.seconds)
            shares.append(rates[-1] * elapsed / WORKERS)
            busy.append(processor / spent)
        indexed = f"{len(passages) * copies:,} passages"
        bar = BAR if copies > 1 else None
        name_of_share = f"{indexed}, by {WORKERS} bare lattices"
        figures += [
            Figure(PART, f"{indexed}, {WORKERS} workers", median(rates), "passages/s"),
            Figure(PART, name_of_share, median(shares), "×", bar, higher_is_better=True),
            Figure(PART, f"{indexed}, the lattice's share of processor time", median(busy), "×"),
        ]
    return figures


def ensure_korean_index(home: Path, passages: Sequence[Passage]) -> str:
    """Return the name of the index of the passages, built where it is missing."""
    settings = IndexerSettings(home=home, engine="tantivy", workers=WORKERS)
    try:
        with open_index(settings, NAME):
            return NAME
    except (UnknownIndex, IndexMismatch):
        build_index(_request(NAME, write_copies(home / f"{NAME}.jsonl", passages, 1)), settings)
        return NAME


def _request(name: str, path: Path) -> IngestRequest:
    return IngestRequest(name=name, paths=[str(path)], format="miracl", rebuild=True)


def _bare_seconds(texts: Sequence[str]) -> tuple[float, float]:
    """Return what one bare lattice takes for a text on one core: seconds that pass, and of the processor."""
    parse = bare_lattice()
    seconds_for(parse, texts)
    before = time.process_time()
    elapsed = median(seconds_for(parse, texts) for _ in range(ROUNDS))
    return elapsed / len(texts), (time.process_time() - before) / (ROUNDS * len(texts))


def _processor_seconds() -> float:
    """Return what this process and its ended children have computed; other programs do not count."""
    return sum(os.times()[:4])
