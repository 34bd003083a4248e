"""How the words that question and paper share become a relevance between 0 and 1.

    python -m eval.experiments.paper_relevance [--fit] [--json]

Compares all topics of `sample/`, on which the weights were fitted, and of `sample/held-out/`, on which they
were not, with all of their papers: precision and recall of what is taken for relevant, at several thresholds
and by kind of question; how far what is promised is kept, by its size; Brier scores (the mean squared
difference between the relevance and 0 or 1), beside that of the share of relevant papers. `--fit` prints the
weights of the logistic regression beside those in use, and the held-out Brier score of both. Relevant are
papers of a grade above 0 alone.
"""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import click
import numpy as np

from eval.experiments.rows import Row, table_of
from eval.experiments.sample import NAME, SAMPLE, read_lines
from eval.qrels import read_qrels
from indexer.ingest import IngestRequest, build_index
from indexer.options import json_option
from indexer.papers import Paper
from indexer.settings import IndexerSettings
from indexer.terminal import echo, echo_json, echo_lines
from retriever.asked_words import subject_text
from retriever.index import open_index
from retriever.logistic import likelihood
from retriever.paper_relevance import WORD_WEIGHTS, PaperRelevance, coverage
from retriever.sources.index import IndexSource
from retriever.term_statistics import inverse_document_frequency

HELD_OUT = "held-out"
COLLECTIONS = {NAME: SAMPLE, HELD_OUT: SAMPLE / HELD_OUT}
THIS_YEAR = 2026  # of which "recent" years in questions count back
THRESHOLDS = (0.3, 0.5, 0.7)
FIFTHS = 5
LEAST = 0.1  # coverage of the papers that the weights are fitted on: others are relevant to nothing
RIDGE, STEPS = 1e-3, 50


@dataclass(frozen=True, slots=True)
class Pair:
    """How much of a question of a kind a paper covers, and whether it is relevant."""

    kind: str
    covered: float
    relevant: bool

    def likelihood(self, weights: Mapping[str, float] = WORD_WEIGHTS) -> float:
        """Return the relevance that is promised."""
        return likelihood(weights, {"coverage": self.covered}) if self.covered else 0.0


async def measure(home: Path, name: str) -> list[Pair]:
    """Compare all topics of a collection with all of its papers."""
    folder, settings = COLLECTIONS[name], IndexerSettings(home=home)
    build_index(IngestRequest(name, [str(folder / "papers.jsonl")]), settings)
    papers = [Paper.model_validate(record) for record in read_lines(folder / "papers.jsonl")]
    qrels = read_qrels(folder / "qrels.txt")
    pairs = []
    with open_index(settings, name) as index, PaperRelevance(settings, index.glossary) as relevance:
        source = IndexSource(name, index)
        for topic in read_lines(folder / "topics.jsonl"):
            words = await relevance.words(subject_text(topic["question"], THIS_YEAR))
            counted = await source.frequencies([word.keyword.text for word in words])
            frequencies, total = counted or ({}, 0)
            rarity = {word: inverse_document_frequency(count, total) for word, count in frequencies.items()}
            grades = qrels.get(topic["query_id"], {})
            judged = {paper_id.partition("@")[0] for paper_id, grade in grades.items() if grade > 0}
            for paper in papers:
                covered = coverage(words, relevance.counts(paper), rarity, paper.lang)
                pairs.append(Pair(topic["kind"], covered, paper.id in judged))
    return pairs


def taken(pairs: Sequence[Pair], threshold: float) -> dict[str, float]:
    """Return precision and recall of what is taken for relevant."""
    kept = [pair for pair in pairs if pair.likelihood() >= threshold]
    right, wanted = sum(pair.relevant for pair in kept), sum(pair.relevant for pair in pairs)
    return {"taken": len(kept), "precision": right / max(1, len(kept)), "recall": right / max(1, wanted)}


def kept_promises(pairs: Sequence[Pair]) -> list[dict[str, float]]:
    """Return for each fifth of the scale how many papers it holds, what it promises and what is relevant."""
    rows = []
    for fifth in range(FIFTHS):
        inside = [pair for pair in pairs if min(int(pair.likelihood() * FIFTHS), FIFTHS - 1) == fifth]
        if inside:
            promised = fmean(pair.likelihood() for pair in inside)
            relevant = fmean(pair.relevant for pair in inside)
            rows.append(
                {"from": fifth / FIFTHS, "papers": len(inside), "promised": promised, "relevant": relevant}
            )
    return rows


def brier(pairs: Sequence[Pair], weights: Mapping[str, float] = WORD_WEIGHTS) -> float:
    """Return the mean squared difference between the relevance and 0 or 1."""
    return fmean((pair.likelihood(weights) - pair.relevant) ** 2 for pair in pairs)


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
    """Report what is taken for relevant on the topics of both collections."""
    with tempfile.TemporaryDirectory(prefix="shrag-relevance-") as home:
        pairs = {name: asyncio.run(measure(Path(home), name)) for name in COLLECTIONS}
    tables: dict[str, list[Row]] = {"thresholds": [], "kinds": [], "promises": [], "brier": []}
    for name, of in pairs.items():
        tables["thresholds"] += [
            Row({"questions of": name, "threshold": str(threshold)}, taken(of, threshold))
            for threshold in THRESHOLDS
        ]
        for kind in dict.fromkeys(pair.kind for pair in of):
            of_kind = [pair for pair in of if pair.kind == kind]
            if any(pair.relevant for pair in of_kind):
                tables["kinds"].append(Row({"questions of": name, "kind": kind}, taken(of_kind, 0.5)))
        tables["promises"] += [Row({"questions of": name}, row) for row in kept_promises(of)]
        share = fmean(pair.relevant for pair in of)
        figures = {
            "pairs": len(of),
            "relevant": share,
            "Brier": brier(of),
            "of the share": share * (1 - share),
        }
        tables["brier"].append(Row({"questions of": name}, figures))
    weights = {"in use": dict(WORD_WEIGHTS), "fitted": fit(pairs[NAME])} if fits else {}
    held_out = {name: brier(pairs[HELD_OUT], each) for name, each in weights.items()}
    if as_json:
        records = {name: [row.as_record() for row in rows] for name, rows in tables.items()}
        echo_json({**records, "weights": weights, "held-out Brier": held_out})
        return
    for rows in tables.values():
        echo_lines([*table_of(rows), ""])
    for name, each in weights.items():
        echo(f"{name}: {each}, held-out Brier {held_out[name]:.4f}")


if __name__ == "__main__":
    main()
