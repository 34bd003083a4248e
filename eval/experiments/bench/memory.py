"""The peak memory of a process that opens an index and answers the questions.

    python -m eval.experiments.bench.memory HOME NAME QUESTIONS

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

from eval.experiments.bench.corpus import questions
from eval.experiments.bench.figures import Figure
from eval.experiments.bench.progressive import TOP, queries_of
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
    told = json.loads(finished.stdout)
    figures = [
        Figure(PART, "passages in the index", told["passages"]),
        Figure(PART, "hits of SQ10 … SQ1, all questions", told["hits"]),
    ]
    if told["peak_bytes"] is not None:
        figures.append(Figure(PART, "peak resident size", told["peak_bytes"] / GIGABYTE, "GB", BAR))
    return figures


async def serve(home: Path, name: str, count: int) -> dict[str, Any]:
    """Open the index, answer the questions with the records of their hits, and tell what that took."""
    hits = 0
    with open_index(IndexerSettings(home=home, engine="tantivy"), name) as index:
        for question in questions(count):
            queries = [(query, TOP) for query in queries_of(question, 0.0)]
            found = await index.engine.search(queries, filters=Filters(), collapse=True)
            await index.engine.passages({hit.passage_id for ranking in found for hit in ranking})
            hits += sum(map(len, found))
        return {"passages": index.engine.passage_count, "hits": hits, "peak_bytes": peak_bytes()}


def peak_bytes(process: str | int = "self") -> int | None:
    """Return the most memory a process ever had resident; None where the system does not tell."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


@click.command()
@click.argument("home", type=click.Path(path_type=Path))
@click.argument("name")
@click.argument("count", type=int)
def main(home: Path, name: str, count: int) -> None:
    """Answer COUNT generated questions from an index and print what that took as JSON."""
    click.echo(json.dumps(asyncio.run(serve(home, name, count))))


if __name__ == "__main__":
    main()
