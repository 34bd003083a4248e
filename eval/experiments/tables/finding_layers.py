"""Layers of references that are followed from relevant papers: papers known and judged relevant, and recall.

Table 5 of SPAR (RefChain), which compares no layer with one. Each row is a separate search with 0 to 3
layers: 1 follows the references of relevant papers, 2 also the references of relevant papers among them. Raw
papers are all papers known after the search; valid papers are judged relevant, without the limit k of a list.
Recall and precision are over the valid papers; raw recall is over the raw ones. Unless --pure is given, the
papers that cite a relevant paper are part of a layer too.
"""

import statistics
from collections.abc import Sequence

from eval.experiments.experiment import Cell, Experiment, Outcome, Record, Table, TopicResult
from eval.experiments.finding.inputs import THRESHOLD, FindingCall, FindingMaterials, opened_finding
from eval.experiments.finding.reporting import MEASURES, counts_of, finding_notes, published
from eval.experiments.finding.set_measures import SetScores, set_scores
from eval.experiments.finding.topic import failures_of, find, open_topic, ranking_of

LAYERS = (0, 1, 2, 3)
COLUMNS = ("layers", "recall", "precision", "raw papers", "valid papers", "raw recall", "F1")

PUBLISHED = (
    ("AutoScholarQuery", 0, 0.41, 0.29, 306.90, 3.95, 0.58),
    ("AutoScholarQuery", 1, 0.44, 0.19, 569.08, 6.58, 0.77),
    ("SPARBench", 0, 0.13, 0.22, 367.81, 10.77, 0.26),
    ("SPARBench", 1, 0.15, 0.16, 504.94, 15.00, 0.31),
)


async def layers_of_topic(
    call: FindingCall, materials: FindingMaterials, query_id: str, question: str
) -> TopicResult:
    """Search with each number of layers; count the known papers and those judged relevant."""
    topic = await open_topic(materials, query_id, question)
    raw, valid, rankings, failures = {}, {}, {}, []
    for layers in LAYERS:
        found = await find(call, topic, layers=layers)
        relevant = topic.ids(known.paper for _, known in found.state.relevant(THRESHOLD))
        raw[str(layers)] = topic.counts(topic.ids(known.paper for known in found.state.papers.values()))
        valid[str(layers)] = topic.counts(relevant)
        rankings[f"layers-{layers}"] = ranking_of(relevant)
        failures += failures_of(found.step)
    return TopicResult({"raw": raw, "valid": valid, "failures": failures}, rankings)


def summary(call: FindingCall, materials: FindingMaterials, topics: Sequence[Record]) -> Outcome:
    """Average the numbers of papers and the set measures."""
    del call
    rows = [_row(layers, topics) for layers in LAYERS]
    scores = {layers: _scores(topics, "valid", layers) for layers in LAYERS}
    main = {
        f"{measure.capitalize()}, layers {layers}": value
        for layers, each in scores.items()
        for measure in ("recall", "precision")
        if (value := getattr(each, measure)) is not None
    }
    return Outcome(
        (
            Table(
                "Papers known and judged relevant for each topic, by layers of references",
                COLUMNS,
                tuple(rows),
            ),
            published("SPAR, table 5", ("benchmark", *COLUMNS[:-1]), PUBLISHED),
        ),
        notes=(*MEASURES, *finding_notes(materials, topics)),
        main=main,
    )


def _scores(topics: Sequence[Record], part: str, layers: int) -> SetScores:
    return set_scores(counts_of(topics, part, str(layers)))


def _row(layers: int, topics: Sequence[Record]) -> tuple[Cell, ...]:
    valid = _scores(topics, "valid", layers)
    return (
        layers,
        valid.recall,
        valid.precision,
        statistics.fmean(each.retrieved for each in counts_of(topics, "raw", str(layers))),
        statistics.fmean(each.retrieved for each in counts_of(topics, "valid", str(layers))),
        _scores(topics, "raw", layers).recall,
        valid.f1,
    )


EXPERIMENT = Experiment(
    "Layers of references",
    "SPAR, table 5",
    FindingCall,
    layers_of_topic,
    summary,
    opened_finding,
    published={"Recall, layers 0, AutoScholarQuery": 0.41, "Recall, layers 1, AutoScholarQuery": 0.44},
    shown=("Recall, layers 0", "Recall, layers 1"),
)
