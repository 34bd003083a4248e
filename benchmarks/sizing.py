"""Memory, disk, time of a build and latency of an index of generated records.

    python -m benchmarks.sizing --records N [--without-abstracts] [--home DIR] [--questions N] [--most-gb GB]

`shrag index` runs as a command, for a build and for an update of a hundred records. Its processes are
measured together: pages that several of them map are counted once. The questions are titles of records, asked
one after the other of one open index. Settings are read from the environment: SHRAG_ENGINE=elasticsearch
measures a cluster, of which memory and disk of the servers are not counted.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click

from benchmarks.corpora.generated import records as generated_records
from benchmarks.corpora.generated import write_lines
from benchmarks.figures import (
    GIGABYTE,
    Figure,
    benchmark,
    count_option,
    home_option,
    latencies,
    peak_bytes,
    seconds_of,
)
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings

NAME = "sizing"
PAUSE_S = 0.5
METHODS = ("or", "shrag")
STARTS, START_BAR = 10, 1.0
SHRAG = (sys.executable, "-c", "import sys, shrag; sys.argv[0] = 'shrag'; shrag.main()")
UPDATED = 100  # records of an update, every second of which is new


def memory_of(process: int) -> int:
    """Return the bytes of a process and its descendants; pages that several of them map count once."""
    found, waiting = 0, [process]
    while waiting:
        folder = Path(f"/proc/{waiting.pop()}")
        with suppress(OSError):  # it has ended
            children = (folder / "task").iterdir()
            waiting += [int(pid) for task in children for pid in (task / "children").read_text().split()]
            lines = (folder / "smaps_rollup").read_text(encoding="ascii").splitlines()
            found += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return found


def disk_of(folder: Path) -> int:
    """Return the bytes of the files in a folder; a file with several links counts once."""
    found: dict[int, int] = {}
    for path, _, names in os.walk(folder):  # leaves out folders that are renamed in the meantime
        for name in names:
            with suppress(OSError):
                status = (Path(path) / name).lstat()
                found[status.st_ino] = status.st_blocks * 512
    return sum(found.values())


class Indexed(NamedTuple):
    """Time, processor time, peak memory and peak disk of `shrag index`; seconds and bytes."""

    seconds: float
    processor: float
    memory: int
    disk: int


def run_index(corpus: Path, home: Path, most_bytes: float, *options: str) -> Indexed:
    """Index a corpus by the command; SystemExit if it fails or needs more than `most_bytes` of memory."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [*SHRAG, "index", str(corpus), "--name", NAME, "--json", *options]
    environment = {**os.environ, "SHRAG_HOME": str(home)}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)  # noqa: S603 - own command
    memory = disk = 0
    while process.poll() is None:
        memory, disk = max(memory, memory_of(process.pid)), max(disk, disk_of(home))
        if memory > most_bytes:
            process.terminate()
            sys.exit(f"the build needs more than {most_bytes / GIGABYTE:.1f} GB of memory")
        time.sleep(PAUSE_S)
    if process.returncode:
        sys.exit(process.returncode)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Indexed(seconds, spent, memory, disk)


def measure_build(corpus: Path, home: Path, count: int, most_bytes: float) -> list[Figure]:
    """Build an index, and replace and add a few records by an update."""
    built = run_index(corpus, home, most_bytes, "--rebuild")
    size = disk_of(home)
    few = enumerate(islice(generated_records(count), UPDATED))
    new = (
        record | ({"id": f"new-{number}"} if number % 2 else {"title": f"{record['title']} again"})
        for number, record in few
    )
    changed = write_lines(corpus.with_name("changed.jsonl"), new)
    updated = run_index(changed, home, most_bytes)
    start = run_index(changed, home, most_bytes)  # nothing has changed
    spent = updated.processor - start.processor
    update = f"update of {UPDATED} records"
    return [
        Figure("build", "records", count),
        Figure("build", "corpus", corpus.stat().st_size / GIGABYTE, "GB"),
        Figure("build", "time", built.seconds, "s"),
        Figure("build", "processor time", built.processor, "s"),
        Figure("build", "peak memory of all processes", built.memory / GIGABYTE, "GB"),
        Figure("build", "peak disk", built.disk / GIGABYTE, "GB"),
        Figure("index", "disk", size / GIGABYTE, "GB"),
        Figure(update, "time", updated.seconds, "s"),
        Figure(update, "processor time beyond a call without changes", spent, "s"),
        Figure(update, "the same by that of the build", 100 * spent / built.processor, "%"),
        Figure(update, "peak memory of all processes", updated.memory / GIGABYTE, "GB"),
        Figure(update, "bytes written by those of the index", 100 * (disk_of(home) - size) / size, "%"),
    ]


