"""The lists of `find-papers` without a model: their ends, compared with fixed numbers of papers of `shrag`.

    python -m eval.development.paper_relevance --home DIR [--fit | --unseen] [--json]

Ranks the questions of the training collections and of `sample/` by `shrag` and ends each list at the maximum
of its expected F (`paper_probability.py`), after at most 20 papers. The table contains for each
collection F of the first 5, 10 and 20 papers, of the list by the weights in use, and of the list by weights
fitted without this collection; the papers of a list; the Brier score of the probabilities (the mean squared
difference from 0 or 1); and their sum as a share of the relevant papers among the first hundred.

`--fit` prints the weights fitted to all collections. Each collection has weight 1, one with a single relevant
text per question half; within a collection each question has the same weight. `--unseen` reports `scifact`
and `sample/held-out/`, on which nothing was fitted, by the weights in use.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import click

from base.logistic import likelihood
from base.terminal.output import echo, echo_json, echo_lines
from eval.development.logistic import fit
from eval.experiments.bench import Bench
from eval.experiments.collections import (
    COLLECTIONS,
    HELD_OUT,
    OF_SAMPLE,
    TRAINING,
    Collection,
    present,
    questions,
)
from eval.experiments.console import Row, data_option, home_option, table_of
from eval.progress import question_bar
from generator.finding.request import FindRequest
from indexer.options import json_option
from retriever.index import SearchIndex
from retriever.relevance.paper_ranking import WEIGHTS, highest_expected_f, rank_papers
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings

FITTED_ON = (*TRAINING, OF_SAMPLE)
UNSEEN = (*(collection for collection in COLLECTIONS if collection.name == "scifact"), HELD_OUT)
SINGLE = 0.5  # weight of a collection with one relevant text per question
FIXED = (5, 10, 20)
USUAL = FindRequest("?")
MOST, THRESHOLD = USUAL.papers, USUAL.threshold

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question's ranked papers, best first: the features and relevance of each."""

    features: tuple[Mapping[str, float], ...]
    relevant: tuple[bool, ...]
    wanted: int  # number of all relevant papers

    def probabilities(self, weights: Weights) -> list[float]:
        """Return the probability of each paper."""
        return [likelihood(weights, features) for features in self.features]

    def length(self, weights: Weights) -> int:
        """Return the length of the list with the highest expected F."""
        probabilities = self.probabilities(weights)
        least = THRESHOLD * highest_expected_f(probabilities)
        return min(MOST, sum(probability >= least for probability in probabilities))

    def f(self, length: int) -> float:
        """Return F of the first papers."""
        taken = self.relevant[:length]
        return 2 * sum(taken) / (len(taken) + self.wanted)


def ranked_questions(bench: Bench, data: Path, collection: Collection) -> list[RankedQuestion]:
    """Rank all questions of a collection."""
    topics, qrels = questions(data, collection, "dev")
    with bench.open(collection, "alone") as index:
        return [
            asyncio.run(_ranked(index, question, _relevant(qrels.get(query_id, {}))))
            for query_id, question in topics.items()
        ]


def _relevant(grades: Mapping[str, int]) -> frozenset[str]:
    return frozenset(paper_id for paper_id, grade in grades.items() if grade > 0)


async def _ranked(index: SearchIndex, question: str, relevant: frozenset[str]) -> RankedQuestion:
    ranked = await rank_papers(index, SearchRequest(question), RetrieverSettings())
    return RankedQuestion(
        tuple(map(ranked.curve.features, ranked.scores.values())),
        tuple(paper_id in relevant for paper_id in ranked.scores),
        len(relevant),
    )


def fit_to(collections: Sequence[Sequence[RankedQuestion]]) -> dict[str, float]:
    """Fit the weights to collections."""
    features: list[Mapping[str, float]] = []
    relevant: list[bool] = []
    weighing: list[float] = []
    for asked in collections:
        of_collection = 1.0 if _wanted(asked) > 1 else SINGLE
        for question in asked:
            features += question.features
            relevant += question.relevant
            weighing += [of_collection / len(asked)] * len(question.features)
    return fit(features, relevant, weighing=weighing)


def _wanted(asked: Sequence[RankedQuestion]) -> float:
    return fmean(question.wanted for question in asked if question.wanted)


def figures(asked: Sequence[RankedQuestion], weights: Weights, others: Weights | None) -> dict[str, float]:
    """Return the figures of a collection, by the weights in use and by weights fitted without it."""
    answered = [question for question in asked if question.wanted]
    pairs = [
        (probability, relevant)
        for question in answered
        for probability, relevant in zip(question.probabilities(weights), question.relevant, strict=True)
    ]
    lengths = [question.length(weights) for question in answered]
    found = {
        "questions": len(answered),
        "relevant": _wanted(asked),
        **{f"F@{first}": fmean(question.f(first) for question in answered) for first in FIXED},
        "F": fmean(question.f(length) for question, length in zip(answered, lengths, strict=True)),
    }
    if others:
        found["F, left out"] = fmean(question.f(question.length(others)) for question in answered)
    return found | {
        "papers": fmean(lengths),
        "Brier": fmean((probability - relevant) ** 2 for probability, relevant in pairs),
        "promised": sum(probability for probability, _ in pairs) / sum(relevant for _, relevant in pairs),
    }


def rows(ranked: Mapping[str, Sequence[RankedQuestion]], *, fitted: bool) -> Iterator[Row]:
    """Yield the row of each collection; `fitted` adds F by the weights fitted to the others."""
    for name, asked in ranked.items():
        rest = [of for other, of in ranked.items() if other != name]
        yield Row({"collection": name}, figures(asked, WEIGHTS, fit_to(rest) if fitted else None))


@click.command()
@home_option
@data_option
@click.option("--fit", "fits", is_flag=True, help="Fit the weights to all training collections.")
@click.option("--unseen", is_flag=True, help="Report collections on which nothing was fitted.")
@json_option
def main(home: Path, data: Path, *, fits: bool, unseen: bool, as_json: bool) -> None:
    """Report F of the lists and of fixed numbers of papers."""
    if fits and unseen:
        raise click.UsageError("nothing is fitted on the unseen collections; leave out --fit or --unseen")
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        collections = present(data, UNSEEN if unseen else FITTED_ON)
        ranked = {each.name: ranked_questions(bench, data, each) for each in collections}
    table = list(rows(ranked, fitted=not unseen))
    weights = {"in use": dict(WEIGHTS), **({"fitted": fit_to(list(ranked.values()))} if fits else {})}
    if as_json:
        echo_json({"rows": [row.as_record() for row in table], "weights": weights})
        return
    echo_lines(table_of(table))
    for name, each in weights.items():
        echo(f"{name}: {each}")


if __name__ == "__main__":
    main()
