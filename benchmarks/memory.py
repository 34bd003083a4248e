"""Peak memory of a process that opens an index and answers the questions.

    python -m benchmarks.memory HOME NAME

Runs in a separate process to exclude other memory; pages of mapped files count if they were touched.
"""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.corpora.generated import questions
from benchmarks.corpora.index import Plan, ensure_index
from benchmarks.figures import Figure
from benchmarks.progressive import QUESTIONS, TOP, of_words
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.queries.filters import Filters

BAR = 1.0
GIGABYTE = 10**9


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


def peak_bytes(process: str | int = "self") -> int:
    """Return the peak resident memory of a process; 0 if it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


async def _serve(home: Path, name: str) -> tuple[int, int, int]:
    """Answer the questions with the records of their hits; return passages, hits and peak bytes."""
    hits = 0
    with open_index(IndexerSettings(home=home, engine="tantivy"), name) as index:
        for question in questions(QUESTIONS):
            queries = [(query, TOP) for query in of_words(question)]
            found = index.engine.search(queries, filters=Filters(), collapse=True)
            index.engine.passages({hit.passage_id for ranking in found for hit in ranking})
            hits += sum(map(len, found))
        return index.engine.passage_count, hits, peak_bytes()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_serve(Path(sys.argv[1]), sys.argv[2]))))
