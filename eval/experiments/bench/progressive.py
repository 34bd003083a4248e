"""The ten progressive queries of a question against SQ10 alone."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from eval.experiments.bench.corpus import WARM_UP_STREAM, questions
from eval.experiments.bench.figures import Figure, median, percentile
from indexer.requests import Progress
from indexer.store.folder import FolderStore
from retriever.engines.tantivy import TantivyEngine
from retriever.queries import Filters, Or, Term, progressive_or
from retriever.settings import RetrieverSettings

TOP = 10
BAR = 3.5
PART = "queries"

Question = tuple[str, ...]


def queries_of(question: Question, title_weight: float) -> list[Or]:
    """Make SQ10 … SQ1 of a question's words."""
    return progressive_or([Term(word, (word,)) for word in question], title_weight=title_weight)


def measure_queries(home: Path, name: str, count: int, rounds: int, progress: Progress) -> list[Figure]:
    """Measure SQ10 and all ten, without a title clause and with one."""
    store = FolderStore(home, name)
    path = Path(store.address(store.manifest()).index)
    asked, warm_up = questions(count), questions(count, WARM_UP_STREAM)
    figures: list[Figure] = []
    for words, weight in (("", 0.0), (", with title clause", RetrieverSettings().title_weight)):
        taken = [asyncio.run(_round(path, asked, warm_up, weight, progress)) for _ in range(rounds)]
        one, ten = (
            [median(samples) for samples in zip(*times, strict=True)] for times in zip(*taken, strict=True)
        )
        ratio = median([median(ten_) / median(one_) for one_, ten_ in taken])
        slow_ratio = median([percentile(ten_, 0.95) / percentile(one_, 0.95) for one_, ten_ in taken])
        figures += [
            Figure(PART, f"SQ10 alone, p50{words}", 1000 * median(one), "ms"),
            Figure(PART, f"SQ10 alone, p95{words}", 1000 * percentile(one, 0.95), "ms"),
            Figure(PART, f"ten together, p50{words}", 1000 * median(ten), "ms"),
            Figure(PART, f"ten together, p95{words}", 1000 * percentile(ten, 0.95), "ms"),
            Figure(PART, f"ten by one, p50{words}", ratio, "×", None if weight else BAR),
            Figure(PART, f"ten by one, p95{words}", slow_ratio, "×"),
        ]
    return figures


async def _round(
    path: Path,
    asked: Sequence[Question],
    warm_up: Sequence[Question],
    title_weight: float,
    progress: Progress,
) -> tuple[list[float], list[float]]:
    """Answer each question once by SQ10 and once by all ten, in turn first; return the seconds of both.

    Each side has an engine of its own, so that neither gains from what the other remembers.
    """
    engines = TantivyEngine(path), TantivyEngine(path)
    for question in warm_up:
        for engine in engines:
            await _seconds(engine, queries_of(question, title_weight))
    times: tuple[list[float], list[float]] = ([], [])
    for number, question in enumerate(asked):
        progress("questions", number, len(asked))
        queries = queries_of(question, title_weight)
        sides = [(0, queries[:1]), (1, queries)]
        for side, wanted in sides if number % 2 else reversed(sides):
            times[side].append(await _seconds(engines[side], wanted))
    return times


async def _seconds(engine: TantivyEngine, queries: Sequence[Or]) -> float:
    started = time.perf_counter()
    await engine.search([(query, TOP) for query in queries], filters=Filters(), collapse=True)
    return time.perf_counter() - started
