"""The ten progressive queries of a question compared with SQ10 alone, embedded and on a cluster."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.corpora.generated import WARM_UP_STREAM, questions
from benchmarks.corpora.index import ANALYZER, Plan, ensure_index
from benchmarks.figures import Figure
from benchmarks.timing import Seconds, latencies_of_ways, measure_in_turn, ratio
from indexer.analysis import make_analyzer
from indexer.versions.store.folder import FolderStore
from retriever.engines import Engine
from retriever.engines.tantivy import TantivyEngine
from retriever.index import open_index
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.queries.keywords import Keyword
from retriever.query_plan import progressive_queries

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

Queries = Sequence[Query]


def queries_of(keywords: Sequence[Keyword]) -> Queries:
    """Make SQ10 … SQ1 (SHRAG, section 3.2) of keywords, most important first."""
    return [named.query for named in progressive_queries(keywords, hits_per_query=TOP)]


def of_words(words: Sequence[str]) -> Queries:
    """Make the queries of words that are tokens of the embedded index."""
    return queries_of([Keyword(word, "en", (word,)) for word in words])


async def ask(engine: Engine, queries: Queries) -> None:
    """Send queries in one call."""
    engine.search([(query, TOP) for query in queries], filters=Filters(), collapse=True)


def measure_queries(plan: Plan) -> list[Figure]:
    """Measure SQ10 and all ten queries on the embedded engine."""
    name, _ = ensure_index(plan.settings(), plan.documents, plan.progress)
    store = FolderStore(plan.home, name)
    path = Path(store.address(store.manifest()).index)
    one, ten = "SQ10 alone", "ten together"
    asked = [of_words(words) for words in questions(QUESTIONS)]
    warm_up = [of_words(words) for words in questions(QUESTIONS, WARM_UP_STREAM)]
    taken = []
    for number in range(plan.rounds):
        plan.progress("rounds", number, plan.rounds)
        # Each variant has a separate engine, so that they share no cache.
        ways = {one: partial(_ask_first, TantivyEngine(path)), ten: partial(ask, TantivyEngine(path))}
        asyncio.run(measure_in_turn(ways, warm_up))
        taken.append(asyncio.run(measure_in_turn(ways, asked)))
    return [
        *latencies_of_ways(PART, taken),
        Figure(PART, "ten by one, p50", ratio(taken, ten, one), "×", TEN_BY_ONE),
        Figure(PART, "ten by one, p95", ratio(taken, ten, one, 0.95), "×"),
    ]


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
        read = [Keyword(word, "en", tuple(token[0] for token in chain.analyze(word))) for word in words]
        return queries_of([keyword for keyword in read if keyword.tokens]), of_words(words)

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
