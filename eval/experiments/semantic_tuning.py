"""Find the weights of the order by features and cosine, on the training questions of tydi's English alone.

    python -m eval.experiments.semantic_tuning --home DIR [--step N]

The encoder is the one of the settings, and the index that of `eval.experiments.vectors` in the same home. For
each of the three sets of candidates the features and cosines of every question are computed once. Then the
weights are changed one at a time, round after round, as long as the mean of nDCG@10 over the three sets grows
by a ten-thousandth; the cosine weighs 1, and of equals the smaller weight wins. At last the engine's score
gets the largest weight that loses less than one standard error (the one-standard-error rule; Breiman,
Friedman, Olshen & Stone, 1984): it was fitted to nothing, while an encoder may know other fields less well
than tydi's. Nothing of dev or scifact is used.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from math import log2
from pathlib import Path
from typing import NamedTuple, get_args

import click
import numpy as np

from eval.experiments.engines import settings_of
from eval.experiments.options import data_option, home_option
from eval.experiments.ranking import COLLECTIONS, Bench, questions
from eval.experiments.tuning import Tables, collect
from eval.progress import question_bar
from indexer.requests import plain
from indexer.settings import IndexerSettings
from indexer.terminal import echo
from retriever.feature_ranking import BASE_WEIGHT, SEMANTIC_WEIGHTS
from retriever.features import FEATURES
from retriever.settings import Candidates, RetrieverSettings

COLLECTION = "tydi-en"
FIRST = 10
LEAST_GAIN = 1e-4
STEPS: Mapping[str, Sequence[float]] = {
    "base": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0),
    "feedback": (0.0, 0.1, 0.2, 0.3, 0.5),
    "coverage": (0.0, 0.1, 0.2, 0.3),
    "window": (0.0, 0.1, 0.2),
    "title": (0.0, 0.05, 0.1, 0.2),
    "brevity": (0.0, 0.05, 0.1),
    "lead": (0.0, 0.05, 0.1),
    "numbers": (0.0, 0.05, 0.1),
}


class Judged(NamedTuple):
    """The candidates of all questions, ready to be ordered by weights."""

    values: np.ndarray  # questions, candidates, features; the base as a share of the best one's
    cosines: np.ndarray  # questions, candidates: stretched over 0 to 1
    grades: np.ndarray  # questions, candidates; minus infinity for padding
    ideal: np.ndarray  # questions: the highest DCG@10 there could be


def judged(tables: Tables, qrels: Sequence[Mapping[str, int]]) -> Judged:
    """Scale the features and cosines of candidates as the ranking does; `qrels` is of each question."""
    values = tables.features.copy()
    best = values[:, :, 0].max(axis=1, keepdims=True)
    values[:, :, 0] /= np.where(best > 0, best, 1.0)
    low, high = (
        reduce(tables.cosines, axis=1, keepdims=True, initial=start, where=np.isfinite(tables.cosines))
        for reduce, start in ((np.min, np.inf), (np.max, -np.inf))
    )
    cosines = np.nan_to_num((tables.cosines - low) / np.where(high > low, high - low, 1.0))
    ideal = []
    for grades in qrels:
        best_first = sorted(grades.values(), reverse=True)[:FIRST]
        ideal.append(sum(grade / log2(rank + 1) for rank, grade in enumerate(best_first, 1)))
    return Judged(values, cosines, tables.grades, np.array(ideal))


def ndcg(tables: Judged, weights: Mapping[str, float]) -> np.ndarray:
    """Return each question's nDCG@10 in the order by the weights and the cosine; judged questions only."""
    scores = tables.values @ np.array([weights.get(name, 0.0) for name in FEATURES]) + tables.cosines
    scores = np.where(np.isfinite(tables.grades), scores, -np.inf)
    first = np.argsort(-scores, axis=1, kind="stable")[:, :FIRST]
    grades = np.maximum(np.take_along_axis(tables.grades, first, axis=1), 0)
    gains = (grades / np.log2(np.arange(2, grades.shape[1] + 2))).sum(axis=1)
    asked = tables.ideal > 0
    return np.asarray(gains[asked] / tables.ideal[asked])


def improve(sets: Sequence[Judged], weights: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """Change one weight after the other as long as that helps; return the mean and the weights."""
    best = dict(weights)
    reached = _mean(sets, best)
    while True:
        before = reached
        for name, steps in STEPS.items():
            tried = [(_mean(sets, best | {name: step}), -step) for step in steps]
            value, step = max(tried)
            if value > reached + LEAST_GAIN:
                reached, best = value, best | {name: -step}
        if reached == before:
            return reached, {name: weight for name, weight in best.items() if weight}


def rely_on_the_engine(sets: Sequence[Judged], weights: Mapping[str, float]) -> dict[str, float]:
    """Raise the weight of the engine's score as far as less than one standard error of the mean is lost."""
    best = np.mean([ndcg(tables, weights) for tables in sets], axis=0)
    least = best.mean() - best.std(ddof=1) / np.sqrt(len(best))
    heavier = [step for step in STEPS["base"] if step >= weights["base"]]
    kept = [step for step in heavier if _mean(sets, {**weights, "base": step}) >= least]
    return {**weights, "base": max(kept)}


def _mean(sets: Sequence[Judged], weights: Mapping[str, float]) -> float:
    return float(np.mean([ndcg(tables, weights).mean() for tables in sets]))


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
            tables = asyncio.run(collect(index, topics, qrels, settings, progress))
            sets[candidates] = judged(tables, [qrels.get(query_id, {}) for query_id in topics])
    in_use = {"base": BASE_WEIGHT, **SEMANTIC_WEIGHTS}
    _, found = improve(list(sets.values()), {"base": STEPS["base"][0]})
    chosen = rely_on_the_engine(list(sets.values()), found)
    for name, weights in (("in use", in_use), ("best", found), ("within one standard error", chosen)):
        means = ", ".join(f"{pool} {ndcg(tables, weights).mean():.4f}" for pool, tables in sets.items())
        written = ", ".join(f"{feature} {plain(weight)}" for feature, weight in weights.items())
        echo(f"{name}: {written}")
        echo(f"  nDCG@10 of {len(topics):,} questions: {means}")


if __name__ == "__main__":
    main()
