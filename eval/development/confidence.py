"""Weights and threshold of the likelihood that the evidence answers (`retriever/answerability.py`).

    python -m eval.development.confidence --home DIR [--step N]

Fits a logistic regression to four sets of questions: every N-th training question of tydi in Korean and in
English, the plain questions for tuning, and the sample's questions. Questions with relevant passages run
twice, with these in the index and without them. The four sets have equal weight, and in each set answerable
questions weigh as much as the others.

Prints the weights, the AUROC of each set, and the effect of each threshold: the shares of answerable
questions that are answered, and of plain questions out of scope that are declined.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click
import numpy as np

from base.logistic import likelihood
from base.terminal.output import echo_json, echo_lines
from eval.development.logistic import fit
from eval.experiments.bench import Bench
from eval.experiments.collections import COLLECTIONS, OF_SAMPLE, Collection, questions
from eval.experiments.console import Row, data_option, home_option, table_of
from eval.experiments.plain import CORPORA, FOLDER, topics_of
from eval.progress import question_bar
from eval.qrels import Qrels, read_qrels
from eval.statistics import area_under_curve
from retriever.answerability import EVIDENCE, answerability_features
from retriever.index import SearchIndex
from retriever.queries.filters import Filters
from retriever.request import SearchRequest
from retriever.search import open_ranking, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.stages import computed

PARTS = ("", "@ko", "@en")  # of the passage_ids of a paper
SHARES = (0.98, 0.96, 0.94, 0.92, 0.9, 0.88)  # answered shares of the plain questions in scope


@dataclass(frozen=True, slots=True)
class Example:
    """A question to an index that answers it, or does not."""

    of: str  # its set
    features: Mapping[str, float]
    is_answered: bool
    is_removed: bool = False  # whether its relevant passages were left out


async def features_of(index: SearchIndex, request: SearchRequest) -> dict[str, float]:
    """Compute the features of a question and its first passages."""
    stages = await run_stages(open_ranking(index, request, RetrieverSettings()))
    read = await index.engine.rows([hit.passage_id for hit, _ in computed(stages.ranking).hits[:EVIDENCE]])
    return asdict(answerability_features(computed(stages.terms), read))


async def ask_twice(
    index: SearchIndex, of: str, topics: Iterable[tuple[str, str]], qrels: Qrels
) -> list[Example]:
    """Ask questions with their relevant papers or passages, and without them."""
    examples = []
    collapse = index.manifest.unit == "paper"
    parts = PARTS if collapse else ("",)
    for query_id, question in topics:
        request = SearchRequest(question, k=EVIDENCE, collapse=collapse)
        relevant = [judged for judged, grade in qrels.get(query_id, {}).items() if grade > 0]
        found = await features_of(index, request)
        examples.append(Example(of, found, is_answered=bool(relevant)))
        if relevant:
            without = Filters(without=tuple(judged + part for judged in relevant for part in parts))
            found = await features_of(index, replace(request, filters=without))
            examples.append(Example(of, found, is_answered=False, is_removed=True))
    return examples


def all_examples(bench: Bench, data: Path, step: int) -> Iterator[Example]:
    """Ask the questions of all four sets."""
    plain, judged = topics_of("tune"), read_qrels(FOLDER / "qrels.txt")
    asked: list[tuple[str, Collection, Iterable[tuple[str, str]], Qrels]] = [
        ("plain", collection, [(topic["query_id"], topic["question"]) for topic in plain[name]], judged)
        for name, collection in CORPORA.items()
    ]
    for collection in (OF_SAMPLE, *COLLECTIONS):
        if collection is OF_SAMPLE or "train" in collection.splits:
            split, every = ("dev", 1) if collection is OF_SAMPLE else ("train", step)
            topics, qrels = questions(data, collection, split, every)
            asked.append((collection.name, collection, topics.items(), qrels))
    for of, collection, pairs, qrels in asked:
        with bench.open(collection, "alone") as index:
            yield from asyncio.run(ask_twice(index, of, pairs, qrels))


def fit_to(examples: Sequence[Example]) -> dict[str, float]:
    """Fit the weights: all sets have equal weight, and so do the two classes of each."""
    return fit(
        [example.features for example in examples],
        [example.is_answered for example in examples],
        balanced=True,
        sets=[example.of for example in examples],
    )


def effects(examples: Sequence[Example], weights: Mapping[str, float]) -> tuple[list[Row], list[Row]]:
    """Return the AUROC of each set, and the effects of thresholds."""

    def likelihoods(of: str, *, is_answered: bool, is_removed: bool = False) -> list[float]:
        return [
            likelihood(weights, example.features)
            for example in examples
            if (example.of, example.is_answered, example.is_removed) == (of, is_answered, is_removed)
        ]

    answered = {
        of: likelihoods(of, is_answered=True) for of in dict.fromkeys(example.of for example in examples)
    }
    areas = [
        Row(
            {"set": of},
            {
                f"AUROC, {name}": area_under_curve(scores, others)
                for name, is_removed in (("out of scope", False), ("removed", True))
                if (others := likelihoods(of, is_answered=False, is_removed=is_removed))
            },
        )
        for of, scores in answered.items()
    ]
    outside, thresholds = likelihoods("plain", is_answered=False), []
    for share in SHARES:
        threshold = float(np.quantile(answered["plain"], 1 - share))
        figures = {"out of scope declined": float(np.mean(np.array(outside) < threshold))}
        figures |= {
            f"{of} answered": float(np.mean(np.array(scores) >= threshold)) for of, scores in answered.items()
        }
        thresholds.append(Row({"threshold": f"{threshold:.3f}"}, figures))
    return areas, thresholds


@click.command()
@home_option
@data_option
@click.option("--step", default=2, show_default=True, help="Take every STEP-th question of tydi.")
def main(home: Path, data: Path, step: int) -> None:
    """Fit the likelihood, and print the effects of thresholds."""
    with question_bar() as progress:
        examples = list(all_examples(Bench(home, data, progress), data, step))
    weights = fit_to(examples)
    echo_json(weights)
    for table in effects(examples, weights):
        echo_lines(["", *table_of(table)])


if __name__ == "__main__":
    main()
