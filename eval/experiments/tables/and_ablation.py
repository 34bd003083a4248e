"""Conjunction in progressive queries: documents found if the last keywords of each query are joined by AND.

Figure 3 of SHRAG. With m operators, each query joins its last min(m + 1, n) of n keywords by AND. The paper
writes `a|b|c+d`, and does not say which operator binds closer: both readings are computed. In the first one
AND binds closer, a OR b OR (c AND d). In the second one the operators apply from left to right,
(a OR b OR c) AND d.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from statistics import fmean
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from base.calls import Flag, Section
from eval.experiments.calls import Seed, StrategyCall
from eval.experiments.comparing import TESTED
from eval.experiments.experiment import Cell, Experiment, Outcome, Record, Table, TopicResult
from eval.experiments.figures import Figure, Line, Panel
from eval.experiments.materials import Materials, opened_materials
from eval.experiments.retrieving import OpenTopic, open_topic, strategy_of, union_of
from eval.significance import Comparison, compare
from retriever.queries.boolean import And, Or, Query
from retriever.query_plan import NamedQuery, QueryPlan, progressive_queries
from retriever.search import run_stages
from retriever.stages.stages import computed

Reading: TypeAlias = Literal["AND binds closer", "from left to right"]
READINGS: tuple[Reading, ...] = ("AND binds closer", "from left to right")
OPERATORS = range(10)
TEMPERATURE = 0.7  # of repetitions with a language model; the paper does not name one
LEVEL = 0.05  # of significance

Counts: TypeAlias = Sequence[Record]  # of the topics of one repetition
Value: TypeAlias = Callable[[Counts, Reading, int], float]


class AndAblation(StrategyCall):
    """The number of topics in a sample, and the number of samples."""

    sample: Annotated[
        int, Flag(section=Section.LIMITS), Field(ge=1, le=100_000, description="Topics of one repetition.")
    ] = 50
    repetitions: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(
            ge=1,
            le=1_000,
            description="Repetitions, with other keywords of the model; without it, other samples.",
        ),
    ] = 10
    seed: Seed = 0

    def draw(self) -> random.Random:
        """Return the generator of the samples."""
        return random.Random(self.seed)  # noqa: S311 - not for secrets


@contextmanager
def opened(call: AndAblation) -> Iterator[Materials]:
    """Open the inputs; with a language model only the topics of the sample, as each costs many calls."""
    with opened_materials(call) as materials:
        topics = materials.topics
        if call.model:
            drawn = call.draw().sample(list(topics), min(call.sample, len(topics)))
            topics = {query_id: text for query_id, text in topics.items() if query_id in drawn}
        yield replace(materials, topics=topics)


async def repetitions_of_topic(
    call: AndAblation, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Collect the documents of a topic with 0 to 9 operators, for the keywords of each repetition.

    Without a language model all repetitions have the same keywords, and the record has one of them.
    """
    relevant, models = materials.relevant(query_id), materials.models
    repeated = []
    for repetition in range(call.repetitions if models else 1):
        model = await models.changed(seed=repetition, temperature=TEMPERATURE) if models else None
        strategy = await strategy_of(materials, query_id, question, model)
        topic = await open_topic(question, 1, materials, strategy)
        repeated.append(await _collected(topic, materials, relevant))
    return TopicResult({"relevant": len(relevant), "repetitions": repeated})


async def _collected(topic: OpenTopic, materials: Materials, relevant: frozenset[str]) -> dict[str, Any]:
    """Return the counts of a topic: documents, and relevant ones, by reading and number of operators."""
    context, stages = topic.context, topic.stages
    queries = progressive_queries(topic.keywords, hits_per_query=context.settings.hits_per_query)
    record: dict[str, Any] = {"keywords": len(topic.keywords)}
    for reading in READINGS:
        found, collected = [], []
        for operators in OPERATORS:
            plan = QueryPlan(joined_queries(queries, operators, reading))
            pool = computed((await run_stages(context, stages.with_plan(plan), upto="pool")).pool)
            ids = union_of(pool, materials)
            collected.append(len(ids))
            found.append(len(ids & relevant))
        record[reading] = {"found": found, "collected": collected}
    return record


def joined_queries(queries: Sequence[NamedQuery], operators: int, reading: Reading) -> tuple[NamedQuery, ...]:
    """Join the last `operators` + 1 clauses of each query by AND; with 0 the queries are unchanged."""
    if not operators:
        return tuple(queries)
    return tuple(replace(named, query=_joined(named.query, operators, reading)) for named in queries)


def _joined(query: Query, operators: int, reading: Reading) -> Query:
    if not isinstance(query, Or) or len(query.clauses) == 1:
        return query
    clauses = query.clauses
    if reading == "AND binds closer":
        first, last = clauses[: -operators - 1], clauses[-operators - 1 :]
        return Or((*first, And(last))) if first else And(last)
    first, last = clauses[:-operators] or clauses[:1], clauses[max(1, len(clauses) - operators) :]
    return And((Or(first) if len(first) > 1 else first[0], *last))


