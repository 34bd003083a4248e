"""Relevant papers that the queries of a search for papers found: native and evolved ones.

Appendix C.2 of SPAR, which shows one example. Native queries are made from the question alone: the question
itself and its expansion by the understanding agent. Evolved queries are made from a relevant paper: about its
method, its application and its limitation. Relevant papers are judged relevant in QRELS.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from eval.experiments.comparing import ROWS, Column, compared, main_numbers, mean, rows_of, total
from eval.experiments.experiment import Experiment, Outcome, Record, Table, TopicResult
from eval.experiments.finding_topic import (
    FindingCall,
    FindingTopic,
    failed_notes,
    failures_of,
    opened_finding,
)
from eval.experiments.materials import Materials
from generator.finding.state import FindingState, QueryKind

KINDS: tuple[str, ...] = get_args(QueryKind)
NATIVE = ("question", "expanded")
NAMES: Mapping[str, Sequence[str]] = {
    "native queries": NATIVE,
    "evolved queries": tuple(kind for kind in KINDS if kind not in NATIVE),
    **{kind: (kind,) for kind in KINDS},
}
SHOWN = 10  # examples


async def queries_of_topic(
    call: FindingCall, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Search for the papers of a topic, and count the papers that each kind of query found."""
    topic = await FindingTopic.open(call, materials, query_id, question)
    found = await topic.find()
    by_native, rows = _found_by(found.state, NATIVE, topic), {}
    for name, kinds in NAMES.items():
        by_kind = _found_by(found.state, kinds, topic)
        rows[name] = {
            "queries": sum(query.kind in kinds for query in found.state.queries),
            "found": len(by_kind),
            "relevant": len(by_kind & topic.judged.relevant),
            "judged relevant": len(topic.judged.relevant),
            "not native": len(by_kind & topic.judged.relevant - by_native),
        }
    examples = list(_examples(found.state, topic, by_native))
    return TopicResult({ROWS: rows, "examples": examples, "failures": failures_of(found.step)})


def _found_by(state: FindingState, kinds: Sequence[str], topic: FindingTopic) -> set[str]:
    """Return the ids of the papers that queries of these kinds found."""
    ids = dict.fromkeys(
        paper_id for query in state.queries if query.kind in kinds for paper_id in query.found or ()
    )
    return set(topic.ids(state.papers[paper_id].paper for paper_id in ids))


def _examples(state: FindingState, topic: FindingTopic, by_native: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the evolved queries that found relevant papers which no native query found."""
    for query in state.queries:
        ids = topic.ids(state.papers[paper_id].paper for paper_id in query.found or ())
        new = [paper_id for paper_id in ids if paper_id in topic.judged.relevant - by_native]
        if new and query.kind not in NATIVE:
            yield {"query": query.text, "kind": query.kind, "made from": query.paper, "found": new}


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


def summary(call: FindingCall, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Add up the numbers of papers, and show examples."""
    del call
    rows = rows_of(topics, NAMES)
    tables = [compared("Papers that the queries found", "queries", rows, COLUMNS)]
    examples = tuple(
        (query_id, *example.values())
        for query_id, topic in zip(materials.topics, topics, strict=True)
        for example in ({**each, "found": ", ".join(each["found"])} for each in topic["examples"])
    )
    if examples:
        title = "Evolved queries that found relevant papers which no native query found"
        columns = ("topic", "query", "kind", "made from", "found")
        tables.append(Table(title, columns, examples[:SHOWN]))
    groups = {name: rows[name] for name in ("native queries", "evolved queries")}
    return Outcome(
        tuple(tables),
        notes=("A paper that several kinds of query found counts for each of them.", *failed_notes(topics)),
        main=main_numbers(groups, {"Recall": _share}),
    )


EXPERIMENT = Experiment(FindingCall, queries_of_topic, summary, opened_finding)
