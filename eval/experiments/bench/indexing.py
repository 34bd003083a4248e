"""Indexing a Korean corpus, from MIRACL's files to the published version.

With no more cores than workers, the lattice's share of the processor time bounds what can be reached:
reading, writing and the glossary then take their time from the analysis.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from eval.experiments.bench.analysis import raw_parser, seconds_for
from eval.experiments.bench.figures import Figure, median
from eval.experiments.bench.korean import Passage, texts_of
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
    figures: list[Figure] = []
    for name, copies in ((NAME, 1), (f"{NAME}-repeated", -(-REPEATED_TO // len(passages)))):
        path = home / f"{name}.jsonl"
        write_copies(path, passages, copies)
        rates, shares, busy = [], [], []
        for _ in range(rounds):
            raw = BareLattice.measure(passages)
            before = _processor_seconds()
            report = build_index(_request(name, path), settings, progress)
            spent = (_processor_seconds() - before) / report.manifest.passages
            raw = raw.mean(BareLattice.measure(passages))
            rates.append(report.manifest.passages / report.seconds)
            shares.append(rates[-1] * raw.seconds / WORKERS)
            busy.append(raw.processor_seconds / spent)
        indexed = f"{len(passages) * copies:,} passages"
        bar = BAR if copies > 1 else None
        figures += [
            Figure(PART, f"{indexed}, {WORKERS} workers", median(rates), "passages/s"),
            Figure(
                PART,
                f"{indexed}, by {WORKERS} bare lattices",
                median(shares),
                "×",
                bar,
                higher_is_better=True,
            ),
            Figure(PART, f"{indexed}, the lattice's share of processor time", median(busy), "×"),
        ]
    return figures


def ensure_korean_index(home: Path, passages: Sequence[Passage]) -> str:
    """Return the name of the index of the passages, built where it is missing."""
    try:
        open_index(IndexerSettings(home=home, engine="tantivy"), NAME).glossary.close()
    except (UnknownIndex, IndexMismatch):
        path = home / f"{NAME}.jsonl"
        write_copies(path, passages, 1)
        build_index(_request(NAME, path), IndexerSettings(home=home, engine="tantivy", workers=WORKERS))
    return NAME


def _request(name: str, path: Path) -> IngestRequest:
    return IngestRequest(name=name, paths=[str(path)], format="miracl", rebuild=True)


def write_copies(path: Path, passages: Sequence[Passage], copies: int) -> None:
    """Write the passages so many times over as MIRACL does, the copies' ids told apart by a prefix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for copy in range(copies):
            for passage in passages:
                identifier = f"{copy}-{passage.docid}" if copy else passage.docid
                record = {"docid": identifier, "title": passage.title, "text": passage.text}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


@dataclass(frozen=True, slots=True)
class BareLattice:
    """What one bare lattice takes for a passage, with the dictionary in memory."""

    seconds: float
    processor_seconds: float

    @classmethod
    def measure(cls, passages: Sequence[Passage]) -> Self:
        """Measure it on one core."""
        texts = texts_of(passages)
        parse = raw_parser()
        seconds_for(parse, texts)
        before = time.process_time()
        seconds = median([seconds_for(parse, texts) for _ in range(ROUNDS)])
        return cls(seconds / len(texts), (time.process_time() - before) / (ROUNDS * len(texts)))

    def mean(self, other: "BareLattice") -> "BareLattice":
        """Return the mean of two measurements, before a build and after it."""
        return BareLattice(
            (self.seconds + other.seconds) / 2, (self.processor_seconds + other.processor_seconds) / 2
        )


def _processor_seconds() -> float:
    """Return what this process and its ended children have computed; other programs do not count."""
    return sum(os.times()[:4])
