"""The contribution of each part of the default order: `shrag` without it, compared with the whole.

    python -m eval.development.components --home DIR [--collection NAME] [--part NAME] [--step N] [--json]

Parts are those of SHRAG_WITHOUT, and the constraints of questions (SHRAG_CONSTRAINTS). The questions are the
dev questions of tydi in its own and in the combined index, of scifact and hotpotqa-100 in their own, and the
held-out questions by kind. Each figure without a part is shown next to the whole's, with the paired
difference and its interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import click

from base.terminal.columns import table
from base.terminal.output import echo_json, echo_lines
from eval.development.engines import MEASURES
from eval.experiments.bench import TUNED, Bench
from eval.experiments.collections import COLLECTIONS, Collection, prefixed, questions
from eval.experiments.held_out import FOLDER, HELD_OUT, values_by_kind
from eval.experiments.measures import scores_of
from eval.experiments.options import data_option, home_option, names_option
from eval.experiments.rows import Row
from eval.experiments.sample import read_lines
from eval.progress import question_bar
from eval.significance import Comparison, compare
from indexer.options import json_option
from retriever.settings import OrderPart, RetrieverSettings

PARTS: tuple[str, ...] = (*get_args(OrderPart), "constraints")
MEASURE = "nDCG@10"
TOGETHER = ("tydi-ko", "tydi-en")
EVERY = 20  # step of the subset in the tests
ASKED: Mapping[str, Collection] = {known.name: known for known in (*COLLECTIONS, HELD_OUT)}

Values = Mapping[tuple[str, str], Mapping[str, float]]  # by (kind of question, figure), then by question


class Loss(NamedTuple):
    """The loss or gain without a part; the difference is b − a, and b is without the part."""

    subject: Mapping[str, str]  # collection, setting, kind, measure, without
    found: Comparison


def settings_without(part: str) -> RetrieverSettings:
    """Return the settings of the order without a part; of the whole order for ""."""
    settings = RetrieverSettings()
    if part == "constraints":
        return settings.model_copy(update={"constraints": False})
    return settings.model_copy(update={"without": settings.without | {part} if part else settings.without})


def measured(
    bench: Bench, data: Path, collection: Collection, setting: str, parts: Sequence[str], step: int
) -> Iterator[tuple[str, Values]]:
    """Yield each part with the values of all questions without it, after the values of the whole."""
    topics, judged = questions(data, collection, "dev", step)
    qrels = judged if setting == "alone" else prefixed(judged, collection.prefix)
    qrels = {query_id: qrels[query_id] for query_id in topics if query_id in qrels}
    kinds = [topic for topic in _held_out_topics(collection) if topic["query_id"] in topics]
    with bench.open(collection, setting) as index:
        for part in ("", *parts):
            run = bench.rank(index, topics, TUNED, settings_without(part))
            if kinds:
                found = values_by_kind(kinds, qrels, run)
                yield part, {(kind, name): of for kind in found for name, of in found[kind].items()}
            else:
                scores = scores_of(qrels, run, (MEASURE, *collection.measures)).per_query
                yield part, {("", name): of for name, of in scores.items()}


def _held_out_topics(collection: Collection) -> Sequence[Mapping[str, str]]:
    return read_lines(FOLDER / "topics.jsonl") if collection is HELD_OUT else ()


def losses(
    bench: Bench, data: Path, collection: Collection, setting: str, parts: Sequence[str], step: int = 1
) -> Iterator[Loss]:
    """Yield the rows of a collection in one index."""
    (_, whole), *without = measured(bench, data, collection, setting, parts, step)
    for (kind, measure), values in whole.items():
        for part, others in without:
            subject = {
                "collection": collection.name,
                "setting": setting,
                "kind": kind,
                "measure": measure,
                "without": part,
            }
            yield Loss(
                subject,
                compare(list(values.values()), [others[kind, measure][query_id] for query_id in values]),
            )


def component_rows(bench: Bench, data: Path, collection: Collection, *, every: int = 1) -> list[Row]:
    """Rank every `every`-th dev question without each part; add the rows of the subset if all are ranked."""
    topics, judged = questions(data, collection, "dev", every)
    steps = (1, EVERY) if every == 1 else (every,)
    rows = []
    with bench.open(collection, "alone") as index:
        for part in PARTS:
            run = bench.rank(index, topics, TUNED, settings_without(part))
            for step in steps:
                asked = list(topics)[:: step // every]
                qrels = {query_id: judged[query_id] for query_id in asked if query_id in judged}
                figures = scores_of(qrels, run, (*MEASURES, *collection.measures)).means
                subject = {"table": "components", "collection": collection.name, "method": TUNED}
                name = "all" if step == 1 else f"every {step}"
                rows.append(Row(subject | {"without": part, "questions": name}, figures))
    return rows


def _show(rows: Sequence[Loss]) -> None:
    header = ("collection", "index", "kind", "measure", "without", "whole", "now", "difference")
    cells = [
        (*row.subject.values(), f"{row.found.mean_a:.4f}", f"{row.found.mean_b:.4f}", *row.found.as_cells())
        for row in rows
    ]
    echo_lines(table([(*header, "95 % interval", "p", "higher / same / lower"), *cells], words=5))


@click.command()
@home_option
@data_option
@names_option(ASKED)
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only this part; repeatable.")
@click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")
@json_option
def main(
    home: Path, data: Path, names: tuple[str, ...], parts: tuple[str, ...], step: int, as_json: bool
) -> None:
    """Leave out one part of the order at a time, and compare the scores with the whole."""
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        rows = [
            row
            for name in names or ASKED
            for setting in (("alone", "together") if name in TOGETHER else ("alone",))
            for row in losses(bench, data, ASKED[name], setting, parts or PARTS, step)
        ]
    if as_json:
        echo_json([{**row.subject, **row.found.as_record()} for row in rows])
    else:
        _show(rows)


if __name__ == "__main__":
    main()
