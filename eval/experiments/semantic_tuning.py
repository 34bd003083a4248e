"""Find the weights of the order by features and cosine, on the training questions of tydi's English alone.

    python -m eval.experiments.semantic_tuning --home DIR [--step N]

The encoder is the one of the settings, and the index that of `eval.experiments.vectors` in the same home. For
each of the three sets of candidates the features and cosines of every question are computed once, and over a
grid of weights beside the cosine's 1 the highest mean of the sets' nDCG@10 is looked for; of equals the
smaller weights win. Of all weights that lose less than one standard error (the one-standard-error rule;
Breiman, Friedman, Olshen & Stone, 1984) those with the largest base are taken, of these the best: BM25 was
fitted to nothing, while an encoder may know other fields less well than tydi's. The second hop has no part in
it, and nothing of dev or scifact is used.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import click
import numpy as np

from eval.experiments.bench import Bench
from eval.experiments.collections import COLLECTIONS, questions
from eval.experiments.engines import settings_of
from eval.experiments.options import data_option, home_option
from eval.experiments.weight_grid import (
    COSINE,
    SAME_TITLE,
    Weights,
    collect,
    grid,
    ndcg,
    ndcg_of_all,
    scaled,
    written,
)
from eval.progress import question_bar
from indexer.settings import IndexerSettings
from indexer.terminal import echo
from retriever.order import scored
from retriever.order.weights import COSINE_WEIGHT, SEMANTIC_WEIGHTS
from retriever.settings import Candidates, RetrieverSettings

COLLECTION = "tydi-en"
GRID: Mapping[str, Sequence[float]] = {
    COSINE: (COSINE_WEIGHT,),
    "base": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0),
    "coverage": (0.0, 0.1, 0.2, 0.3),
    "feedback": (0.0, 0.1, 0.2, 0.3),
    "neighbours": (0.0, 0.1, 0.2),
    SAME_TITLE: (scored.SAME_TITLE,),
}
IN_USE = {COSINE: COSINE_WEIGHT, **SEMANTIC_WEIGHTS, SAME_TITLE: scored.SAME_TITLE}


def choose(tried: Sequence[Weights], values: np.ndarray) -> tuple[Weights, Weights]:
    """Return the best weights, and of those that lose less than one standard error the heaviest base's best.

    Args:
        tried: the smaller weights first.
        values: of weights and question.
    """
    means = values.mean(axis=1)
    best = int(means.argmax())
    least = means[best] - values[best].std(ddof=1) / np.sqrt(values.shape[1])
    within = [place for place in np.argsort(-means, kind="stable") if means[place] >= least]
    return tried[best], tried[max(within, key=lambda place: tried[place]["base"])]


@click.command()
@home_option
@data_option
@click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")
def main(home: Path, data: Path, step: int) -> None:
    """Search for the weights on the training questions."""
    if IndexerSettings().encoder.provider == "none":
        echo("no encoder is configured: set SHRAG_ENCODER__PROVIDER and SHRAG_ENCODER__MODEL", err=True)
        sys.exit(2)
    [collection] = [known for known in COLLECTIONS if known.name == COLLECTION]
    topics, qrels = questions(data, collection, "train", step)
    sets = {}
    with (
        question_bar() as progress,
        Bench(home, data, progress, settings_of(home, "tantivy")).open(collection, "alone") as index,
    ):
        for candidates in get_args(Candidates):
            settings = RetrieverSettings().model_copy(update={"candidates": candidates})
            sets[candidates] = scaled(collect(index, topics, qrels, settings, progress))
    tried = grid(GRID)
    best, chosen = choose(tried, np.mean([ndcg_of_all(found, tried) for found in sets.values()], axis=0))
    for name, weights in (("in use", IN_USE), ("best", best), ("within one standard error", chosen)):
        means = ", ".join(f"{pool} {ndcg(found, weights).mean():.4f}" for pool, found in sets.items())
        echo(f"{name}: {written(weights)}")
        echo(f"  nDCG@10 of {len(topics):,} questions: {means}")


if __name__ == "__main__":
    main()
