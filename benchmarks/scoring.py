"""Scoring of a run of the size of MS MARCO's: 6,980 questions with 1,000 passages each.

    python -m benchmarks.scoring [--questions 6980] [--hits 1000] [--json] [--strict]

The run is generated: ids from 8.8 million passages, falling scores, one relevant passage for each question.
Each measurement is one `shrag eval score` in a new process, which uses one core: the bar is on its processor
time, which other work on the machine hardly affects. Peak memory is that of the whole process.
"""

import gzip
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import click

from benchmarks.figures import GIGABYTE, KILOBYTE, Figure, benchmark, count_option
from eval.score_commands import DEFAULT_MEASURES

PASSAGES = 8_841_823  # of MS MARCO
SEED = 1
SECONDS_BAR, MEMORY_BAR = 10.0, 1.0
RANKING_MEASURES = "RR MAP"  # need whole rankings


@benchmark
@count_option("--questions", 6_980)
@count_option("--hits", 1_000)
def main(questions: int, hits: int) -> list[Figure]:
    """Measure the time and memory of scoring a large run."""
    with tempfile.TemporaryDirectory(prefix="shrag-bench-") as folder:
        qrels, run = write_collection(Path(folder), questions, hits)
        packed = run.with_suffix(".trec.gz")
        with run.open("rb") as lines, gzip.open(packed, "wb", 1) as file:
            shutil.copyfileobj(lines, file)
        return [
            Figure("scoring", "lines of the run", questions * hits),
            *measure_scoring("default measures", qrels, run, DEFAULT_MEASURES),
            *measure_scoring("default measures, gzip", qrels, packed, DEFAULT_MEASURES),
            *measure_scoring(RANKING_MEASURES, qrels, run, RANKING_MEASURES, bars=False),
        ]


def write_collection(folder: Path, questions: int, hits: int) -> tuple[Path, Path]:
    """Write qrels and a run with this number of questions, and hits for each; return both paths."""
    draw = random.Random(SEED)  # noqa: S311 - the same run each time
    qrels, run = folder / "qrels", folder / "run.trec"
    with qrels.open("w") as judgements, run.open("w") as lines:
        for query_id in range(questions):
            ids, score = draw.sample(range(PASSAGES), hits), 30.0
            judgements.write(f"{query_id} 0 {draw.choice(ids)} 1\n")
            for rank, found in enumerate(ids, 1):
                score -= draw.random() / 50
                lines.write(f"{query_id} Q0 {found} {rank} {score:.6f} generated\n")
    return qrels, run


def measure_scoring(name: str, qrels: Path, run: Path, measures: str, *, bars: bool = True) -> list[Figure]:
    """Score a run in a new process; return its time, processor time and peak memory."""
    arguments = ["eval", "score", str(qrels), str(run), "--measures", measures, "--json"]
    command = [sys.executable, "-c", "import shrag; shrag.main()", *arguments]
    started = time.perf_counter()
    process = os.posix_spawn(
        sys.executable, command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, sys.stderr.fileno(), 1)]
    )
    _, status, used = os.wait4(process, 0)
    seconds = time.perf_counter() - started
    if status:
        raise click.ClickException("shrag eval score failed")
    return [
        Figure(name, "time", seconds, "s"),
        Figure(name, "processor time", used.ru_utime + used.ru_stime, "s", SECONDS_BAR if bars else None),
        Figure(name, "peak resident size", used.ru_maxrss * KILOBYTE / GIGABYTE, "GB", MEMORY_BAR),
    ]


if __name__ == "__main__":
    main()
