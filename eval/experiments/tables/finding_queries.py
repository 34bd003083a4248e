"""Relevant papers that the queries of a search for papers found: native and evolved ones.

Appendix C.2 of SPAR, which shows one example. Native queries are made from the question alone: the question
itself and its expansion by the understanding agent. Evolved queries are made from a relevant paper: about its
method, its application and its limitation. Relevant papers are judged relevant in QRELS.
"""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from eval.experiments.experiment import Cell, Experiment, Outcome, Record, Table, TopicResult
from eval.experiments.finding.inputs import FindingCall, FindingMaterials, opened_finding
from eval.experiments.finding.reporting import finding_notes
from eval.experiments.finding.topic import FindingTopic, failures_of, find, open_topic
from generator.finding.state import FindingState, QueryKind, SearchQuery

NATIVE = ("question", "expanded")
KINDS: tuple[str, ...] = get_args(QueryKind)
EVOLVED = tuple(kind for kind in KINDS if kind not in NATIVE)
GROUPS = {"native": NATIVE, "evolved": EVOLVED}
SHOWN = 10  # examples


async def queries_of_topic(
    call: FindingCall, materials: FindingMaterials, query_id: str, question: str
) -> TopicResult:
    """Search for the papers of a topic, and count the papers that each kind of query found."""
    topic = await open_topic(materials, query_id, question)
    found = await find(call, topic)
    state = found.state
    by_native = _found_by(state, NATIVE, topic)
    kinds = {name: _counts(state, (name,), topic, by_native) for name in KINDS}
    groups = {name: _counts(state, of, topic, by_native) for name, of in GROUPS.items()}
    return TopicResult(
        {
            "relevant": len(topic.judged.relevant),
            "kinds": kinds,
            "groups": groups,
            "examples": list(_examples(state, topic, by_native)),
            "failures": failures_of(found.step),
        }
    )


def _found_by(state: FindingState, kinds: Sequence[str], topic: FindingTopic) -> set[str]:
    """Return the ids of the papers that queries of these kinds found."""
    ids = dict.fromkeys(
        paper_id for query in state.queries if query.kind in kinds for paper_id in query.found or ()
    )
    return set(topic.ids(state.papers[paper_id].paper for paper_id in ids))


def _counts(
    state: FindingState, kinds: Sequence[str], topic: FindingTopic, by_native: set[str]
) -> dict[str, int]:
    found = _found_by(state, kinds, topic)
    relevant = found & topic.judged.relevant
    return {
        "queries": sum(query.kind in kinds for query in state.queries),
        "found": len(found),
        "relevant": len(relevant),
        "not_native": len(relevant - by_native),
    }


def _examples(state: FindingState, topic: FindingTopic, by_native: set[str]) -> Iterable[dict[str, Any]]:
    """Yield the evolved queries that found relevant papers which no native query found."""
    for query in state.queries:
        if query.kind not in NATIVE and (new := _new_papers(state, query, topic, by_native)):
            yield {"query": query.text, "kind": query.kind, "paper": query.paper, "found": new}


def _new_papers(
    state: FindingState, query: SearchQuery, topic: FindingTopic, by_native: set[str]
) -> list[str]:
    ids = topic.ids(state.papers[paper_id].paper for paper_id in query.found or ())
    return [paper_id for paper_id in ids if paper_id in topic.judged.relevant - by_native]


def summary(call: FindingCall, materials: FindingMaterials, topics: Sequence[Record]) -> Outcome:
    """Add up the numbers of papers, and show examples."""
    del call
    rows = [
        *(_row(name, [topic["groups"][name] for topic in topics], topics) for name in GROUPS),
        *(_row(name, [topic["kinds"][name] for topic in topics], topics) for name in KINDS),
    ]
    columns = (
        "queries",
        "number",
        "mean papers of a topic",
        "relevant papers",
        "share of relevant papers",
        "relevant, not by native queries",
    )
    examples = [
        (query_id, example["query"], example["kind"], example["paper"], ", ".join(example["found"]))
        for query_id, topic in zip(materials.topics, topics, strict=True)
        for example in topic["examples"]
    ]
    tables = [Table("Papers that the queries found", columns, tuple(rows))]
    if examples:
        title = "Evolved queries that found relevant papers which no native query found"
        names = ("topic", "query", "kind", "made from", "found")
        tables.append(Table(title, names, tuple(examples[:SHOWN])))
    shares = {name: row[4] for name, row in zip(GROUPS, rows, strict=False)}
    return Outcome(
        tuple(tables),
        notes=(
            "A paper that several kinds of query found counts for each of them.",
            *finding_notes(materials, topics),
        ),
        main={f"Recall, {name} queries": value for name, value in shares.items() if isinstance(value, float)},
    )


def _row(name: str, counts: Sequence[Record], topics: Sequence[Record]) -> tuple[Cell, ...]:
    relevant = sum(each["relevant"] for each in counts)
    return (
        name,
        sum(each["queries"] for each in counts),
        statistics.fmean(each["found"] for each in counts),
        relevant,
        relevant / sum(topic["relevant"] for topic in topics),
        sum(each["not_native"] for each in counts),
    )


EXPERIMENT = Experiment(
    "Native and evolved queries",
    "SPAR, appendix C.2",
    FindingCall,
    queries_of_topic,
    summary,
    opened_finding,
)
