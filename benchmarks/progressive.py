"""The ten progressive queries of a question compared with SQ10 alone, embedded and on a cluster."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.corpora.generated import WARM_UP_STREAM, questions
from benchmarks.corpora.index import ANALYZER, ensure_index
from benchmarks.figures import Figure
from benchmarks.plan import Plan
from benchmarks.timing import Seconds, latencies_of_ways, measure_in_turn, ratio
from indexer.analysis import make_analyzer
from indexer.versions.store.folder import FolderStore
from retriever.engines import Engine
from retriever.engines.tantivy import TantivyEngine
from retriever.index import open_index
from retriever.queries.boolean import Or, Term, or_query
from retriever.queries.filters import Filters
from retriever.settings import RetrieverSettings

TOP = 10
QUESTIONS, CLUSTER_WARM_UP = 200, 100
PART, CLUSTER_PART = "queries", "elasticsearch"
TEN_BY_ONE, MSEARCH_BY_TEN, EMBEDDED_BY_MSEARCH = 3.5, 0.5, 0.6
ONE, TEN, APART, EMBEDDED = "one OR query", "ten in one request", "ten requests", "ten on the embedded engine"
CLUSTER_RATIOS = (  # numerator, denominator, bar
    (TEN, ONE, TEN_BY_ONE),
    (TEN, APART, MSEARCH_BY_TEN),
    (EMBEDDED, TEN, EMBEDDED_BY_MSEARCH),
)

Queries = Sequence[Or]


def progressive_queries(terms: Sequence[Term], title_weight: float = 0.0) -> list[Or]:
    """Make SQ10 … SQ1 (SHRAG, section 3.2) from terms, most important first."""
    return [or_query(terms[:count], title_weight=title_weight) for count in range(len(terms), 0, -1)]


def queries_of(words: Sequence[str], title_weight: float = 0.0) -> list[Or]:
    """Make the queries of words that are tokens of the embedded index."""
    return progressive_queries([Term(word, (word,)) for word in words], title_weight)


async def ask(engine: Engine, queries: Queries) -> None:
    """Send queries in one call."""
    await engine.search([(query, TOP) for query in queries], filters=Filters(), collapse=True)


def measure_queries(plan: Plan) -> list[Figure]:
    """Measure SQ10 and all ten queries on the embedded engine, with and without a title clause."""
    name, _ = ensure_index(plan.settings(), plan.documents, plan.progress)
    store = FolderStore(plan.home, name)
    path = Path(store.address(store.manifest()).index)
    figures: list[Figure] = []
    for note, weight in (("", 0.0), (", with title clause", RetrieverSettings().title_weight)):
        one, ten = f"SQ10 alone{note}", f"ten together{note}"
        asked = [queries_of(words, weight) for words in questions(QUESTIONS)]
        warm_up = [queries_of(words, weight) for words in questions(QUESTIONS, WARM_UP_STREAM)]
        taken = []
        for number in range(plan.rounds):
            plan.progress(f"rounds{note}", number, plan.rounds)
            # Each variant has a separate engine, so that they share no cache.
            ways = {one: partial(_ask_first, TantivyEngine(path)), ten: partial(ask, TantivyEngine(path))}
            asyncio.run(measure_in_turn(ways, warm_up))
            taken.append(asyncio.run(measure_in_turn(ways, asked)))
        bar = None if weight else TEN_BY_ONE
        figures += [
            *latencies_of_ways(PART, taken),
            Figure(PART, f"ten by one, p50{note}", ratio(taken, ten, one), "×", bar),
            Figure(PART, f"ten by one, p95{note}", ratio(taken, ten, one, 0.95), "×"),
        ]
    return figures


async def _ask_first(engine: Engine, queries: Queries) -> None:
    await ask(engine, queries[:1])


def measure_cluster_queries(plan: Plan) -> list[Figure]:
    """Measure SQ10 alone, ten queries in one request and in ten, and on the embedded engine, alternately."""
    there, here = plan.settings("elasticsearch"), plan.settings()
    name, seconds = ensure_index(there, plan.documents, plan.progress)
    ensure_index(here, plan.documents, plan.progress)
    taken: list[Seconds] = []
    for number in range(plan.rounds):
        plan.progress("rounds", number, plan.rounds)
        with open_index(there, name) as cluster, open_index(here, name) as embedded:
            taken.append(asyncio.run(_cluster_round(cluster.engine, embedded.engine)))
    rates = [] if seconds is None else [plan.documents / seconds]
    return [
        *(Figure(CLUSTER_PART, "written and merged", rate, "documents/s") for rate in rates),
        *latencies_of_ways(CLUSTER_PART, taken),
        *(
            Figure(CLUSTER_PART, f"{way} by {other}, p50", ratio(taken, way, other), "×", bar)
            for way, other, bar in CLUSTER_RATIOS
        ),
    ]


async def _cluster_round(cluster: Engine, embedded: Engine) -> Seconds:
    chain = make_analyzer(ANALYZER, "discard")

    def both(words: Sequence[str]) -> tuple[Queries, Queries]:
        """Return the queries with the cluster's tokens, and with the words unchanged."""
        read = [Term(word, tuple(token[0] for token in chain.analyze(word))) for word in words]
        return progressive_queries([term for term in read if term.tokens]), queries_of(words)

    async def ask_apart(pair: tuple[Queries, Queries]) -> None:
        for query in pair[0]:
            await ask(cluster, [query])

    ways = {
        ONE: lambda pair: ask(cluster, pair[0][:1]),
        TEN: lambda pair: ask(cluster, pair[0]),
        APART: ask_apart,
        EMBEDDED: lambda pair: ask(embedded, pair[1]),
    }
    await measure_in_turn(ways, [both(words) for words in questions(CLUSTER_WARM_UP, WARM_UP_STREAM)])
    return await measure_in_turn(ways, [both(words) for words in questions(QUESTIONS)])
