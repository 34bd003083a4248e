"""The ten progressive queries of a question compared with SQ10 alone, embedded and on a cluster."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from base.terminal.output import echo
from benchmarks.corpora.generated import QUESTION_STREAM, WARM_UP_STREAM, questions
from benchmarks.corpora.index import ANALYZER, Plan, ensure_index
from benchmarks.figures import Figure, Seconds, latencies_of_ways, measure_in_turn, ratio
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
TEN_BY_ONE, MSEARCH_BY_TEN, EMBEDDED_BY_MSEARCH = 3.5, 0.5, 0.6
ONE, TEN, APART, EMBEDDED = "one OR query", "ten in one request", "ten requests", "ten on the embedded engine"
CLUSTER_RATIOS = (  # numerator, denominator, bar
    (TEN, ONE, TEN_BY_ONE),
    (TEN, APART, MSEARCH_BY_TEN),
    (EMBEDDED, TEN, EMBEDDED_BY_MSEARCH),
)

Queries = Sequence[Query]
Ask = Callable[[Queries], object]


def asked(count: int, stream: int = QUESTION_STREAM) -> list[Queries]:
    """Make SQ10 … SQ1 (SHRAG, section 3.2) of generated questions, whose rarest word is the first keyword."""
    analyze = make_analyzer(ANALYZER).analyze
    made = list[Queries]()
    for words in questions(count, stream):
        read = [Keyword(word, "en", tuple(token[0] for token in analyze(word))) for word in words]
        plan = progressive_queries([each for each in read if each.tokens], hits_per_query=TOP)
        made.append([named.query for named in plan])
    return made


def sending(engine: Engine, most: int | None = None) -> Ask:
    """Return a function that sends the first queries of a question in one call."""
    return lambda queries: engine.search(
        [(query, TOP) for query in queries[:most]], filters=Filters(), collapse=True
    )


def measure_queries(plan: Plan) -> list[Figure]:
    """Measure SQ10 and all ten queries on the embedded engine."""
    name, _ = ensure_index(plan.settings(), plan.documents, plan.progress)
    store = FolderStore(plan.home, name)
    path, part = Path(store.address(store.manifest())), "queries"
    one, ten, taken = "SQ10 alone", "ten together", list[Seconds]()
    for number in range(plan.rounds):
        plan.progress("rounds", number, plan.rounds)
        # Each variant has a separate engine, so that they share no cache.
        ways = {one: sending(TantivyEngine(path), 1), ten: sending(TantivyEngine(path))}
        measure_in_turn(ways, asked(QUESTIONS, WARM_UP_STREAM))
        taken.append(measure_in_turn(ways, asked(QUESTIONS)))
    return [
        *latencies_of_ways(part, taken),
        Figure(part, "ten by one, p50", ratio(taken, ten, one), "×", TEN_BY_ONE),
        Figure(part, "ten by one, p95", ratio(taken, ten, one, 0.95), "×"),
    ]


def measure_cluster(plan: Plan) -> list[Figure]:
    """Measure SQ10 alone, ten queries in one request and in ten, and on the embedded engine, alternately."""
    if not os.environ.get("SHRAG_ELASTICSEARCH__URL"):
        echo("SHRAG_ELASTICSEARCH__URL is not set: cluster skipped", err=True)
        return []
    there, here = plan.settings("elasticsearch"), plan.settings()
    name, rates = ensure_index(there, plan.documents, plan.progress)
    ensure_index(here, plan.documents, plan.progress)
    taken, part = list[Seconds](), "elasticsearch"
    for number in range(plan.rounds):
        plan.progress("rounds", number, plan.rounds)
        with open_index(there, name) as cluster, open_index(here, name) as embedded:
            send = sending(cluster.engine)
            ways: dict[str, Ask] = {
                ONE: sending(cluster.engine, 1),
                TEN: send,
                APART: lambda queries: [send([query]) for query in queries],  # noqa: B023
                EMBEDDED: sending(embedded.engine),
            }
            measure_in_turn(ways, asked(CLUSTER_WARM_UP, WARM_UP_STREAM))
            taken.append(measure_in_turn(ways, asked(QUESTIONS)))
    ratios = (
        Figure(part, f"{way} by {other}, p50", ratio(taken, way, other), "×", bar)
        for way, other, bar in CLUSTER_RATIOS
    )
    return [*rates, *latencies_of_ways(part, taken), *ratios]
