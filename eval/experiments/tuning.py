"""Find the weights of the lexical order on training questions.

    python -m eval.experiments.tuning --home DIR [--step N]

The candidates of every training question of tydi with their features, Korean and English, each in an index
of its own and in the index of all; without questions that stand in dev, and nothing of scifact. Over a grid
of small weights beside BM25 (other corpora are not these), the head is chosen by Success@5, what an answer
rests on; then the tail by Success@15, what the paper counts. Of equals the smaller weights win.
"""

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from eval.experiments.options import data_option, home_option
from eval.experiments.ranking import COLLECTIONS, Bench, prefixed, questions
from eval.progress import question_bar
from eval.tables import aligned
from indexer.options import json_option
from retriever.feature_ranking import HEAD, HEAD_WEIGHTS, TAIL_WEIGHTS
from retriever.features import FEATURES
from retriever.index import SearchIndex
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
    relevant: np.ndarray  # questions, candidates
    absent: np.ndarray  # 0 for a candidate, minus infinity for padding


async def collect(
    index: SearchIndex, topics: Mapping[str, str], qrels: Mapping[str, Mapping[str, int]]
) -> Tables:
    """Compute the features of the candidates of each question, in the order of their score."""
    found = []
    for query_id, question in topics.items():
        context = open_ranking(index, SearchRequest(question, collapse=False), RetrieverSettings())
        ranking = (await run_stages(context)).ranking
        candidates = (ranking and ranking.features) or {}
        grades = qrels.get(query_id, {})
        found.append(
            (
                [row.values() for row in candidates.values()],
                [grades.get(passage_id, 0) for passage_id in candidates],
            )
        )
    longest = max(len(rows) for rows, _ in found)
    features = np.zeros((len(found), longest, len(FEATURES)))
    relevant = np.zeros((len(found), longest), dtype=bool)
    absent = np.full((len(found), longest), -np.inf)
    for place, (rows, grades_) in enumerate(found):
        if rows:
            features[place, : len(rows)] = rows
            relevant[place, : len(rows)] = np.array(grades_) > 0
            absent[place, : len(rows)] = 0
    return Tables(features, relevant, absent)


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
    return np.asarray(np.where(tables.relevant, ranks, worst).min(axis=1))


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
                    sets.append(asyncio.run(collect(index, topics, qrels)))
    heads, tails = search_grid(sets)
    used = {
        "Success@5 of the weights in use": success(sets, 5, HEAD_WEIGHTS),
        "Success@15 of the weights in use": success(sets, 15, HEAD_WEIGHTS, TAIL_WEIGHTS),
    }
    if as_json:
        click.echo(json.dumps({"heads": heads[:SHOWN], "tails": tails[:SHOWN]} | used))
        return
    rows = [("head", f"{value:.4f}", _written(weights)) for value, weights in heads[:SHOWN]]
    rows += [("tail", f"{value:.4f}", _written(weights)) for value, weights in tails[:SHOWN]]
    click.echo(aligned(("", "Success@5 / @15", "weights"), rows, words=1))
    for name, value in used.items():
        click.echo(f"{name} {value:.4f}")


def _written(weights: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {weight:g}" for name, weight in weights.items() if weight)


if __name__ == "__main__":
    main()
