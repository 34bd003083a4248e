"""Conjunction in progressive queries: documents found if the last keywords of each query are joined by AND.

Figure 3 of SHRAG. With m operators, each query joins its last min(m + 1, n) of n keywords by AND. The paper
writes `a|b|c+d`, and does not say which operator binds closer: both readings are computed. In the first one
AND binds closer, a OR b OR (c AND d). In the second one the operators apply from left to right,
(a OR b OR c) AND d.
"""

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from base.calls import Flag, Section
from eval.reproduction.experiment import (
    Cell,
    Experiment,
    ExperimentCall,
    Figure,
    Line,
    Materials,
    Outcome,
    Panel,
    Table,
)
from eval.reproduction.retrieving import open_topic, union_of
from eval.significance import compare
from retriever.queries.boolean import And, Or, Query
from retriever.query_plan import NamedQuery, QueryPlan, progressive_queries
from retriever.search import run_stages
from retriever.stages.stages import computed

Reading: TypeAlias = Literal["AND binds closer", "from left to right"]
READINGS: tuple[Reading, ...] = ("AND binds closer", "from left to right")
MOST_OPERATORS = 9


class AndAblation(ExperimentCall):
    """The number of topics in a sample, and the number of samples."""

    sample: Annotated[
        int, Flag(section=Section.LIMITS), Field(ge=1, le=100_000, description="Topics of one repetition.")
    ] = 50
    repetitions: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(ge=1, le=1_000, description="Repetitions; without a model each one draws topics again."),
    ] = 10


async def run(call: AndAblation, materials: Materials) -> Outcome:
    """Collect the documents of each topic with 0 to 9 operators, in both readings."""
    topics = []
    for query_id, question in materials.each_topic():
        topics.append(await _collected(query_id, question, materials))
    draw = random.Random(call.seed)  # noqa: S311 - not for secrets
    drawn = [draw.choices(topics, k=min(call.sample, len(topics))) for _ in range(call.repetitions)]
    return Outcome(
        tuple(_table(reading, topics, drawn) for reading in READINGS),
        (_figure(drawn),),
        (*_notes(call, topics), *materials.notes()),
        tuple(topics),
    )


async def _collected(query_id: str, question: str, materials: Materials) -> dict[str, Any]:
    """Return the counts of a topic: documents, and relevant ones, by reading and number of operators."""
    relevant = materials.relevant(query_id)
    topic = await open_topic(question, 1, materials)  # documents are collected, not ranked
    context, stages = topic.context, topic.stages
    chosen, most = stages.keywords, context.options.hits_per_query
    queries = progressive_queries(computed(stages.question), chosen, hits_per_query=most) if chosen else ()
    record: dict[str, Any] = {
        "query_id": query_id,
        "relevant": len(relevant),
        "keywords": len(chosen.keywords) if chosen else 0,
    }
    for reading in READINGS:
        found, collected = [], []
        for operators in range(MOST_OPERATORS + 1):
            plan = QueryPlan(joined_queries(queries, operators, reading))
            pool = computed((await run_stages(context, stages.with_plan(plan), upto="pool")).pool)
            ids = union_of(pool, materials)
            collected.append(len(ids))
            found.append(len(ids & relevant))
        record[reading] = {"found": found, "collected": collected}
    return record


def _notes(call: AndAblation, topics: Sequence[Mapping[str, Any]]) -> list[str]:
    drawn, short = min(call.sample, len(topics)), sum(topic["keywords"] <= MOST_OPERATORS for topic in topics)
    return [
        f"Each repetition draws {drawn} topics with replacement, seed {call.seed}.",
        "Keywords come from statistics, so that repetitions differ by their topics only.",
        f"{short} of {len(topics)} topics have fewer than ten keywords, all of which are then joined.",
        "p: paired randomisation test of the shares of each topic's relevant documents against OR alone.",
        *(_finding(reading, topics) for reading in READINGS),
    ]


def _finding(reading: Reading, topics: Sequence[Mapping[str, Any]]) -> str:
    """Return a note on the two findings of the paper: OR finds most, and AND collects more."""
    operators = range(1, MOST_OPERATORS + 1)
    alone = _share(topics, reading, 0), _collected_by(topics, reading, 0)
    finds = all(_share(topics, reading, each) <= alone[0] for each in operators)
    collects = all(_collected_by(topics, reading, each) > alone[1] for each in operators)
    return (
        f'{reading}: the finding "OR alone finds most" is {"confirmed" if finds else "not confirmed"}, '
        f'"AND collects more" is {"confirmed" if collects else "not confirmed"}.'
    )


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
    first, last = clauses[:-operators], clauses[-operators:]
    if not first:
        first, last = clauses[:1], clauses[1:]
    return And((Or(first) if len(first) > 1 else first[0], *last))


def _share(topics: Sequence[Mapping[str, Any]], reading: Reading, operators: int) -> float:
    found: int = sum(topic[reading]["found"][operators] for topic in topics)
    relevant: int = sum(topic["relevant"] for topic in topics)
    return found / relevant


def _collected_by(topics: Sequence[Mapping[str, Any]], reading: Reading, operators: int) -> int:
    return sum(topic[reading]["collected"][operators] for topic in topics)


def _table(
    reading: Reading, topics: Sequence[Mapping[str, Any]], drawn: Sequence[Sequence[Mapping[str, Any]]]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    shares = [
        [topic[reading]["found"][m] / topic["relevant"] for topic in topics]
        for m in range(MOST_OPERATORS + 1)
    ]
    for operators, of_topics in enumerate(shares):
        test = compare(shares[0], of_topics) if operators else None
        rows.append(
            (
                operators,
                statistics.fmean(_share(each, reading, operators) for each in drawn),
                statistics.fmean(_collected_by(each, reading, operators) for each in drawn),
                statistics.fmean(of_topics),
                *(test.as_cells() if test else (None,) * 4),
            )
        )
    return Table(
        f"Share of relevant documents found, and documents collected: {reading}",
        (
            "AND operators",
            "share found",
            "collected",
            "mean share of a topic",
            "difference to OR",
            "95 %",
            "p",
            "better / same / worse",
        ),
        tuple(rows),
    )


def _figure(drawn: Sequence[Sequence[Mapping[str, Any]]]) -> Figure:
    places = tuple(float(m) for m in range(MOST_OPERATORS + 1))

    def line(reading: Reading, value: Any) -> Line:
        repeated = [[value(each, reading, m) for each in drawn] for m in range(MOST_OPERATORS + 1)]
        return Line(
            reading,
            tuple(map(statistics.fmean, repeated)),
            tuple(map(min, repeated)),
            tuple(map(max, repeated)),
        )

    return Figure(
        "and-ablation",
        "Conjunction in progressive queries (mean and range of the repetitions)",
        (
            Panel(
                "Relevant documents found",
                "AND operators",
                "share of all relevant documents",
                places,
                tuple(line(reading, _share) for reading in READINGS),
            ),
            Panel(
                "Documents collected",
                "AND operators",
                "documents, all topics of a repetition",
                places,
                tuple(line(reading, _collected_by) for reading in READINGS),
            ),
        ),
    )


EXPERIMENT = Experiment("AND ablation", "SHRAG, figure 3", AndAblation, run)
