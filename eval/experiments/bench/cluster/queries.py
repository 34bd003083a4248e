"""One OR query, the ten in one request, the ten in ten requests, and the ten on the embedded engine."""

import asyncio
import itertools
import time
from collections.abc import Sequence
from pathlib import Path

from eval.experiments.bench.cluster import PART
from eval.experiments.bench.corpus import WARM_UP_STREAM, questions
from eval.experiments.bench.figures import Figure, median, percentile
from eval.experiments.bench.generated import ANALYZER, ensure_index
from eval.experiments.bench.progressive import TOP, Question
from indexer.analysis import make_analyzer
from indexer.requests import Progress
from indexer.settings import IndexerSettings
from retriever.engines import Engine
from retriever.index import open_index
from retriever.queries import Filters, Or, Term, progressive_or

QUESTIONS, WARM_UP = 200, 100
TEN_BY_ONE, MSEARCH_BY_TEN, EMBEDDED_BY_MSEARCH = 3.5, 0.5, 0.6


def measure_cluster_queries(home: Path, count: int, rounds: int, progress: Progress) -> list[Figure]:
    """Measure SQ10 alone, the ten in one request and in ten, and the ten on the embedded engine, in turn."""
    there, here = (
        IndexerSettings(home=home, engine="elasticsearch"),
        IndexerSettings(home=home, engine="tantivy"),
    )
    name, seconds = ensure_index(there, count, progress)
    ensure_index(here, count, progress)
    figures = [] if seconds is None else [Figure(PART, "written and merged", count / seconds, "documents/s")]
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        with open_index(there, name) as cluster, open_index(here, name) as embedded:
            for kind, times in asyncio.run(_round(cluster.engine, embedded.engine, progress)).items():
                taken.setdefault(kind, []).extend(times)
    for kind, times in taken.items():
        figures += [
            Figure(PART, f"{kind}, p50", 1000 * median(times), "ms"),
            Figure(PART, f"{kind}, p95", 1000 * percentile(times, 0.95), "ms"),
        ]
    one, together, apart, embedded_ten = (median(times) for times in taken.values())
    return [
        *figures,
        Figure(PART, "ten in one request by one query, p50", together / one, "×", TEN_BY_ONE),
        Figure(PART, "ten in one request by ten requests, p50", together / apart, "×", MSEARCH_BY_TEN),
        Figure(
            PART, "embedded ten by ten in one request, p50", embedded_ten / together, "×", EMBEDDED_BY_MSEARCH
        ),
    ]


async def _round(cluster: Engine, embedded: Engine, progress: Progress) -> dict[str, list[float]]:
    """Answer each question in four ways, in an order that turns; return the seconds of each."""
    chain = make_analyzer(ANALYZER, "discard")

    def queries(question: Question) -> tuple[list[Or], list[Or]]:
        words = [Term(word, (word,)) for word in question]
        read = [Term(word, tuple(token[0] for token in chain.analyze(word))) for word in question]
        return progressive_or([term for term in read if term.tokens]), progressive_or(words)

    for question in questions(WARM_UP, WARM_UP_STREAM):
        ten, plain = queries(question)
        await _ask(cluster, ten)
        await _ask(embedded, plain)
    times: dict[str, list[float]] = {
        "one OR query": [],
        "ten in one request": [],
        "ten requests": [],
        "ten on the embedded engine": [],
    }
    asked = questions(QUESTIONS)
    for number, question in enumerate(asked):
        progress("questions", number, len(asked))
        ten, plain = queries(question)
        ways: dict[str, list[tuple[Engine, Sequence[Or]]]] = {
            "one OR query": [(cluster, ten[:1])],
            "ten in one request": [(cluster, ten)],
            "ten requests": [(cluster, [query]) for query in ten],
            "ten on the embedded engine": [(embedded, plain)],
        }
        for kind in itertools.islice(itertools.cycle(ways), number % 4, number % 4 + 4):
            started = time.perf_counter()
            for engine, asked_together in ways[kind]:
                await _ask(engine, asked_together)
            times[kind].append(time.perf_counter() - started)
    return times


async def _ask(engine: Engine, queries: Sequence[Or]) -> None:
    await engine.search([(query, TOP) for query in queries], filters=Filters(), collapse=True)
