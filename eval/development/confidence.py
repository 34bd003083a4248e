"""Weights and threshold of the likelihood that the evidence answers (`retriever/searching/answerability.py`).

    python -m eval.development.confidence --home DIR [--step N]

Fits a logistic regression to four sets of questions: every N-th training question of tydi in Korean and in
English, the plain questions for tuning and the sample's questions. Questions with relevant passages run
twice, with these in the index and without them. The four sets have equal weight, and in each set answerable
questions weigh as much as the others.

Prints the weights, and the effect of each threshold on the plain questions for tuning and on tydi's: the
share of answerable questions that are answered, and the share of others that are declined.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from base.logistic import likelihood
from base.sample import SAMPLE
from base.terminal.output import echo_json, echo_lines
from eval.development.asked_twice import answerability_of, ask_all
from eval.development.logistic import fit
from eval.experiments.bench import Bench
from eval.experiments.collections import COLLECTIONS
from eval.experiments.measures import area_under_curve
from eval.experiments.options import data_option, home_option
from eval.experiments.plain import CORPORA, FOLDER
from eval.experiments.rows import Row, table_of
from eval.experiments.sample import read_lines
from eval.progress import question_bar
from eval.qrels import Qrels, read_qrels
from indexer.ingest import Progress
from retriever.index import SearchIndex
from retriever.queries.filters import Filters
from retriever.requests.request import SearchRequest
from retriever.searching.answerability import EVIDENCE, AnswerabilityFeatures

PARTS = ("", "@ko", "@en")  # of the passage_ids of a paper
SHARES = (0.98, 0.96, 0.94, 0.92, 0.9, 0.88)  # answered shares of the plain questions in scope


@dataclass(frozen=True, slots=True)
class Example:
    """A question to an index that answers it, or does not."""

    of: str  # its set
    features: AnswerabilityFeatures
    is_answered: bool
    is_removed: bool = False  # whether its relevant passages were left out


def tydi_examples(bench: Bench, data: Path, progress: Progress, step: int) -> list[Example]:
    """Ask every `step`-th training question of tydi with its relevant passage and without it."""
    return [
        example
        for collection in COLLECTIONS
        if "train" in collection.splits
        for asked in ask_all(bench, data, collection, "train", progress, answer=False, step=step)
        for example in (
            Example(collection.name, asked.with_passage, is_answered=True),
            Example(collection.name, asked.without_passage, is_answered=False, is_removed=True),
        )
    ]


def judged_examples(bench: Bench) -> list[Example]:
    """Ask the plain questions for tuning and the sample's questions, each to its own corpus."""
    plain = [topic for topic in read_lines(FOLDER / "topics.jsonl") if topic["half"] == "tune"]
    own = [topic | {"corpus": "sample"} for topic in read_lines(SAMPLE / "topics.jsonl")]
    examples = list[Example]()
    for of, topics, qrels in (
        ("plain", plain, read_qrels(FOLDER / "qrels.txt")),
        ("sample", own, read_qrels(SAMPLE / "qrels.txt")),
    ):
        for name, collection in CORPORA.items():
            of_corpus = [topic for topic in topics if topic["corpus"] == name]
            with bench.open(collection, "alone") as index:
                examples += asyncio.run(_ask(index, of, of_corpus, qrels))
    return examples


async def _ask(
    index: SearchIndex, of: str, topics: Iterable[Mapping[str, Any]], qrels: Qrels
) -> list[Example]:
    """Ask questions with their relevant papers, and without them."""
    examples = []
    for topic in topics:
        request = SearchRequest(topic["question"], k=EVIDENCE)
        grades = qrels.get(topic["query_id"], {})
        relevant = [doc_id for doc_id, grade in grades.items() if grade > 0]
        found = await answerability_of(index, request)
        examples.append(Example(of, found, is_answered=bool(relevant)))
        if relevant:
            without = Filters(without=tuple(doc_id + part for doc_id in relevant for part in PARTS))
            found = await answerability_of(index, replace(request, filters=without))
            examples.append(Example(of, found, is_answered=False, is_removed=True))
    return examples


def fit_to(examples: Sequence[Example]) -> dict[str, float]:
    """Fit the weights: all sets have equal weight, and so do the two classes of each."""
    return fit(
        [example.features.values() for example in examples],
        [example.is_answered for example in examples],
        balanced=True,
        sets=[example.of for example in examples],
    )


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """Likelihoods of one set by the known status of its questions."""

    answered: tuple[float, ...]
    out_of_scope: tuple[float, ...]
    removed: tuple[float, ...]


def likelihoods(examples: Sequence[Example], weights: Mapping[str, float]) -> dict[str, Likelihoods]:
    """Compute the likelihoods of each set."""

    def select(of: str, *, is_answered: bool, is_removed: bool) -> tuple[float, ...]:
        return tuple(
            likelihood(weights, example.features.values())
            for example in examples
            if (example.of, example.is_answered, example.is_removed) == (of, is_answered, is_removed)
        )

    return {
        of: Likelihoods(
            select(of, is_answered=True, is_removed=False),
            select(of, is_answered=False, is_removed=False),
            select(of, is_answered=False, is_removed=True),
        )
        for of in dict.fromkeys(example.of for example in examples)
    }


def separation_rows(by_set: Mapping[str, Likelihoods]) -> list[Row]:
    """Return the AUROC of each set, of answerable questions against each kind of the others."""
    return [
        Row(
            {"set": of},
            {
                f"AUROC, {name}": area_under_curve(found.answered, others)
                for name, others in (("out of scope", found.out_of_scope), ("removed", found.removed))
                if others
            },
        )
        for of, found in by_set.items()
    ]


def threshold_rows(by_set: Mapping[str, Likelihoods]) -> list[Row]:
    """Return the effects of thresholds that answer a share of the plain questions in scope."""
    plain = by_set["plain"]
    rows = []
    for share in SHARES:
        threshold = float(np.quantile(plain.answered, 1 - share))
        figures = {
            "plain answered": _above(threshold, plain.answered),
            "out of scope declined": 1 - _above(threshold, plain.out_of_scope),
        }
        for of, found in by_set.items():
            if of != "plain":
                figures[f"{of} answered"] = _above(threshold, found.answered)
        rows.append(Row({"threshold": f"{threshold:.3f}"}, figures))
    return rows


def _above(threshold: float, values: Sequence[float]) -> float:
    return sum(value >= threshold for value in values) / len(values)


@click.command()
@home_option
@data_option
@click.option("--step", default=2, show_default=True, help="Take every STEP-th question of tydi.")
def main(home: Path, data: Path, step: int) -> None:
    """Fit the likelihood, and print the effects of thresholds."""
    with question_bar() as progress:
        examples = judged_examples(Bench(home, data, progress))
        examples += tydi_examples(Bench(home, data, progress), data, progress, step)
    weights = fit_to(examples)
    echo_json(weights)
    by_set = likelihoods(examples, weights)
    echo_lines(["", *table_of(separation_rows(by_set)), "", *table_of(threshold_rows(by_set))])


if __name__ == "__main__":
    main()
