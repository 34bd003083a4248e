"""Relevant papers that the queries of a search for papers found: native and evolved ones.

Appendix C.2 of SPAR, which shows one example. Native queries are made from the question alone: the question
itself and its expansion by the understanding agent. Evolved queries are made from a relevant paper: about its
method, its application and its limitation. Relevant papers are judged relevant in QRELS.
"""

from collections.abc import Mapping, Sequence
from typing import get_args

from eval.experiments.comparing import Column, compared, main_numbers, mean, total
from eval.experiments.experiment import Experiment, Outcome, Results, Table
from eval.experiments.finding_topic import (
    FindingCall,
    FindingTopic,
    failed_notes,
    failures_of,
    opened_finding,
)
from eval.experiments.topic import Record, Topic, TopicResult, result_of
from generator.finding.state import QueryKind

KINDS: tuple[str, ...] = get_args(QueryKind)
NATIVE = ("question", "expanded")
NAMES: Mapping[str, Sequence[str]] = {
    "native queries": NATIVE,
    "evolved queries": tuple(kind for kind in KINDS if kind not in NATIVE),
    **{kind: (kind,) for kind in KINDS},
}
SHOWN = 10  # examples


async def queries_of_topic(topic: Topic) -> TopicResult:
    """Search for the papers of a topic, and count the papers that each kind of query found."""
    asked = await FindingTopic.of(topic)
    found, relevant = await asked.find(), asked.judged.relevant
    state = found.state
    by_query = [
        asked.ids(state.papers[paper_id].paper for paper_id in query.found or ()) for query in state.queries
    ]
    by_kind: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for query, ids in zip(state.queries, by_query, strict=True):
        by_kind[query.kind].update(ids)
    by_native = set().union(*(by_kind[kind] for kind in NATIVE))
    rows = {}
    for name, kinds in NAMES.items():
        of_kinds = set().union(*(by_kind[kind] for kind in kinds))
        rows[name] = {
            "queries": sum(query.kind in kinds for query in state.queries),
            "found": len(of_kinds),
            "relevant": len(of_kinds & relevant),
            "judged relevant": len(relevant),
            "not native": len(of_kinds & relevant - by_native),
        }
    # Evolved queries that found relevant papers which no native query found.
    examples = [
        {"query": query.text, "kind": query.kind, "made from": query.paper, "found": new}
        for query, ids in zip(state.queries, by_query, strict=True)
        if query.kind not in NATIVE and (new := [each for each in ids if each in relevant - by_native])
    ]
    return result_of(rows, {}, examples=examples, failures=failures_of(found.step))


def _share(records: Sequence[Record]) -> float:
    found: int = sum(record["relevant"] for record in records)
    relevant: int = sum(record["judged relevant"] for record in records)
    return found / relevant


COLUMNS: Mapping[str, Column] = {
    "number": total("queries"),
    "mean papers of a topic": mean("found"),
    "relevant papers": total("relevant"),
    "share of relevant papers": _share,
    "relevant, not by native queries": total("not native"),
}


def summary(of: Results) -> Outcome:
    """Add up the numbers of papers, and show examples."""
    rows = of.rows(NAMES)
    tables = [compared("Papers that the queries found", "queries", rows, COLUMNS)]
    examples = tuple(
        (query_id, each["query"], each["kind"], each["made from"], ", ".join(each["found"]))
        for query_id, topic in zip(of.materials.topics, of.topics, strict=True)
        for each in topic["examples"]
    )
    if examples:
        title = "Evolved queries that found relevant papers which no native query found"
        columns = ("topic", "query", "kind", "made from", "found")
        tables.append(Table(title, columns, examples[:SHOWN]))
    groups = {name: rows[name] for name in ("native queries", "evolved queries")}
    note = "A paper that several kinds of query found counts for each of them."
    notes, main = (note, *failed_notes(of)), main_numbers(groups, {"Recall": _share})
    return Outcome(tuple(tables), notes=notes, main=main)


EXPERIMENT = Experiment(FindingCall, queries_of_topic, summary, opened_finding)
