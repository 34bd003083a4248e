"""The contribution of each part of the formula: nDCG@10 of `shrag` without it, minus that of the whole.

    python -m eval.development.components --home DIR [--collection NAME]… [--step N] [--json]

One table for the training collections, belebele-ko2en, the shared collections and the two of `sample/`, with
strategies from statistics and with the recorded ones, if present. Parts are those of SHRAG_WITHOUT; the
cosine is not measured. The table also has the gain over `or`, relative to it, and
the means over the training collections, on which the constants were chosen.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import get_args

import click

from eval.experiments.bench import BASELINE, TUNED, Bench
from eval.experiments.collections import (
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
from eval.experiments.console import Row, data_option, echo_rows, home_option, names_option
from eval.progress import question_bar
from indexer.options import json_option
from retriever.settings import OrderPart, RetrieverSettings

PARTS: tuple[OrderPart, ...] = tuple(part for part in get_args(OrderPart) if part != "cosine")
MEASURE, GAIN = "nDCG@10", "gain"
ASKED = (*TRAINING, CROSSING, *COLLECTIONS, OF_SAMPLE, HELD_OUT)


def component_rows(bench: Bench, data: Path, collection: Collection, step: int = 1) -> Iterator[Row]:
    """Yield the rows of a collection: with statistics, and with recorded strategies for their questions."""
    recorded = recorded_strategies(data, collection)
    topics, qrels = questions(data, collection, "dev", step)
    with bench.open(collection, "alone") as index:
        for origin, strategies in (("statistics", {}), ("recorded", recorded)):
            asked = {key: text for key, text in topics.items() if origin == "statistics" or key in strategies}
            if not asked:
                continue
            judged = {query_id: qrels[query_id] for query_id in asked if query_id in qrels}

            def values(method: str, part: OrderPart | None = None) -> Mapping[str, float]:
                without = RetrieverSettings(without=frozenset({part} if part else ()))
                run = bench.rank(index, asked, method, without, strategies)  # noqa: B023
                return scores_of(judged, run, (MEASURE, *collection.measures)).means  # noqa: B023

            whole, base = values(TUNED), values(BASELINE)
            without = {part: values(TUNED, part) for part in PARTS}
            for measure, value in whole.items():
                yield Row(
                    {"collection": collection.name, "strategies": origin, "measure": measure},
                    {
                        "questions": len(asked),
                        TUNED: value,
                        **({GAIN: value / base[measure] - 1} if base[measure] else {}),
                        **{f"without {part}": of[measure] - value for part, of in without.items()},
                    },
                )


def mean_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the means over the training collections for each origin; each collection counts once."""
    training = {collection.name for collection in TRAINING}
    means = []
    for origin in ("statistics", "recorded"):
        of = [
            row.figures
            for row in rows
            if row.subject["collection"] in training
            and row.subject["strategies"] == origin
            and row.subject["measure"] == MEASURE
        ]
        if of:
            subject = {"collection": "mean of training", "strategies": origin, "measure": MEASURE}
            figures = {
                name: fmean(each.get(name, 0.0) for each in of) for name in of[0] if name != "questions"
            }
            means.append(Row(subject, {"questions": sum(int(each["questions"]) for each in of), **figures}))
    return means


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
