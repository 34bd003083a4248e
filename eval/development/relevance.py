"""Separation of relevant passages from others by relevance without a cross-encoder, and its weights.

    python -m eval.development.relevance --home DIR [--collection NAME] [--fit] [--step N]

Each question of tydi retrieves fifteen passages, as the ways over passages do; the judged passages are
relevant. Reported for each measure, by words, and by cosine if an encoder is configured: AUROC within the
fifteen, and the shares of relevant and other passages above a threshold of .6. `--fit` fits the weights of
`retriever/relevance/` on the training questions instead and prints them: a logistic regression,
with the same total weight of relevant and other passages.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import click
import numpy as np

from base.logistic import likelihood
from base.terminal.output import echo_json, echo_lines
from eval.development.logistic import fit
from eval.experiments.bench import Bench
from eval.experiments.collections import COLLECTIONS, Collection, collection_option, questions
from eval.experiments.measures import area_under_curve
from eval.experiments.options import data_option, home_option
from eval.experiments.rows import Row, table_of
from eval.progress import question_bar
from eval.qrels import Qrels
from indexer.ingest import Progress
from retriever.index import SearchIndex
from retriever.relevance.cascade import PASSAGES
from retriever.relevance.passages import WORD_WEIGHTS, cosine_features, word_features
from retriever.requests.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.views.passage_search import search_passages

RETRIEVED = 15
THRESHOLD = 0.6
NAMES = ("tydi-ko", "tydi-en")
WEIGHTS: Mapping[str, Mapping[str, float]] = {"words": WORD_WEIGHTS, "cosine": PASSAGES.weights}
Features: TypeAlias = dict[str, float]


@dataclass(frozen=True, slots=True)
class Judged:
    """The features of the passages that a question retrieves, and their relevance."""

    rows: tuple[Features, ...]
    relevant: tuple[bool, ...]


async def judge(
    index: SearchIndex, topics: Mapping[str, str], qrels: Qrels, progress: Progress
) -> dict[str, list[Judged]]:
    """Retrieve for every question; keep, by measure, questions that find relevant and other passages."""
    settings, judged = RetrieverSettings(), dict[str, list[Judged]]()
    for place, (query_id, question) in enumerate(topics.items()):
        progress(index.manifest.name, place, len(topics))
        found = await search_passages(index, SearchRequest(question, k=RETRIEVED), settings)
        relevant = tuple(qrels.get(query_id, {}).get(hit.passage_id, 0) > 0 for hit in found.hits)
        if len(set(relevant)) > 1:
            rows = {
                "words": await word_features(index, question, found.hits, settings),
                "cosine": await cosine_features(index, question, found.hits),
            }
            for name, features in rows.items():
                if features is not None:
                    judged.setdefault(name, []).append(Judged(tuple(features), relevant))
    return judged


def fit_to(judged: Sequence[Judged]) -> dict[str, float]:
    """Fit weights; relevant and other passages have the same total weight."""
    rows = [row for each in judged for row in each.rows]
    return fit(rows, [relevant for each in judged for relevant in each.relevant], balanced=True)


def report(judged: Sequence[Judged], weights: Mapping[str, float]) -> dict[str, float]:
    """Compute the figures of the questions of one measure."""
    scored = [([likelihood(weights, row) for row in each.rows], each.relevant) for each in judged]
    pairs = [pair for scores, relevant in scored for pair in zip(scores, relevant, strict=True)]
    right, wrong = ([score for score, relevant in pairs if relevant is kind] for kind in (True, False))
    areas = [
        area_under_curve(
            [score for score, good in zip(scores, relevant, strict=True) if good],
            [score for score, good in zip(scores, relevant, strict=True) if not good],
        )
        for scores, relevant in scored
    ]
    return {
        "questions": len(judged),
        "AUROC": float(np.mean(areas)),
        "relevant kept": float(np.mean(np.array(right) > THRESHOLD)),
        "others kept": float(np.mean(np.array(wrong) > THRESHOLD)),
    }


def judge_all(
    home: Path, data: Path, collections: Sequence[Collection], split: str, step: int
) -> Iterator[tuple[str, dict[str, list[Judged]]]]:
    """Yield the judged passages of each collection's questions."""
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        for collection in collections:
            topics, qrels = questions(data, collection, split, step)
            with bench.open(collection, "alone") as index:
                yield collection.name, asyncio.run(judge(index, topics, qrels, progress))


@click.command()
@home_option
@data_option
@collection_option
@click.option("--fit", "fitting", is_flag=True, help="Fit the weights on the training questions.")
@click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")
def main(home: Path, data: Path, names: tuple[str, ...], fitting: bool, step: int) -> None:
    """Measure relevance by words and cosine on the tydi questions."""
    collections = [collection for collection in COLLECTIONS if collection.name in (names or NAMES)]
    judged = dict(judge_all(home, data, collections, "train" if fitting else "dev", step))
    if fitting:
        measures = {name for found in judged.values() for name in found}
        together = {
            name: [each for found in judged.values() for each in found.get(name, [])] for name in measures
        }
        echo_json({name: fit_to(found) for name, found in sorted(together.items())})
        return
    rows = [
        Row({"questions of": collection, "measure": name}, report(found, WEIGHTS[name]))
        for collection, by_name in judged.items()
        for name, found in by_name.items()
    ]
    echo_lines(table_of(rows))


if __name__ == "__main__":
    main()
