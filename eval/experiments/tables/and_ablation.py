"""Conjunction in progressive queries: documents found if the last keywords of each query are joined by AND.

Figure 3 of SHRAG. With m operators, each query joins its last min(m + 1, n) of n keywords by AND. The paper
writes `a|b|c+d`, and does not say which operator binds closer: both readings are computed. In the first one
AND binds closer, a OR b OR (c AND d). In the second one the operators apply from left to right,
(a OR b OR c) AND d.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from eval.experiments.comparing import TESTED, Cell, Figure, Line, Outcome, Panel, Record, Table
from eval.experiments.experiment import Experiment, Results, Topic, TopicResult, TopicSearch
from eval.experiments.materials import Inputs, StrategyCall, drawing, option, read_judged, seed
from eval.statistics import Floats, compare
from retriever.queries.boolean import And, Or, Query
from retriever.query_plan import QueryPlan

CLOSER, LEFT_TO_RIGHT = READINGS = ("AND binds closer", "from left to right")
OPERATORS = range(10)
TEMPERATURE = 0.7  # of repetitions with a language model; the paper does not name one


class AndAblation(StrategyCall):
    """The number of topics in a sample, and the number of samples."""

    sample: int = option("Topics of one repetition.", 50, ge=1, le=100_000)
    repetitions: int = option(
        "Repetitions, with other keywords of the model; without it, other samples.", 10, ge=1, le=1_000
    )
    seed: int = seed()


def read(call: AndAblation, _: Any) -> Inputs:
    """Read the inputs; with a language model only the topics of the sample, as each costs many calls."""
    inputs = read_judged(call)
    topics = inputs.topics
    if call.model:
        drawn = drawing(call.seed).sample(list(topics), min(call.sample, len(topics)))
        topics = {query_id: text for query_id, text in topics.items() if query_id in drawn}
    return replace(inputs, topics=topics)


async def repetitions_of_topic(topic: Topic) -> TopicResult:
    """Collect the documents of a topic with 0 to 9 operators, for the keywords of each repetition.

    Without a language model all repetitions have the same keywords, and the record has one of them.
    """
    open_model, settings, repeated = topic.materials.open_model, topic.materials.settings, []
    for number in range(topic.call.repetitions if open_model else 1):
        changed = settings.with_llm(seed=number, temperature=TEMPERATURE)
        strategy = await topic.strategy(await open_model(changed) if open_model else None)
        repeated.append(
            await _collected(await topic.search(upto="terms", k=1, strategy=strategy), topic.relevant)
        )
    return TopicResult({"relevant": len(topic.relevant), "repetitions": repeated})


async def _collected(found: TopicSearch, relevant: frozenset[str]) -> Record:
    """Return the counts of a topic: documents, and relevant ones, by reading and number of operators."""
    counts = {}
    for reading in READINGS:
        joins = (partial(joined_plan, operators=operators, reading=reading) for operators in OPERATORS)
        unions = [(await found.with_changes(plan=plan, upto="pool")).union for plan in joins]
        shared = [len(ids & relevant) for ids in unions]
        counts[reading] = {"found": shared, "collected": list(map(len, unions))}
    return {"keywords": len(found.keywords), **counts}


def joined_plan(plan: QueryPlan, operators: int, reading: str) -> QueryPlan:
    """Join the last `operators` + 1 clauses of each query by AND; with 0 the queries are unchanged."""
    queries = (replace(named, query=_joined(named.query, operators, reading)) for named in plan.queries)
    return QueryPlan(tuple(queries)) if operators else plan


def _joined(query: Query, operators: int, reading: str) -> Query:
    if not isinstance(query, Or) or len(query.clauses) == 1:
        return query
    clauses = query.clauses
    if reading == CLOSER:
        first, last = clauses[: -operators - 1], clauses[-operators - 1 :]
        return Or((*first, And(last))) if first else And(last)
    first, last = clauses[:-operators] or clauses[:1], clauses[max(1, len(clauses) - operators) :]
    return And((Or(first) if len(first) > 1 else first[0], *last))


def summary(of: Results) -> Outcome:
    """Compare the numbers of operators, in both readings."""
    call, topics, draw = of.call, of.topics, drawing(of.call.seed)
    # A sample is a repetition, and places of topics.
    samples: list[tuple[int, Sequence[int]]] = [(n, range(len(topics))) for n in range(call.repetitions)]
    if not call.model:
        size = min(call.sample, len(topics))
        samples = [(0, draw.choices(range(len(topics)), k=size)) for _ in range(call.repetitions)]
    relevant = np.array([topic["relevant"] for topic in topics])
    tables, found_lines, size_lines = [], [], []
    main: dict[str, float] = {}
    for reading in READINGS:
        found, collected = (
            np.array([[each[reading][part] for each in topic["repetitions"]] for topic in topics])
            for part in ("found", "collected")  # topics × repetitions × operators
        )
        shares = np.array([found[places, n].sum(0) / relevant[places].sum() for n, places in samples])
        sizes = np.array([collected[places, n].sum(0) for n, places in samples])
        tables.append(_table(reading, (shares, found / relevant[:, None, None]), (sizes, collected)))
        found_lines.append(_line(reading, shares))
        size_lines.append(_line(reading, sizes))
        suffix = "" if reading == CLOSER else f", {reading}"
        means = shares.mean(0).tolist()
        main |= {f"share found with {m} AND{suffix}": means[m] for m in OPERATORS}
    panels = (
        ("Relevant documents found", "share of all relevant documents", found_lines),
        ("Documents collected", "documents, all topics of a repetition", size_lines),
    )
    places = tuple(map(float, OPERATORS))
    figure = Figure(
        "and-ablation",
        "Conjunction in progressive queries (mean and range of the repetitions)",
        tuple(Panel(title, "AND operators", up, places, tuple(lines)) for title, up, lines in panels),
    )
    return Outcome(tuple(tables), (figure,), tuple(_notes(of)), main)


def _table(reading: str, *measured: tuple[Floats, Floats]) -> Table:
    """Return a table of share and size: means of the samples, and differences of a topic to OR alone.

    Each measure is given by samples × operators, and by topics × repetitions × operators.
    """
    rows = []
    for m in OPERATORS:
        row: list[Cell] = [m]
        for of_samples, of_topics in measured:
            by_topic = of_topics.mean(1)
            test = compare(by_topic[:, 0], by_topic[:, m]).as_cells()[:3] if m else (None,) * 3
            row += [float(of_samples[:, m].mean()), *test]
        rows.append(tuple(row))
    tested = ("difference for a topic", "95 %", "p")
    return Table(
        f"Share of relevant documents found, and documents collected: {reading}",
        ("AND operators", "share found", *tested, "documents collected", *tested),
        tuple(rows),
    )


def _line(reading: str, of_samples: Floats) -> Line:
    curves = (of_samples.mean(0), of_samples.min(0), of_samples.max(0))
    return Line(reading, *(tuple(curve.tolist()) for curve in curves))


def _notes(of: Results) -> Iterator[str]:
    call, count = of.call, len(of.topics)
    repeated = [each["keywords"] for topic in of.topics for each in topic["repetitions"]]
    short = sum(keywords < len(OPERATORS) for keywords in repeated)
    if call.model:
        yield (
            f"{count} topics, seed {call.seed}; keywords of the language model at temperature "
            f"{TEMPERATURE}, with seeds 0 to {call.repetitions - 1}. The keywords of a repetition serve all "
            "numbers of operators, so that the tests are paired."
        )
    else:
        yield (
            f"Each repetition draws {min(call.sample, count)} topics with replacement, seed "
            f"{call.seed}: a topic always has the same keywords; repetitions differ by their topics only."
        )
    yield f"{short} of {len(repeated)} questions have fewer than ten keywords, all of which are then joined."
    yield f"Differences are to OR alone, of one topic; {TESTED}"


EXPERIMENT = Experiment(
    AndAblation,
    repetitions_of_topic,
    summary,
    read,
)
