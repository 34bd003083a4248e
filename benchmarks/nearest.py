"""Processor time and latency of the exact search for the nearest of many vectors.

    python -m benchmarks.nearest [--vectors 1000000] [--dimensions 768] [--storage int8] [--home DIR]

The vectors are drawn at random, and written and mapped like those of an index; ids are numbers.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, cast, get_args

import click
import numpy as np

from benchmarks.figures import Figure, benchmark, count_option, home_option
from indexer.encoders import VectorFingerprint
from indexer.encoders.rounding import scale_to_unit_length, to_storage
from indexer.settings import StorageType
from indexer.vectors.parts import VectorParts, VectorWriter
from retriever.engines.nearest import NearestPassages
from retriever.queries.filters import Filters

if TYPE_CHECKING:
    from retriever.engines.tantivy_passages import StoredPassages

AT_ONCE = 20_000  # vectors that are drawn together
K = 100
BAR_MS = 60.0


class Numbered:
    """Passages whose ids are their numbers."""

    def names(self, numbers: Sequence[int]) -> list[tuple[str, str]]:
        """Return passage_id and doc_id of each passage."""
        return [(f"{number:09}", f"{number:09}") for number in numbers]


@benchmark
@home_option
@count_option("--vectors", 1_000_000)
@count_option("--dimensions", 768)
@count_option("--questions", 20)
@click.option("--storage", type=click.Choice(get_args(StorageType)), default="int8", show_default=True)
def main(home: Path, vectors: int, dimensions: int, questions: int, storage: StorageType) -> list[Figure]:
    """Measure the search for the 100 nearest vectors."""
    drawn = np.random.default_rng(1)
    fingerprint = VectorFingerprint("drawn", "", "", "", "mean", dimensions, 512, storage)
    folder = home / "vectors"
    folder.mkdir(parents=True)
    writer, nothing = VectorWriter(folder, fingerprint), np.zeros(0, np.int64)

    def draw(count: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        return scale_to_unit_length(drawn.standard_normal((count, dimensions), np.float32))

    for start in range(0, vectors, AT_ONCE):
        count = min(AT_ONCE, vectors - start)
        writer.put(range(start, start + count), to_storage(draw(count), storage))
    writer.finish(nothing)
    index = NearestPassages(VectorParts(folder, fingerprint, nothing), cast("StoredPassages", Numbered()))
    asked = to_storage(draw(questions + 1), storage)
    index.nearest(asked[0], K, Filters())  # reads the files
    processor, latency = [], []
    for question in asked[1:]:
        spent, started = time.process_time(), time.perf_counter()
        index.nearest(question, K, Filters())
        processor.append(1000 * (time.process_time() - spent))
        latency.append(1000 * (time.perf_counter() - started))
    return [
        Figure("nearest", f"vectors, {dimensions} dimensions, {storage}", vectors),
        Figure("nearest", "processor time, median", median(processor), "ms", BAR_MS),
        Figure("nearest", "latency, median", median(latency), "ms"),
    ]


if __name__ == "__main__":
    main()
