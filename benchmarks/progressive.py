"""The ten progressive queries of a question against SQ10 alone, embedded and on a cluster."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.corpus import WARM_UP_STREAM, questions
from benchmarks.figures import Figure
from benchmarks.generated_index import ANALYZER, ensure_index
from benchmarks.timing import Seconds, latencies_of_ways, measure_in_turn, ratio
from indexer.analysis import make_analyzer
from indexer.requests import Progress
from indexer.settings import IndexerSettings
from indexer.store.folder import FolderStore
from retriever.engines import Engine
from retriever.engines.tantivy import TantivyEngine
from retriever.index import open_index
from retriever.queries import Filters, Or, Term, or_query
from retriever.settings import RetrieverSettings

TOP = 10
QUESTIONS, CLUSTER_WARM_UP = 200, 100
PART, CLUSTER_PART = "queries", "elasticsearch"
TEN_BY_ONE, MSEARCH_BY_TEN, EMBEDDED_BY_MSEARCH = 3.5, 0.5, 0.6

Queries = Sequence[Or]


def progressive_queries(terms: Sequence[Term], title_weight: float = 0.0) -> list[Or]:
    """Make SQ10 … SQ1 (SHRAG, section 3.2) of terms, the most important first."""
    return [or_query(terms[:count], title_weight=title_weight) for count in range(len(terms), 0, -1)]


def queries_of(words: Sequence[str], title_weight: float = 0.0) -> list[Or]:
    """Make the queries of words that the embedded index holds as they are."""
    return progressive_queries([Term(word, (word,)) for word in words], title_weight)


async def ask(engine: Engine, queries: Queries) -> None:
    """Send queries in one call."""
    await engine.search([(query, TOP) for query in queries], filters=Filters(), collapse=True)


def measure_queries(home: Path, name: str, count: int, rounds: int, progress: Progress) -> list[Figure]:
    """Measure SQ10 and all ten on the embedded engine, without a title clause and with one."""
    store = FolderStore(home, name)
    path = Path(store.address(store.manifest()).index)
    figures: list[Figure] = []
    for note, weight in (("", 0.0), (", with title clause", RetrieverSettings().title_weight)):
        one, ten = f"SQ10 alone{note}", f"ten together{note}"
        asked, warm_up = (
            [queries_of(words, weight) for words in questions(count, *stream)]
            for stream in ((), (WARM_UP_STREAM,))
        )
        taken = []
        for number in range(rounds):
            progress(f"rounds{note}", number, rounds)
            # Each way has an engine of its own, so that neither gains from what the other remembers.
            alone, together = TantivyEngine(path), TantivyEngine(path)
            ways = {one: partial(_ask_first, alone), ten: partial(ask, together)}
            asyncio.run(measure_in_turn(ways, warm_up))
            taken.append(asyncio.run(measure_in_turn(ways, asked)))
        figures += [
            *latencies_of_ways(PART, taken),
            Figure(
                PART, f"ten by one, p50{note}", ratio(taken, ten, one), "×", None if weight else TEN_BY_ONE
            ),
            Figure(PART, f"ten by one, p95{note}", ratio(taken, ten, one, 0.95), "×"),
        ]
    return figures


async def _ask_first(engine: Engine, queries: Queries) -> None:
    await ask(engine, queries[:1])


def measure_cluster_queries(home: Path, count: int, rounds: int, progress: Progress) -> list[Figure]:
    """Measure SQ10 alone, the ten in one request and in ten, and the ten on the embedded engine, in turn."""
    there = IndexerSettings(home=home, engine="elasticsearch")
    here = IndexerSettings(home=home, engine="tantivy")
    name, seconds = ensure_index(there, count, progress)
    ensure_index(here, count, progress)
    taken: list[Seconds] = []
    for number in range(rounds):
        progress("rounds", number, rounds)
        with open_index(there, name) as cluster, open_index(here, name) as embedded:
            taken.append(asyncio.run(_cluster_round(cluster.engine, embedded.engine)))
    written = [] if seconds is None else [count / seconds]
    ratios = (
        ("ten in one request by one query", "ten in one request", "one OR query", TEN_BY_ONE),
        ("ten in one request by ten requests", "ten in one request", "ten requests", MSEARCH_BY_TEN),
        (
            "embedded ten by ten in one request",
            "ten on the embedded engine",
            "ten in one request",
            EMBEDDED_BY_MSEARCH,
        ),
    )
    return [
        *(Figure(CLUSTER_PART, "written and merged", rate, "documents/s") for rate in written),
        *latencies_of_ways(CLUSTER_PART, taken),
        *(
            Figure(CLUSTER_PART, f"{label}, p50", ratio(taken, way, other), "×", bar)
            for label, way, other, bar in ratios
        ),
    ]


async def _cluster_round(cluster: Engine, embedded: Engine) -> Seconds:
    chain = make_analyzer(ANALYZER, "discard")

    def both(words: Sequence[str]) -> tuple[Queries, Queries]:
        """Return the queries as the cluster's analysis has the words, and as they are."""
        read = [Term(word, tuple(token[0] for token in chain.analyze(word))) for word in words]
        return progressive_queries([term for term in read if term.tokens]), queries_of(words)

    async def ask_apart(pair: tuple[Queries, Queries]) -> None:
        for query in pair[0]:
            await ask(cluster, [query])

    ways = {
        "one OR query": lambda pair: ask(cluster, pair[0][:1]),
        "ten in one request": lambda pair: ask(cluster, pair[0]),
        "ten requests": ask_apart,
        "ten on the embedded engine": lambda pair: ask(embedded, pair[1]),
    }
    await measure_in_turn(ways, [both(words) for words in questions(CLUSTER_WARM_UP, WARM_UP_STREAM)])
    return await measure_in_turn(ways, [both(words) for words in questions(QUESTIONS)])
