"""Find the weights of the lexical order on training questions.

    python -m eval.experiments.tuning --home DIR [--step N] [--json]

The candidates of every training question of tydi with their features, Korean and English, each in an index of
its own and in the index of all, without questions that stand in dev; and those of hotpotqa-100. Over a grid
of weights beside BM25 the highest mean of the sets' nDCG@10 wins, of equals the smaller weights. hotpotqa-100
has no training questions: what its choice is worth there is told by folds, each ranked with weights that were
chosen without it. The second hop and the place of the other language have no part in this.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
import numpy as np

from eval.experiments.bench import Bench
from eval.experiments.collections import COLLECTIONS, prefixed, questions
from eval.experiments.options import data_option, home_option
from eval.experiments.rows import Row, echo_rows
from eval.experiments.weight_grid import (
    SAME_TITLE,
    Candidates,
    collect,
    grid,
    ndcg,
    ndcg_of_all,
    written,
)
from eval.progress import question_bar
from indexer.options import json_option
from indexer.requests import Progress
from retriever.order import scored
from retriever.order.weights import LEXICAL_WEIGHTS
from retriever.settings import RetrieverSettings

GRID: Mapping[str, Sequence[float]] = {
    "base": (LEXICAL_WEIGHTS["base"],),  # only what the others weigh beside it matters
    "feedback": (0.0, 0.1, 0.2, 0.25, 0.3, 0.4),
    "coverage": (0.0, 0.1, 0.15, 0.2, 0.3),
    "neighbours": (0.0, 0.05, 0.1, 0.15, 0.2),
    SAME_TITLE: (0.0, 0.1, 0.15, 0.2, 0.3),
}
IN_USE = {**LEXICAL_WEIGHTS, SAME_TITLE: scored.SAME_TITLE}
BY_FOLDS, FOLDS = "hotpotqa-100", 5
SHOWN = 5


def candidates_of_all(
    home: Path, data: Path, step: int, progress: Progress
) -> Iterator[tuple[str, Candidates]]:
    """Yield the name and the candidates of each set that is present."""
    bench = Bench(home, data, progress)
    for collection in COLLECTIONS:
        split = "train" if "train" in collection.splits else "dev"
        present = (data / collection.corpus).exists()
        if not present or (split == "dev" and collection.name != BY_FOLDS):
            continue
        topics, judged = questions(data, collection, split, step)
        for setting in collection.settings:
            qrels = judged if setting == "alone" else prefixed(judged, collection.prefix)
            with bench.open(collection, setting) as index:
                yield (
                    f"{collection.name} {setting}",
                    collect(index, topics, qrels, RetrieverSettings(), progress),
                )


def by_folds(others: Sequence[np.ndarray], table: np.ndarray) -> float:
    """Return the mean of a table's questions, each by the weights that are best without those of its fold.

    Tables are of values by weights and question.
    """
    folds = np.arange(table.shape[1]) % FOLDS
    found = np.zeros(table.shape[1])
    for fold in set(folds):
        left = [*others, table[:, folds != fold]]
        found[folds == fold] = table[means(left).argmax(), folds == fold]
    return float(found.mean())


def means(tables: Sequence[np.ndarray]) -> np.ndarray:
    """Return of each of the weights the mean over tables of their questions' mean."""
    return np.asarray(np.mean([table.mean(axis=1) for table in tables], axis=0))


@click.command()
@home_option
@data_option
@click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")
@json_option
def main(home: Path, data: Path, step: int, as_json: bool) -> None:
    """Search the grid of weights on the training questions."""
    with question_bar() as progress:
        sets = dict(candidates_of_all(home, data, step, progress))
    tried = grid(GRID)
    tables = {name: ndcg_of_all(found, tried) for name, found in sets.items()}
    of_each = means(list(tables.values()))
    best = np.argsort(-of_each, kind="stable")[:SHOWN]
    rows = [
        Row(
            {"weights": written(tried[place])},
            {"mean": float(of_each[place])}
            | {name: float(table[place].mean()) for name, table in tables.items()},
        )
        for place in best
    ]
    in_use = {name: float(ndcg(found, IN_USE).mean()) for name, found in sets.items()}
    rows.append(
        Row(
            {"weights": f"in use: {written(IN_USE)}"},
            {"mean": float(np.mean(list(in_use.values())))} | in_use,
        )
    )
    for name in [name for name in tables if name.startswith(BY_FOLDS)]:
        others = [table for other, table in tables.items() if other != name]
        rows.append(Row({"weights": f"chosen by {FOLDS} folds"}, {name: by_folds(others, tables[name])}))
    echo_rows(rows, as_json=as_json)


if __name__ == "__main__":
    main()
