"""Ranking of the training collections by `shrag` and `or`, and the mean relative gain.

    python -m eval.experiments.training --home DIR [--collection NAME] [--json]

Each collection is indexed alone, and both methods rank all its questions. The gain is relative: the
difference of the mean nDCG@10, divided by the mean of `or`. Constants are chosen on these collections; the
leave-one-set-out gain of `eval.development.tuning` estimates the gain on others.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import click

from eval.experiments.bench import BASELINE, TUNED, Bench
from eval.experiments.collections import TRAINING, Collection, present, questions
from eval.experiments.measures import scores_of
from eval.experiments.options import data_option, home_option, names_option
from eval.experiments.rows import Row, echo_rows
from eval.progress import question_bar
from indexer.options import json_option

NDCG, RECALL = MEASURES = ("nDCG@10", "R@100")
GAIN = "relative gain"


def training_row(bench: Bench, data: Path, collection: Collection) -> Row:
    """Rank the questions of a collection by both methods."""
    topics, qrels = questions(data, collection, "dev")
    with bench.open(collection, "alone") as index:
        base, tuned = (
            scores_of(qrels, bench.rank(index, topics, method), MEASURES).means
            for method in (BASELINE, TUNED)
        )
    figures = {
        f"{NDCG} {BASELINE}": base[NDCG],
        f"{NDCG} {TUNED}": tuned[NDCG],
        GAIN: tuned[NDCG] / base[NDCG] - 1,
        f"{RECALL} {BASELINE}": base[RECALL],
        f"{RECALL} {TUNED}": tuned[RECALL],
        f"{RECALL} difference": tuned[RECALL] - base[RECALL],
    }
    return Row({"collection": collection.name}, {"asked": len(topics), **figures})


def mean_row(rows: Sequence[Row]) -> Row:
    """Return the row of the mean relative gain; each collection counts once."""
    return Row({"collection": "mean"}, {GAIN: fmean(row.figures[GAIN] for row in rows)})


@click.command()
@home_option
@data_option
@names_option(collection.name for collection in TRAINING)
@json_option
def main(home: Path, data: Path, names: tuple[str, ...], as_json: bool) -> None:
    """Rank the training collections by `or` and `shrag`."""
    wanted = [collection for collection in TRAINING if not names or collection.name in names]
    collections = present(data, wanted)
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        rows = [training_row(bench, data, collection) for collection in collections]
    echo_rows([*rows, mean_row(rows)] if rows else [], as_json=as_json)


if __name__ == "__main__":
    main()
