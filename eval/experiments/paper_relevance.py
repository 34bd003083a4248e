"""How the words that question and paper share become a relevance between 0 and 1, on the sample's topics.

    python -m eval.experiments.paper_relevance [--fit] [--json]

Reports precision and recall of what is taken for relevant, at several thresholds; `--fit` prints the weights
of the logistic regression beside those in use. Relevant are papers of a grade above 0 alone.
"""

import asyncio
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from eval.experiments.rows import Row, table_of
from eval.experiments.sample import NAME, SAMPLE
from eval.qrels import read_qrels
from eval.topics import read_topics
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.papers import Paper
from indexer.settings import IndexerSettings
from indexer.terminal import echo, echo_json, echo_lines
from retriever.index import open_index
from retriever.logistic import likelihood
from retriever.paper_relevance import WORD_WEIGHTS, PaperRelevance, coverage
from retriever.sources.index import IndexSource
from retriever.term_statistics import inverse_document_frequency

THRESHOLDS = (0.3, 0.5, 0.7)
LEAST = 0.1  # coverage of the papers that the weights are fitted on: others are relevant to nothing
RIDGE, STEPS = 1e-3, 50


@dataclass(frozen=True, slots=True)
class Pair:
    """How much of a question a paper covers, and whether it is relevant."""

    covered: float
    relevant: bool


async def measure(home: Path) -> list[Pair]:
    """Compare all topics of the sample with all of its papers."""
    settings = IndexerSettings(home=home)
    build_index(IngestRequest(NAME, [str(SAMPLE / "papers.jsonl")]), settings)
    lines = (SAMPLE / "papers.jsonl").read_text(encoding="utf-8").splitlines()
    papers = [Paper.model_validate(json.loads(line)) for line in lines]
    qrels = read_qrels(SAMPLE / "qrels.txt")
    pairs = []
    with open_index(settings, NAME) as index, PaperRelevance(settings, index.glossary) as relevance:
        source = IndexSource(NAME, index)
        for query_id, question in read_topics(SAMPLE / "topics.jsonl").items():
            words = await relevance.words(question)
            counted = await source.frequencies([word.keyword.text for word in words])
            frequencies, total = counted or ({}, 0)
            rarity = {word: inverse_document_frequency(count, total) for word, count in frequencies.items()}
            judged = {name.partition("@")[0] for name, grade in qrels.get(query_id, {}).items() if grade > 0}
            pairs += [
                Pair(coverage(words, relevance.counts(paper), rarity, paper.lang), paper.id in judged)
                for paper in papers
            ]
    return pairs


def fit(pairs: list[Pair]) -> dict[str, float]:
    """Fit the logistic regression by Newton's method."""
    kept = [pair for pair in pairs if pair.covered > LEAST]
    features = np.array([[1.0, pair.covered] for pair in kept])
    wanted = np.array([float(pair.relevant) for pair in kept])
    weights = np.zeros(2)
    for _ in range(STEPS):
        guessed = 1 / (1 + np.exp(-features @ weights))
        gradient = features.T @ (wanted - guessed) - RIDGE * weights
        curvature = (features * (guessed * (1 - guessed))[:, None]).T @ features + RIDGE * np.eye(2)
        weights += np.linalg.solve(curvature, gradient)
    return {"bias": round(float(weights[0]), 2), "coverage": round(float(weights[1]), 1)}


@click.command()
@click.option("--fit", "fits", is_flag=True, help="Fit the weights anew, and print them.")
@json_option
def main(*, fits: bool, as_json: bool) -> None:
    """Report what is taken for relevant on the sample's topics."""
    with tempfile.TemporaryDirectory(prefix="shrag-sample-") as home:
        pairs = asyncio.run(measure(Path(home)))
    wanted, rows = sum(pair.relevant for pair in pairs), []
    for threshold in THRESHOLDS:
        taken = [pair for pair in pairs if likelihood(WORD_WEIGHTS, {"coverage": pair.covered}) >= threshold]
        right = sum(pair.relevant for pair in taken)
        figures = {"taken": len(taken), "precision": right / max(1, len(taken)), "recall": right / wanted}
        rows.append(Row({"threshold": str(threshold)}, figures))
    fitted = {"in use": dict(WORD_WEIGHTS), "fitted": fit(pairs)} if fits else {}
    if as_json:
        echo_json({"rows": [row.as_record() for row in rows], "weights": fitted})
        return
    echo_lines(table_of(rows))
    for name, weights in fitted.items():
        echo(f"{name}: {weights}")


if __name__ == "__main__":
    main()
