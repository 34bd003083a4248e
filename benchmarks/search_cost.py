"""Processor time of a search by each method, without caches from earlier questions.

    python -m benchmarks.search_cost --home DIR --name NAME --topics FILE [--questions N] [--json]
    python -m benchmarks.search_cost --home DIR --generated 1000000 [--questions N] [--json]

Each question uses a newly opened index, so that no passage, frequency or analysis is cached. The figure is
the processor time of all threads of this process, without a cluster's time. Settings are read from the
environment: SHRAG_ENGINE=elasticsearch measures a cluster.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean

import click

from base.progress import Progress
from benchmarks.corpora.generated import questions as generated_questions
from benchmarks.corpora.index import ensure_index
from benchmarks.figures import Figure, benchmark, count_option
from eval.collection import read_topics
from eval.progress import question_bar
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.search import SearchRequest, rank, search
from retriever.settings import RetrieverSettings

METHODS = ("or", "paper", "shrag")
BASE, BAR = "or", 5.0  # bar as a multiple of this method's processor time
SETTINGS = RetrieverSettings()
Ask = Callable[[SearchIndex, str, str], Awaitable[object]]

WAYS: Mapping[str, Ask] = {
    "search, k = 10": lambda index, question, method: search(
        index, SearchRequest(question, method, 10), SETTINGS
    ),
    "rank, k = 100": lambda index, question, method: rank(
        index, SearchRequest(question, method, 100, collapse=False), SETTINGS
    ),
}


async def measure(
    settings: IndexerSettings, name: str, questions: Sequence[str], progress: Progress
) -> list[Figure]:
    """Search every question with every method, alternately, and return the mean time of each."""
    spent: dict[tuple[str, str], list[float]] = {(way, method): [] for way in WAYS for method in METHODS}
    for number, question in enumerate(questions):
        progress("questions", number, len(questions))
        for (way, method), seconds in spent.items():
            with open_index(settings, name) as index:
                await _warm_up(index)
                started = time.process_time()
                await WAYS[way](index, question, method)
                seconds.append(time.process_time() - started)
    figures = []
    for way in WAYS:
        base = mean(spent[way, BASE])
        for method in METHODS:
            taken = mean(spent[way, method])
            figures.append(Figure(way, f"{method}, a question", 1000 * taken, "ms"))
            if method != BASE:
                bar = BAR if method == "shrag" else None
                figures.append(Figure(way, f"{method} by {BASE}", taken / base, "×", bar))
    return figures


async def _warm_up(index: SearchIndex) -> None:
    """Connect, and start the threads, with words that are in no question."""
    index.analyzer.analyze("준비 ready")
    index.engine.document_frequencies(["\ufffd"])


@benchmark
@click.option("--home", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option("--name", help="An index in HOME.")
@click.option("--topics", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--generated", type=click.IntRange(1), help="Search the generated corpus of this many documents."
)
@count_option("--questions", 300)
def main(
    home: Path, name: str | None, topics: Path | None, generated: int | None, questions: int
) -> list[Figure]:
    """Measure the processor time of a search."""
    settings = IndexerSettings(home=home)
    with question_bar() as progress:
        if generated:
            name = ensure_index(settings, generated, progress)
            asked = [" ".join(words) for words in generated_questions(questions)]
        elif name and topics:
            asked = list(read_topics(topics).values())[:questions]
        else:
            raise click.UsageError("give --name and --topics, or --generated")
        return asyncio.run(measure(settings, name, asked, progress))


if __name__ == "__main__":
    main()
