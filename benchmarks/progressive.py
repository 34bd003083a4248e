"""The ten progressive queries of a question compared with SQ10 alone, embedded and on a cluster.

    python -m benchmarks.progressive [--home DIR] [--documents N] [--rounds N] [--json]

The variants alternate in one run, so that other load affects all of them, and their ratios are compared with
bars. A cluster is measured too if SHRAG_ELASTICSEARCH__URL is set. The peak memory is that of this process
after the index was built or found.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TypeVar

from base.terminal.output import echo
from benchmarks.corpora.generated import QUESTION_STREAM, WARM_UP_STREAM, questions
from benchmarks.corpora.index import ANALYZER, ensure_index
from benchmarks.figures import (
    GIGABYTE,
    Figure,
    benchmark,
    count_option,
    home_option,
    latencies,
    peak_bytes,
    percentile,
    seconds_of,
)
from eval.progress import question_bar
from indexer.analysis import make_analyzer
from indexer.settings import IndexerSettings
from retriever.engines import Engine
from retriever.index import open_index
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.queries.keywords import Keyword
from retriever.query_plan import progressive_queries

TOP = 10
QUESTIONS, WARM_UP = 200, 100
MEMORY_BAR = 1.0
ONE, TEN, APART = "one OR query", "ten in one request", "ten requests"
CLUSTER = "cluster, "
RATIOS = {  # (numerator, denominator) → bar
    (TEN, ONE): 3.5,
    (CLUSTER + TEN, CLUSTER + ONE): 3.5,
    (CLUSTER + TEN, CLUSTER + APART): 0.5,
    (TEN, CLUSTER + TEN): 0.6,
}

T = TypeVar("T")
Queries = Sequence[Query]
Ask = Callable[[Queries], object]


def question_queries(count: int, stream: int = QUESTION_STREAM) -> list[Queries]:
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


def sending_apart(engine: Engine) -> Ask:
    """Return a function that sends each query of a question in a call of its own."""
    send = sending(engine)
    return lambda queries: [send([query]) for query in queries]


def measure_in_turn(
    variants: Mapping[str, Callable[[T], object]], inputs: Sequence[T]
) -> dict[str, list[float]]:
    """Return the seconds of each variant for each input; the order of the variants rotates."""
    names, seconds = list(variants), {name: list[float]() for name in variants}
    for number, given in enumerate(inputs):
        for place in range(len(names)):
            name = names[(number + place) % len(names)]
            seconds[name].append(seconds_of(lambda: variants[name](given)))  # noqa: B023 - called at once
    return seconds


@benchmark
@home_option
@count_option("--documents", 1_000_000)
@count_option("--rounds", 3)
def main(home: Path, documents: int, rounds: int) -> list[Figure]:
    """Measure SQ10 alone and all ten queries of a question."""
    engines = {"": IndexerSettings(home=home, engine="tantivy", workers=2)}
    if os.environ.get("SHRAG_ELASTICSEARCH__URL"):
        engines[CLUSTER] = IndexerSettings(home=home, engine="elasticsearch", workers=2)
    else:
        echo("SHRAG_ELASTICSEARCH__URL is not set: no cluster is measured", err=True)
    measured: list[dict[str, list[float]]] = []
    with question_bar() as progress:
        names = {prefix: ensure_index(settings, documents, progress) for prefix, settings in engines.items()}
        Path("/proc/self/clear_refs").write_text("5", "ascii")  # resets the peak: the build is not measured
        for number in range(rounds):
            progress("rounds", number, rounds)
            with ExitStack() as opened:
                variants: dict[str, Ask] = {}
                for prefix, settings in engines.items():
                    # Each variant has an index of its own, so that they share no cache.
                    one, ten = (
                        opened.enter_context(open_index(settings, names[prefix])).engine for _ in range(2)
                    )
                    variants |= {prefix + ONE: sending(one, 1), prefix + TEN: sending(ten)}
                    if prefix:
                        variants[prefix + APART] = sending_apart(ten)
                measure_in_turn(variants, question_queries(WARM_UP, WARM_UP_STREAM))
                measured.append(measure_in_turn(variants, question_queries(QUESTIONS)))
    figures = [
        figure
        for name in variants
        for figure in latencies("queries", name, [second for each in measured for second in each[name]])
    ]
    for (name, other), bar in RATIOS.items():
        if {name, other} <= variants.keys():
            ratio = median(percentile(each[name], 0.5) / percentile(each[other], 0.5) for each in measured)
            figures.append(Figure("queries", f"{name} by {other}, p50", ratio, "×", bar))
    return [*figures, Figure("memory", "peak resident size", peak_bytes() / GIGABYTE, "GB", MEMORY_BAR)]


if __name__ == "__main__":
    main()
