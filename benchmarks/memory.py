"""Peak memory of a process that opens an index and answers the questions.

    python -m benchmarks.memory HOME NAME

Runs in a separate process to exclude other memory; pages of mapped files count if they were touched.
"""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.corpora.index import Plan, ensure_index
from benchmarks.figures import Figure
from benchmarks.progressive import QUESTIONS, TOP, asked
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.queries.filters import Filters

BAR = 1.0
KILOBYTE, GIGABYTE = 1024, 10**9


def measure_memory(plan: Plan) -> list[Figure]:
    """Answer the questions in a new process, and return its peak memory."""
    name, _ = ensure_index(plan.settings(), plan.documents, plan.progress)
    command = [sys.executable, "-m", __spec__.name, str(plan.home), name]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - own module
    passages, hits, peak = json.loads(finished.stdout)
    return [
        Figure("memory", "passages in the index", passages),
        Figure("memory", "hits of SQ10 … SQ1, all questions", hits),
        Figure("memory", "peak resident size", peak / GIGABYTE, "GB", BAR),
    ]


def peak_bytes() -> int:
    """Return the peak resident memory of this process."""
    # Unlike ru_maxrss, VmHWM leaves out the memory of the parent before exec.
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * KILOBYTE


def _serve(home: Path, name: str) -> tuple[int, int, int]:
    """Answer the questions with the records of their hits; return passages, hits and peak bytes."""
    hits = 0
    with open_index(IndexerSettings(home=home, engine="tantivy"), name) as index:
        for queries in asked(QUESTIONS):
            found = index.engine.search([(query, TOP) for query in queries], filters=Filters(), collapse=True)
            index.engine.passages({hit.passage_id for ranking in found for hit in ranking})
            hits += sum(map(len, found))
        return index.engine.passage_count, hits, peak_bytes()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_serve(Path(sys.argv[1]), sys.argv[2])))
