"""The peak memory of a process that opens an index and answers the questions.

    python -m benchmarks.memory HOME NAME QUESTIONS

A process of its own, so that nothing else counts; pages of mapped files count as far as they were touched.
"""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from benchmarks.corpus import questions
from benchmarks.figures import Figure
from benchmarks.progressive import TOP, queries_of
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.queries import Filters

BAR = 1.0
PART = "memory"
GIGABYTE = 10**9


def measure_memory(home: Path, name: str, count: int) -> list[Figure]:
    """Answer `count` questions in a new process and return what it took at most."""
    command = [sys.executable, "-m", __spec__.name, str(home), name, str(count)]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - own module
    found = json.loads(finished.stdout)
    return [
        Figure(PART, "passages in the index", found["passages"]),
        Figure(PART, "hits of SQ10 … SQ1, all questions", found["hits"]),
        Figure(PART, "peak resident size", found["peak_bytes"] / GIGABYTE, "GB", BAR),
    ]


def peak_bytes(process: str | int = "self") -> int:
    """Return the most memory a process ever had resident; 0 once it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


async def _serve(home: Path, name: str, count: int) -> dict[str, Any]:
    """Open the index, and answer the questions with the records of their hits."""
    hits = 0
    with open_index(IndexerSettings(home=home, engine="tantivy"), name) as index:
        for question in questions(count):
            queries = [(query, TOP) for query in queries_of(question)]
            found = await index.engine.search(queries, filters=Filters(), collapse=True)
            await index.engine.passages({hit.passage_id for ranking in found for hit in ranking})
            hits += sum(map(len, found))
        return {"passages": index.engine.passage_count, "hits": hits, "peak_bytes": peak_bytes()}


@click.command()
@click.argument("home", type=click.Path(path_type=Path))
@click.argument("name")
@click.argument("count", type=int)
def main(home: Path, name: str, count: int) -> None:
    """Answer COUNT generated questions from an index and print what that took as JSON."""
    click.echo(json.dumps(asyncio.run(_serve(home, name, count))))


if __name__ == "__main__":
    main()
