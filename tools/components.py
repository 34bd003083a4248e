"""The contribution of each part of the formula: nDCG@10 of `shrag` without it, minus that of the whole.

    python -m tools.components --home DIR [--collection NAME]… [--step N] [--json]

One table for the training collections, belebele-ko2en, the shared collections and the two of `sample/`, with
strategies from statistics and with the recorded ones, if present. Parts are those of SHRAG_WITHOUT; the
cosine is not measured. The table also has the gain over `or`, relative to it, and the means over the training
collections, on which the constants were chosen.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import get_args

import click

from eval.progress import question_bar
from indexer.options import json_option
from retriever.settings import OrderPart, RetrieverSettings
from tools.bench import (
    BASELINE,
    TUNED,
    Bench,
    Row,
    data_option,
    echo_rows,
    figures_of,
    home_option,
    names_option,
)
from tools.collections import (
    COLLECTIONS,
    CROSSING,
    HELD_OUT,
    OF_SAMPLE,
    TRAINING,
    Collection,
    present,
    questions,
    recorded_strategies,
    scores_of,
)

PARTS: tuple[OrderPart, ...] = tuple(part for part in get_args(OrderPart) if part != "cosine")
MEASURE = "nDCG@10"
ASKED = (*TRAINING, CROSSING, *COLLECTIONS, OF_SAMPLE, HELD_OUT)
ORIGINS = ("statistics", "recorded")


def component_rows(bench: Bench, data: Path, collection: Collection, step: int = 1) -> Iterator[Row]:
    """Yield the rows of a collection: with statistics, and with recorded strategies for their questions."""
    recorded = recorded_strategies(data, collection)
    topics, qrels = questions(data, collection, "dev", step)
    with bench.open(collection) as index:
        for origin, strategies in zip(ORIGINS, ({}, recorded), strict=True):
            asked = {key: text for key, text in topics.items() if origin == ORIGINS[0] or key in strategies}
            if not asked:
                continue
            judged = {query_id: qrels[query_id] for query_id in asked if query_id in qrels}

            def values(method: str, *without: OrderPart) -> Mapping[str, float]:
                settings = RetrieverSettings(without=frozenset(without))
                run = bench.rank(index, asked, method, settings, strategies)  # noqa: B023
                return scores_of(judged, run, (MEASURE, *collection.measures)).means  # noqa: B023

            whole, base = values(TUNED), values(BASELINE)
            less = {part: values(TUNED, part) for part in PARTS}
            for measure, value in whole.items():
                yield {
                    "collection": collection.name,
                    "strategies": origin,
                    "measure": measure,
                    "questions": len(asked),
                    TUNED: value,
                    **({"gain": value / base[measure] - 1} if base[measure] else {}),
                    **{f"without {part}": of[measure] - value for part, of in less.items()},
                }


def mean_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the means over the training collections for each origin; each collection counts once."""
    training = {collection.name for collection in TRAINING}
    for origin in ORIGINS:
        subject = {"strategies": origin, "measure": MEASURE}
        of = [
            figures_of(row)
            for row in rows
            if row["collection"] in training and subject.items() <= row.items()
        ]
        if of:
            means = {name: fmean(each.get(name, 0.0) for each in of) for name in of[0]}
            total = sum(int(each["questions"]) for each in of)
            yield {"collection": "mean of training", **subject, **means, "questions": total}


@click.command()
@home_option
@data_option
@names_option(collection.name for collection in ASKED)
@click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")
@json_option
def main(home: Path, data: Path, names: tuple[str, ...], step: int, as_json: bool) -> None:
    """Leave out one part of the formula at a time, and compare the scores with the whole."""
    wanted = [collection for collection in ASKED if not names or collection.name in names]
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        rows = [row for each in present(data, wanted) for row in component_rows(bench, data, each, step)]
    echo_rows([*rows, *mean_rows(rows)], as_json=as_json)


if __name__ == "__main__":
    main()
