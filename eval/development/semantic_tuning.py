"""Weights of the order by features and cosine, tuned on the training questions of tydi's English only.

    python -m eval.development.semantic_tuning --home DIR [--step N]

The encoder is the configured one, and the index is shared with `eval.experiments.vectors` in the same home.
The features and cosines of every question are computed once for each of the three sets of candidates. The
best weights of a grid, relative to the cosine's 1, have the highest mean of the sets' nDCG@10; ties go to the
smaller weights. Among all weights that lose less than one standard error (the one-standard-error rule;
Breiman, Friedman, Olshen & Stone, 1984), the largest base is chosen, and with it the best of the others: BM25
was fitted to nothing, while an encoder may know other fields less well than tydi's. The second search is
switched off, and nothing of dev or scifact is used.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import click
import numpy as np
from numpy.typing import NDArray

from base.progress import Progress
from base.terminal.output import echo
from eval.development.weight_grid import (
    SAME_TITLE,
    Weights,
    candidates_of,
    grid,
    judged_rankings,
    ndcg,
    written,
)
from eval.experiments.bench import Bench, settings_of
from eval.experiments.collections import COLLECTIONS, questions
from eval.experiments.options import data_option, home_option
from eval.progress import question_bar
from eval.qrels import Qrels
from indexer.settings import IndexerSettings
from retriever.index import SearchIndex
from retriever.order.weights import COSINE_WEIGHT, SAME_TITLE_WEIGHT, SEMANTIC_WEIGHTS
from retriever.settings import Candidates, RetrieverSettings

COLLECTION = "tydi-en"
COSINE = "cosine"
GRID: Mapping[str, Sequence[float]] = {
    COSINE: (COSINE_WEIGHT,),
    "base": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0),
    "feedback": (0.0, 0.1, 0.2, 0.3),
    "neighbours": (0.0, 0.1, 0.2),
    SAME_TITLE: (SAME_TITLE_WEIGHT,),
}
WEIGHTS = grid(GRID)
IN_USE = {COSINE: COSINE_WEIGHT, "feedback": 0.0, **SEMANTIC_WEIGHTS, SAME_TITLE: SAME_TITLE_WEIGHT}


async def values_of(
    index: SearchIndex, topics: Mapping[str, str], qrels: Qrels, candidates: Candidates, progress: Progress
) -> NDArray[np.float64]:
    """Return the nDCG@10 of the judged questions by each of the weights: weights × questions."""
    changed = {"candidates": candidates, "without": frozenset({"second-search"})}
    settings = RetrieverSettings().model_copy(update=changed)
    table = []
    async for ranking, judged in judged_rankings(index, topics, qrels, settings, progress):
        if ranking.scored is None or ranking.measured is None:
            table.append(np.zeros(len(WEIGHTS)))
            continue
        weighted = {COSINE, *SEMANTIC_WEIGHTS}
        parts = {name: values for name, (values, _) in ranking.scored.parts.items() if name in weighted}
        parts["feedback"] = ranking.measured.feedback  # also a part of the scores without vectors
        same_title = ranking.measured.same_title
        packed = candidates_of(ranking, parts, same_title, judged, index.manifest.unit)
        table.append(ndcg(packed, WEIGHTS))
    return np.array(table).T


def choose(tried: Sequence[Weights], values: np.ndarray) -> tuple[Weights, Weights]:
    """Return the best weights, and the best weights with the largest base within one standard error of them.

    Args:
        tried: the smaller weights first.
        values: weights × questions.
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
            sets[candidates] = asyncio.run(values_of(index, topics, qrels, candidates, progress))
    best, chosen = choose(WEIGHTS, np.mean([*sets.values()], axis=0))
    for name, weights in (("in use", IN_USE), ("best", best), ("within one standard error", chosen)):
        place = WEIGHTS.index(dict(weights))
        means = ", ".join(f"{pool} {values[place].mean():.4f}" for pool, values in sets.items())
        echo(f"{name}: {written(weights)}")
        echo(f"  nDCG@10 of {len(topics):,} questions: {means}")


if __name__ == "__main__":
    main()
