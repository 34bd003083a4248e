"""Indexing of Korean texts: analyzers, whole builds, and the start of the command.

The analyzers are compared with MeCab's bare lattice: built and searched for the best path, without reading
its words. If there are only as many cores as workers, the lattice's share of processor time bounds the speed
of a build, as reading, writing and the glossary compete with the analysis.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from statistics import fmean, median

import _mecab

from benchmarks.corpora.index import Plan
from benchmarks.corpora.korean import texts_of, write_copies
from benchmarks.figures import Figure, seconds_of
from indexer.analysis import make_analyzer
from indexer.analysis.korean import open_tagger
from indexer.building.plan import IngestRequest
from indexer.errors import IndexMismatch, UnknownIndex
from indexer.ingest import build_index
from retriever.index import open_index

ANALYSIS_BAR, INDEXING_BAR, START_BAR = 0.6, 0.4, 1.0
BARE_ROUNDS, STARTS = 3, 10
REPEATED_TO = 30_000
NAME = "korean"
QUESTION = "세계에서 가장 높은 산은 무엇인가?"


def measure_analysis(plan: Plan) -> list[Figure]:
    """Measure each analyzer from its first pass over the texts, alternating with the bare lattice."""
    texts, parse = texts_of(plan.passages), _bare_lattice()
    _seconds_for(parse, texts)  # loads the dictionary into memory
    figures = []
    for name in ("bilingual", "korean"):
        analyze = make_analyzer(name).analyze
        passes = range(2 * plan.rounds + 2)
        pairs = [(_seconds_for(parse, texts), _seconds_for(analyze, texts)) for _ in passes]
        first, *warm = [bare / full for bare, full in pairs]
        rate, share = len(texts) / median(full for _, full in pairs[1:]), f"{name} by bare lattice"
        figures += [
            Figure("analysis", name, rate, "passages/s"),
            Figure("analysis", f"{share}, first pass", first, "×"),
            Figure("analysis", share, median(warm), "×", ANALYSIS_BAR, higher_is_better=True),
        ]
    return figures


def measure_indexing(plan: Plan) -> list[Figure]:
    """Index the passages, then copies of them with other ids; keeps the first result as index `korean`."""
    texts, settings = texts_of(plan.passages), plan.settings()
    figures: list[Figure] = []
    for name, copies in ((NAME, 1), (f"{NAME}-repeated", -(-REPEATED_TO // len(texts)))):
        request = _request(plan, name, copies)
        rates, shares, busy = [], [], []
        for _ in range(plan.rounds):
            before, started = _bare_seconds(texts), sum(os.times()[:4])  # with child processes
            report = build_index(request, settings, plan.progress)
            spent = (sum(os.times()[:4]) - started) / report.manifest.passages
            elapsed, processor = map(fmean, zip(before, _bare_seconds(texts), strict=True))
            rates.append(report.manifest.passages / report.seconds)
            shares.append(rates[-1] * elapsed / settings.workers)
            busy.append(processor / spent)
        passages, bar = f"{len(texts) * copies:,} passages", INDEXING_BAR if copies > 1 else None
        by_lattices = f"{passages}, by {settings.workers} bare lattices"
        figures += [
            Figure("indexing", f"{passages}, {settings.workers} workers", median(rates), "passages/s"),
            Figure("indexing", by_lattices, median(shares), "×", bar, higher_is_better=True),
            Figure("indexing", f"{passages}, the lattice's share of processor time", median(busy), "×"),
        ]
    return figures


def measure_cold_start(plan: Plan) -> list[Figure]:
    """Start `shrag search` ten times, after a start that loads the files into the page cache."""
    try:
        with open_index(plan.settings(), NAME):
            pass
    except (UnknownIndex, IndexMismatch):
        build_index(_request(plan, NAME, 1), plan.settings())
    environment = os.environ | {"SHRAG_HOME": str(plan.home)}

    def start(*words: str) -> float:
        command = [sys.executable, *words]
        return seconds_of(
            lambda: subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
        )

    search = ("-m", "shrag", "search", QUESTION, "--name", NAME, "--json")
    _, *seconds = [start(*search) for _ in range(1 + STARTS)]
    bare = [start("-c", "") for _ in range(STARTS)]
    return [
        Figure("cold start", f"shrag search, median of {STARTS}", median(seconds), "s", START_BAR),
        Figure("cold start", f"shrag search, slowest of {STARTS}", max(seconds), "s"),
        Figure("cold start", "of which Python itself", median(bare), "s"),
    ]


def _request(plan: Plan, name: str, copies: int) -> IngestRequest:
    path = write_copies(plan.home / f"{name}.jsonl", plan.passages, copies)
    return IngestRequest(name=name, paths=[str(path)], format="miracl", rebuild=True)


def _bare_lattice() -> Callable[[str], object]:
    """Return a function that parses a text with the analyzers' dictionary and discards the lattice."""
    tagger = open_tagger()
    lattice = _mecab.Lattice()
    lattice.add_request_type(_mecab.MECAB_ALLOCATE_SENTENCE)

    def parse(text: str) -> None:
        lattice.set_sentence(text)
        tagger.parse(lattice)

    return parse


def _bare_seconds(texts: Sequence[str]) -> tuple[float, float]:
    """Return the wall time and processor time per text of the bare lattice on one core, in seconds."""
    parse = _bare_lattice()
    _seconds_for(parse, texts)
    before = time.process_time()
    elapsed = median(_seconds_for(parse, texts) for _ in range(BARE_ROUNDS))
    return elapsed / len(texts), (time.process_time() - before) / (BARE_ROUNDS * len(texts))


def _seconds_for(work: Callable[[str], object], texts: Sequence[str]) -> float:
    return seconds_of(lambda: [work(text) for text in texts])
