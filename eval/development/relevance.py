"""Separation of relevant passages from others by relevance without a cross-encoder, and its weights.

    python -m eval.development.relevance --home DIR [--collection NAME] [--fit] [--step N]

Each question of tydi retrieves fifteen passages, as the ways over passages do; the judged passages are
relevant. Reported for each measure, by words, and by cosine if an encoder is configured: AUROC within the
fifteen, and the shares of relevant and other passages above a threshold of .6. `--fit` prints the weights of
`retriever/relevance/` fitted to the training questions instead: a logistic regression, with the same total
weight of relevant and other passages.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import click
import numpy as np

from base.logistic import likelihood
from base.terminal.output import echo_json, echo_lines
from eval.development.logistic import fit
from eval.experiments.bench import Bench
from eval.experiments.collections import COLLECTIONS, collection_option, questions
from eval.experiments.console import Row, data_option, home_option, table_of
from eval.progress import question_bar
from eval.qrels import Qrels
from eval.statistics import area_under_curve
from indexer.ingest import Progress
from retriever.index import SearchIndex
from retriever.relevance.cascade import PASSAGES
from retriever.relevance.passages import WORD_WEIGHTS, cosine_leads, word_features
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.views.passage_search import search_passages

RETRIEVED = 15
THRESHOLD = 0.6
NAMES = ("tydi-ko", "tydi-en")
WEIGHTS: Mapping[str, Mapping[str, float]] = {"words": WORD_WEIGHTS, "cosine": PASSAGES}
# Features and relevance of the passages that one question retrieves.
Judged: TypeAlias = Sequence[tuple[Mapping[str, float], bool]]


async def judge(
    index: SearchIndex, topics: Mapping[str, str], qrels: Qrels, progress: Progress
) -> dict[str, list[Judged]]:
    """Retrieve for every question; keep, by measure, questions that find relevant and other passages."""
    settings, judged = RetrieverSettings(), dict[str, list[Judged]]()
    for place, (query_id, question) in enumerate(topics.items()):
        progress(index.manifest.name, place, len(topics))
        hits = (await search_passages(index, SearchRequest(question, k=RETRIEVED), settings)).hits
        relevant = [qrels.get(query_id, {}).get(hit.passage_id, 0) > 0 for hit in hits]
        if len(set(relevant)) > 1:
            rows: list[Mapping[str, float]] = [*await word_features(index, question, hits, settings)]
            judged.setdefault("words", []).append(list(zip(rows, relevant, strict=True)))
            if (leads := await cosine_leads(index, question, hits)) is not None:
                rows = [{"lead": lead or 0.0} for lead in leads]
                judged.setdefault("cosine", []).append(list(zip(rows, relevant, strict=True)))
    return judged


def report(judged: Sequence[Judged], weights: Mapping[str, float]) -> dict[str, float]:
    """Compute the figures of the questions of one measure."""
    areas, kept = [], {True: list[bool](), False: list[bool]()}
    for question in judged:
        scores: dict[bool, list[float]] = {True: [], False: []}
        for row, relevant in question:
            scores[relevant].append(likelihood(weights, row))
        areas.append(area_under_curve(scores[True], scores[False]))
        for relevant, of in scores.items():
            kept[relevant] += [score > THRESHOLD for score in of]
    return {
        "questions": len(judged),
        "AUROC": float(np.mean(areas)),
        "relevant kept": float(np.mean(kept[True])),
        "others kept": float(np.mean(kept[False])),
    }


@click.command()
@home_option
@data_option
@collection_option
@click.option("--fit", "fitting", is_flag=True, help="Fit the weights on the training questions.")
@click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")
def main(home: Path, data: Path, names: tuple[str, ...], fitting: bool, step: int) -> None:
    """Measure relevance by words and cosine on the tydi questions."""
    rows, together = [], dict[str, list[tuple[Mapping[str, float], bool]]]()
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        for collection in COLLECTIONS:
            if collection.name not in (names or NAMES):
                continue
            topics, qrels = questions(data, collection, "train" if fitting else "dev", step)
            with bench.open(collection, "alone") as index:
                judged = asyncio.run(judge(index, topics, qrels, progress))
            for measure, asked in judged.items():
                together.setdefault(measure, []).extend(pair for question in asked for pair in question)
                subject = {"questions of": collection.name, "measure": measure}
                rows.append(Row(subject, report(asked, WEIGHTS[measure])))
    if fitting:
        echo_json({measure: fit(*zip(*of, strict=True), balanced=True) for measure, of in together.items()})
    else:
        echo_lines(table_of(rows))


if __name__ == "__main__":
    main()
