"""The contribution of each part of the formula: nDCG@10 of `shrag` without it, minus that of the whole.

    python -m tools.components --home DIR [--collection NAME]… [--step N] [--json]

One table for the training collections, belebele-ko2en, the shared collections and the two of `sample/`, with
strategies from statistics and with the recorded ones, if present. Parts are those of SHRAG_WITHOUT; the
cosine is not measured. The table also has the gain over `or`, relative to it, and the means over the training
collections, on which the constants were chosen.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import get_args

from eval.progress import question_bar
from retriever.settings import OrderPart, RetrieverSettings
from tools.bench import (
    BASELINE,
    TUNED,
    Bench,
    Row,
    data_option,
    figures_of,
    home_option,
    names_option,
    step_option,
    table_command,
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


def component_rows(bench: Bench, data: Path, collection: Collection, step: int) -> Iterator[Row]:
    """Yield the rows of a collection: with statistics, and with recorded strategies for their questions."""
    topics, qrels = questions(data, collection, "dev", step)
    recorded = recorded_strategies(data, collection)
    measures = (MEASURE, *collection.measures)
    variants = [(BASELINE, frozenset[OrderPart]()), *((TUNED, frozenset(of)) for of in ((), *zip(PARTS)))]
    with bench.open(collection) as index:
        for origin, strategies in (("statistics", {}), ("recorded", recorded)):
            asked = {key: text for key, text in topics.items() if key in strategies or not strategies}
            if origin == "recorded" and not (strategies and asked):
                continue
            judged = {query_id: qrels[query_id] for query_id in asked if query_id in qrels}
            base, whole, *less = (
                scores_of(
                    judged,
                    bench.rank(index, asked, method, RetrieverSettings(without=without), strategies),
                    measures,
                )
                for method, without in variants
            )
            for measure, value in whole.items():
                yield {
                    "collection": collection.name,
                    "strategies": origin,
                    "measure": measure,
                    "questions": len(asked),
                    TUNED: value,
                    **({"gain": value / base[measure] - 1} if base[measure] else {}),
                    **{f"without {part}": of[measure] - value for part, of in zip(PARTS, less, strict=True)},
                }


def mean_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the means over the training collections for each origin; each collection counts once."""
    training = {collection.name for collection in TRAINING}
    for origin in ("statistics", "recorded"):
        subject = {"strategies": origin, "measure": MEASURE}
        own = (row for row in rows if subject.items() <= row.items())
        if of := [figures_of(row) for row in own if row["collection"] in training]:
            means = {name: fmean(each.get(name, 0.0) for each in of) for name in of[0]}
            total = sum(int(each["questions"]) for each in of)
            yield {"collection": "mean of training", **subject, **means, "questions": total}


@table_command
@home_option
@data_option
@names_option(collection.name for collection in ASKED)
@step_option
def main(home: Path, data: Path, names: tuple[str, ...], step: int) -> list[Row]:
    """Leave out one part of the formula at a time, and compare the scores with the whole."""
    wanted = [collection for collection in ASKED if not names or collection.name in names]
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        rows = [row for each in present(data, wanted) for row in component_rows(bench, data, each, step)]
    return [*rows, *mean_rows(rows)]


if __name__ == "__main__":
    main()