def summary(call: AndAblation, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compare the numbers of operators, in both readings."""
    del materials
    counts = [
        [{"relevant": topic["relevant"], **topic["repetitions"][number]} for topic in topics]
        for number in range(call.repetitions if call.model else 1)
    ]
    drawn: list[Any] = counts
    if not call.model:
        draw = call.draw()
        drawn = [draw.choices(counts[0], k=min(call.sample, len(topics))) for _ in range(call.repetitions)]
    tests = {reading: _tests(reading, counts) for reading in READINGS}
    return Outcome(
        tuple(_table(reading, of, drawn) for reading, of in tests.items()),
        (_figure(drawn),),
        (*_notes(call, counts), *(_finding(reading, of) for reading, of in tests.items())),
        {
            f"share found with {m} AND{'' if reading == READINGS[0] else f', {reading}'}": fmean(
                _share(each, reading, m) for each in drawn
            )
            for reading in READINGS
            for m in OPERATORS
        },
    )


def _share(topics: Counts, reading: Reading, operators: int) -> float:
    """Return the share of all relevant documents of the topics that were found."""
    found: int = sum(topic[reading]["found"][operators] for topic in topics)
    relevant: int = sum(topic["relevant"] for topic in topics)
    return found / relevant


def _collected_by(topics: Counts, reading: Reading, operators: int) -> int:
    """Return the number of documents collected for the topics."""
    return sum(topic[reading]["collected"][operators] for topic in topics)


def _tests(reading: Reading, counts: Sequence[Counts]) -> list[tuple[Comparison, Comparison]]:
    """Compare each number of operators from 1 on with OR alone, by share and by documents collected."""

    def of_topics(value: Value, operators: int) -> list[float]:
        """Return the value of each topic, the mean of its repetitions."""
        repeated = zip(*counts, strict=True)
        return [fmean(value([topic], reading, operators) for topic in of) for of in repeated]

    def test(value: Value, operators: int) -> Comparison:
        return compare(of_topics(value, 0), of_topics(value, operators))

    return [(test(_share, m), test(_collected_by, m)) for m in OPERATORS[1:]]


def _notes(call: AndAblation, counts: Sequence[Counts]) -> list[str]:
    topics = [topic for repetition in counts for topic in repetition]
    short, size = sum(topic["keywords"] < len(OPERATORS) for topic in topics), len(counts[0])
    if call.model:
        origin = (
            f"{size} topics, seed {call.seed}; keywords of the language model at temperature {TEMPERATURE}, "
            f"with seeds 0 to {call.repetitions - 1}. The keywords of a repetition serve all numbers of "
            "operators, so that the tests are paired."
        )
    else:
        origin = (
            f"Each repetition draws {min(call.sample, size)} topics with replacement, seed {call.seed}: "
            "a topic always has the same keywords, so that repetitions differ by their topics only."
        )
    return [
        origin,
        f"{short} of {len(topics)} questions have fewer than ten keywords, all of which are then joined.",
        f"Differences are to OR alone, of one topic; {TESTED}",
    ]


def _finding(reading: Reading, tests: Sequence[tuple[Comparison, Comparison]]) -> str:
    """Return a note on the two findings of the paper: OR finds most, and AND collects more."""
    fewer = sum(share.difference < 0 and share.p_value < LEVEL for share, _ in tests)
    more = sum(collected.difference > 0 and collected.p_value < LEVEL for _, collected in tests)
    return (
        f"{reading}: OR alone finds significantly more than {fewer} of the {len(tests)} numbers of AND "
        f"operators; {more} of them collect significantly more documents than OR (p < {LEVEL})."
    )


def _table(
    reading: Reading, tests: Sequence[tuple[Comparison, Comparison]], drawn: Sequence[Counts]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for operators, of_both in enumerate([(None, None), *tests]):
        row: list[Cell] = [operators]
        for value, test in zip((_share, _collected_by), of_both, strict=True):
            row.append(fmean(value(each, reading, operators) for each in drawn))
            row += test.as_cells()[:3] if test else (None,) * 3
        rows.append(tuple(row))
    tested = ("difference for a topic", "95 %", "p")
    return Table(
        f"Share of relevant documents found, and documents collected: {reading}",
        ("AND operators", "share found", *tested, "documents collected", *tested),
        tuple(rows),
    )


def _figure(drawn: Sequence[Counts]) -> Figure:
    def panel(title: str, up: str, value: Value) -> Panel:
        lines = []
        for reading in READINGS:
            repeated = [[value(each, reading, m) for each in drawn] for m in OPERATORS]
            low, high = tuple(map(min, repeated)), tuple(map(max, repeated))
            lines.append(Line(reading, tuple(map(fmean, repeated)), low, high))
        return Panel(title, "AND operators", up, tuple(map(float, OPERATORS)), tuple(lines))

    return Figure(
        "and-ablation",
        "Conjunction in progressive queries (mean and range of the repetitions)",
        (
            panel("Relevant documents found", "share of all relevant documents", _share),
            panel("Documents collected", "documents, all topics of a repetition", _collected_by),
        ),
    )


EXPERIMENT = Experiment(
    AndAblation,
    repetitions_of_topic,
    summary,
    opened,
    shown=tuple(f"share found with {m} AND" for m in (0, 1, 3, 9)),
)
