"""Find the weights of the lexical order on training questions.

    python -m eval.experiments.tuning --home DIR [--step N]

The candidates of every training question of tydi with their features, Korean and English, each in an index
of its own and in the index of all; without questions that stand in dev, and nothing of scifact. Over a grid
of small weights beside BM25 (other corpora are not these), the head is chosen by Success@5, what an answer
rests on; then the tail by Success@15, what the paper counts. Of equals the smaller weights win.
"""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from eval.experiments.options import data_option, home_option
from eval.experiments.ranking import COLLECTIONS, Bench, prefixed, questions
from eval.progress import question_bar
from indexer.columns import table
from indexer.options import json_option
from indexer.requests import Progress, plain
from indexer.terminal import echo, echo_json, echo_lines
from retriever.feature_ranking import HEAD, HEAD_WEIGHTS, TAIL_WEIGHTS
from retriever.features import FEATURES
from retriever.index import SearchIndex
from retriever.ranking import Ranking
from retriever.search import SearchRequest, open_ranking, run_stages
from retriever.settings import RetrieverSettings

HEAD_GRID: Mapping[str, Sequence[float]] = {
    "base": (1.0,),
    "coverage": (0.05, 0.1, 0.15),
    "feedback": (0.4, 0.5, 0.6, 0.7),
    "lead": (0.0, 0.05, 0.1),
    "brevity": (0.0, 0.05),
    "numbers": (0.0, 0.02),
}
TAIL_GRID: Mapping[str, Sequence[float]] = {
    "feedback": (1.0,),
    "base": (0.0, 0.1, 0.2, 0.3, 0.5),
    "coverage": (0.0, 0.15, 0.3),
    "numbers": (0.0, 0.1),
    "window": (0.0, 0.15, 0.3, 0.45),
    "lead": (0.0, 0.1),
}
SHOWN = 5


class Tables(NamedTuple):
    """The candidates of all questions of one collection in one index, padded to the longest list."""

    features: np.ndarray  # questions, candidates, features
    grades: np.ndarray  # questions, candidates; minus infinity for padding
    cosines: np.ndarray  # questions, candidates; not a number where there is none

    @property
    def absent(self) -> np.ndarray:
        """Return 0 for a candidate, minus infinity for padding."""
        return np.where(np.isfinite(self.grades), 0.0, -np.inf)


async def collect(
    index: SearchIndex,
    topics: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    settings: RetrieverSettings,
    progress: Progress,
) -> Tables:
    """Compute features and cosines of the candidates of each question, in the order of their score."""
    found = []
    for done, question in enumerate(topics.values()):
        progress("questions", done, len(topics))
        context = open_ranking(index, SearchRequest(question, collapse=False), settings)
        stages = await run_stages(replace(context, all_features=True))
        found.append(stages.ranking or Ranking())
    longest = max(len(ranking.features or ()) for ranking in found)
    features = np.zeros((len(found), longest, len(FEATURES)))
    grades, cosines = np.full(features.shape[:2], -np.inf), np.full(features.shape[:2], np.nan)
    for place, (query_id, ranking) in enumerate(zip(topics, found, strict=True)):
        judged = qrels.get(query_id, {})
        for rank, (passage_id, row) in enumerate((ranking.features or {}).items()):
            features[place, rank] = row.values()
            grades[place, rank] = judged.get(passage_id, 0)
            cosines[place, rank] = ranking.cosines.get(passage_id, np.nan)
    return Tables(features, grades, cosines)


def best_ranks(
    tables: Tables, head: Mapping[str, float], tail: Mapping[str, float] | None = None
) -> np.ndarray:
    """Return the rank, from 0, of each question's first relevant candidate; a large one where none is."""
    ranks = _ranks(tables.features @ _vector(head) + tables.absent)
    if tail is not None:
        below = tables.features @ _vector(tail) + tables.absent
        top = np.where(np.isfinite(below), below, -np.inf).max() + 1
        ranks = _ranks(np.where(ranks < HEAD, top + HEAD - ranks, below))
    worst = ranks.shape[1] + 1
    return np.asarray(np.where(tables.grades > 0, ranks, worst).min(axis=1))


def _ranks(scores: np.ndarray) -> np.ndarray:
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.argsort(order, axis=1, kind="stable")


def _vector(weights: Mapping[str, float]) -> np.ndarray:
    return np.array([weights.get(name, 0.0) for name in FEATURES])


def success(
    sets: Sequence[Tables], first: int, head: Mapping[str, float], tail: Mapping[str, float] | None = None
) -> float:
    """Return the mean over the sets of the share of questions answered among the first so many."""
    return float(np.mean([(best_ranks(tables, head, tail) < first).mean() for tables in sets]))


def grid(values: Mapping[str, Sequence[float]]) -> list[dict[str, float]]:
    """List the combinations, the smaller weights first."""
    combined = [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]
    return sorted(combined, key=lambda weights: sum(weights.values()))


def search_grid(sets: Sequence[Tables]) -> tuple[list[tuple[float, dict[str, float]]], ...]:
    """Return heads by Success@5 and, under the best head, tails by Success@15, the best first."""
    heads = [(success(sets, 5, head), head) for head in grid(HEAD_GRID)]
    heads.sort(key=lambda scored: -scored[0])
    tails = [(success(sets, 15, heads[0][1], tail), tail) for tail in grid(TAIL_GRID)]
    tails.sort(key=lambda scored: -scored[0])
    return heads, tails


@click.command()
@home_option
@data_option
@click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")
@json_option
def main(home: Path, data: Path, step: int, as_json: bool) -> None:
    """Search the grid of weights on the training questions."""
    sets: list[Tables] = []
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        for collection in (collection for collection in COLLECTIONS if "train" in collection.splits):
            topics, judged = questions(data, collection, "train", step)
            for setting in ("alone", "together"):
                qrels = judged if setting == "alone" else prefixed(judged, collection.prefix)
                with bench.open(collection, setting) as index:
                    sets.append(asyncio.run(collect(index, topics, qrels, RetrieverSettings(), progress)))
    heads, tails = search_grid(sets)
    used = {
        "Success@5 of the weights in use": success(sets, 5, HEAD_WEIGHTS),
        "Success@15 of the weights in use": success(sets, 15, HEAD_WEIGHTS, TAIL_WEIGHTS),
    }
    if as_json:
        echo_json({"heads": heads[:SHOWN], "tails": tails[:SHOWN]} | used)
        return
    rows = [
        (
            part,
            f"{value:.4f}",
            ", ".join(f"{name} {plain(weight)}" for name, weight in weights.items() if weight),
        )
        for part, scored in (("head", heads), ("tail", tails))
        for value, weights in scored[:SHOWN]
    ]
    echo_lines(table([("", "Success@5 / @15", "weights"), *rows]))
    for name, value in used.items():
        echo(f"{name} {value:.4f}")


if __name__ == "__main__":
    main()