async def measure_searches(
    settings: IndexerSettings, retriever: RetrieverSettings, questions: list[str]
) -> list[Figure]:
    """Ask the questions in this process; return latencies, processor time and peak memory."""
    figures = []
    with open_index(settings, NAME) as index:
        for method in METHODS:
            seconds, spent = [], time.process_time()
            for question in questions:
                started = time.perf_counter()
                await search(index, SearchRequest(question, method), retriever)
                seconds.append(time.perf_counter() - started)
            mean = (time.process_time() - spent) / len(questions)
            figures += latencies("search", method, seconds)
            figures.append(Figure("search", f"{method}, processor time, mean", 1000 * mean, "ms"))
    return [*figures, Figure("search", "peak memory", peak_bytes() / GIGABYTE, "GB")]


def measure_cold_start(home: Path, question: str) -> Figure:
    """Start `shrag search` repeatedly, after a start that loads the files into the page cache."""
    environment = {**os.environ, "SHRAG_HOME": str(home)}
    command = [*SHRAG, "search", question, "--name", NAME, "--json"]

    def start() -> object:
        return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603

    _, *seconds = [seconds_of(start) for _ in range(1 + STARTS)]
    name = f"shrag search from its start, median of {STARTS}"
    return Figure("search", name, median(seconds), "s", START_BAR)


@benchmark
@count_option("--records", 100_000, least=1_000)
@click.option(
    "--without-abstracts",
    is_flag=True,
    help="Records of a catalogue: titles, years, names; searches keep papers without an abstract.",
)
@count_option("--questions", 100)
@home_option
@click.option("--most-gb", type=float, default=8.0, show_default=True, help="Memory at which a build ends.")
@click.option("--only-search", is_flag=True, hidden=True)
def main(
    records: int, questions: int, home: Path, most_gb: float, *, without_abstracts: bool, only_search: bool
) -> list[Figure]:
    """Build an index of generated records, ask it questions, and print the figures."""
    settings = IndexerSettings().model_copy(update={"home": home})
    if only_search:
        # Titles spread over the corpus, of records that a small corpus has too.
        spread = islice(generated_records(1_000), 0, None, 1_000 // questions or 1)
        asked = [record["title"] for record in spread][:questions]
        retriever = RetrieverSettings(drop_incomplete=not without_abstracts)
        return asyncio.run(measure_searches(settings, retriever, asked))
    with tempfile.TemporaryDirectory(prefix="shrag-corpus-") as folder:
        made = generated_records(records, abstracts=not without_abstracts)
        corpus = write_lines(Path(folder, "records.jsonl"), made)
        figures = measure_build(corpus, home, records, most_gb * GIGABYTE)
    # In a separate process, so that the memory of the measurement is not counted.
    command = [sys.executable, "-m", __spec__.name, "--only-search", "--home", str(home), "--json"]
    command += ["--questions", str(questions), *["--without-abstracts"] * without_abstracts]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - own module
    rows = json.loads(done.stdout)["figures"]
    figures += [Figure(row["part"], row["name"], row["value"], row["unit"]) for row in rows]
    return [*figures, measure_cold_start(home, next(generated_records(1))["title"])]


if __name__ == "__main__":
    main()
