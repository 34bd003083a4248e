"""Constants fitted to judgements: three logistic regressions, which `base/logistic.py` computes with.

    python -m tools.fitting likelihood --home DIR [--step N]
    python -m tools.fitting passages --home DIR [--collection NAME]… [--fit] [--step N]
    python -m tools.fitting papers --home DIR [--fit | --unseen] [--json]

`likelihood`: weights and threshold of the likelihood of an answer (`retriever/answerability.py`).
Four sets of questions have equal weight: every N-th training question of tydi in Korean and in English, the
plain questions for tuning, and the sample's questions. Questions with relevant passages run twice, with these
in the index and without them; in each set answerable questions weigh as much as the others. Prints the
weights, the AUROC of each set, and the effect of each threshold: the shares of answerable questions that are
answered, and of plain questions out of scope that are declined.

`passages`: relevance without a cross-encoder. Each question of tydi retrieves fifteen passages, as the ways
over passages do; the judged passages are relevant. Prints for each measure, by words, and by cosine if an
encoder is configured: AUROC within the fifteen, and the shares of relevant and other passages above a
threshold of .6. `--fit` prints the weights fitted to the training questions instead, with the same total
weight of relevant and other passages.

`papers`: the ends of the lists of `find-papers` without a model. Ranks the questions of the training
collections and of `sample/` by `shrag` and ends each list at the maximum of its expected F
(`paper_ranking.py`), after at most 20 papers. The table contains for each collection F of the first 5, 10
and 20 papers, of the list by the weights in use, and of the list by weights fitted without this collection;
the papers of a list; the Brier score of the probabilities; and their sum as a share of the relevant papers
among the first hundred. `--fit` prints the weights fitted to all collections: each has weight 1, one with a
single relevant text per question half; within a collection each question has the same weight. `--unseen`
reports `scifact` and `sample/held-out/`, on which nothing was fitted, by the weights in use.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, TypeAlias

import click
import numpy as np

from base.logistic import likelihood
from base.terminal.output import echo, echo_json, echo_lines
from eval.collection import Qrels, read_qrels
from eval.progress import question_bar
from eval.statistics import area_under_curve
from generator.finding.calls import FindRequest
from indexer.options import json_option
from retriever.answerability import EVIDENCE, answerability_features
from retriever.index import SearchIndex
from retriever.queries.filters import Filters
from retriever.relevance.paper_ranking import WEIGHTS, highest_expected_f, rank_papers
from retriever.relevance.passages import COSINE_WEIGHTS, WORD_WEIGHTS, cosine_leads, word_features
from retriever.request import SearchRequest
from retriever.search import open_ranking, run_stages
from retriever.settings import RetrieverSettings
from retriever.stages.stages import computed
from retriever.views.passage_search import search_passages
from tools.answers import CORPORA, PLAIN
from tools.bench import Bench, Row, data_option, home_option, names_option, step_option, table_of
from tools.collections import (
    COLLECTIONS,
    HELD_OUT,
    OF_SAMPLE,
    TRAINING,
    Collection,
    present,
    questions,
    read_lines,
)

RIDGE, STEPS = 1e-3, 50  # of Newton's method
PARTS = ("", "@ko", "@en")  # of the passage_ids of a paper
SHARES = (0.98, 0.96, 0.94, 0.92, 0.9, 0.88)  # answered shares of the plain questions in scope
RETRIEVED, THRESHOLD = 15, 0.6
BY_NAME = {collection.name: collection for collection in COLLECTIONS}
TYDI = ("tydi-ko", "tydi-en")
SINGLE = 0.5  # weight of a collection with one relevant text per question
FIXED = (5, 10, 20)
USUAL = FindRequest("?")

Weights: TypeAlias = Mapping[str, float]
Features: TypeAlias = Mapping[str, float]
Judged: TypeAlias = Sequence[tuple[Features, bool]]  # features and relevance, best first


def fit(judged: Judged, weighing: Sequence[float]) -> dict[str, float]:
    """Return the weights of features by name, and the bias, with three decimals; `weighing` is by example."""
    names = ["bias", *judged[0][0]]
    values = np.array([[1.0, *features.values()] for features, _ in judged])
    target, each = np.array([float(relevant) for _, relevant in judged]), np.array(weighing)
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-(values @ weights)))
        slope = values.T @ (each * (likely - target)) + RIDGE * weights
        curve = (values.T * (each * likely * (1 - likely))) @ values + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def balanced(groups: Sequence[Hashable]) -> list[float]:
    """Return the weight of each example, so that all groups have the same total weight."""
    sizes = Counter(groups)
    return [0.5 / sizes[group] for group in groups]


class Example(NamedTuple):
    """A question to an index that answers it, or does not."""

    of: str  # its set
    features: Features
    answer: str  # "there", "removed" from the index, or "none"


async def ask_twice(index: SearchIndex, of: str, topics: Mapping[str, str], qrels: Qrels) -> list[Example]:
    """Ask questions with their relevant papers or passages, and without them."""
    examples, collapse = [], index.manifest.unit == "paper"
    for query_id, question in topics.items():
        request = SearchRequest(question, k=EVIDENCE, collapse=collapse)
        relevant = [judged for judged, grade in qrels.get(query_id, {}).items() if grade > 0]
        found = await _answerability(index, request)
        examples.append(Example(of, found, "there" if relevant else "none"))
        if relevant:
            parts = PARTS if collapse else ("",)
            without = Filters(without=tuple(judged + part for judged in relevant for part in parts))
            found = await _answerability(index, replace(request, filters=without))
            examples.append(Example(of, found, "removed"))
    return examples


async def _answerability(index: SearchIndex, request: SearchRequest) -> dict[str, float]:
    context = open_ranking(index, request, RetrieverSettings())
    stages = await index.run(lambda _: run_stages(context))
    read = index.engine.rows([hit.passage_id for hit, _ in computed(stages.ranking).hits[:EVIDENCE]])
    return asdict(answerability_features(computed(stages.terms), read))


def all_examples(bench: Bench, data: Path, step: int) -> Iterator[Example]:
    """Ask the questions of all four sets."""
    plain, judged = read_lines(PLAIN / "topics.jsonl"), read_qrels(PLAIN / "qrels.txt")
    asked: list[tuple[str, Collection, Mapping[str, str], Qrels]] = []
    for name, collection in CORPORA.items():
        subject = "tune", name
        own = [topic for topic in plain if (topic["half"], topic["corpus"]) == subject]
        asked.append(("plain", collection, {topic["query_id"]: topic["question"] for topic in own}, judged))
    asked.append(("sample", OF_SAMPLE, *questions(data, OF_SAMPLE, "dev")))
    asked += [(name, BY_NAME[name], *questions(data, BY_NAME[name], "train", step)) for name in TYDI]
    for of, collection, topics, qrels in asked:
        with bench.open(collection) as index:
            yield from asyncio.run(ask_twice(index, of, topics, qrels))


def effects(examples: Sequence[Example], weights: Weights) -> tuple[list[Row], list[Row]]:
    """Return the AUROC of each set, and the effects of thresholds."""
    of: dict[tuple[str, str], list[float]] = defaultdict(list)
    for example in examples:
        of[example.of, example.answer].append(likelihood(weights, example.features))
    answered = {name: scores for (name, answer), scores in of.items() if answer == "there"}
    areas: list[Row] = [
        {
            "set": name,
            **{
                f"AUROC, {shown}": area_under_curve(scores, of[name, answer])
                for shown, answer in (("out of scope", "none"), ("removed", "removed"))
                if of[name, answer]
            },
        }
        for name, scores in answered.items()
    ]
    thresholds: list[Row] = []
    for share in SHARES:
        least = float(np.quantile(answered["plain"], 1 - share))
        kept = {f"{name} answered": _above(least, scores) for name, scores in answered.items()}
        declined = 1 - _above(least, of["plain", "none"])
        thresholds.append({"threshold": f"{least:.3f}", "out of scope declined": declined, **kept})
    return areas, thresholds


def _above(least: float, scores: Sequence[float]) -> float:
    return fmean(score >= least for score in scores)


async def judged_passages(
    index: SearchIndex, topics: Mapping[str, str], qrels: Qrels
) -> dict[str, list[Judged]]:
    """Retrieve for every question; keep, by measure, questions that find relevant and other passages."""
    settings, judged = RetrieverSettings(), defaultdict[str, list[Judged]](list)
    for query_id, question in topics.items():
        request = SearchRequest(question, k=RETRIEVED)
        hits = (await index.run(search_passages, request, settings)).hits
        relevant = [qrels.get(query_id, {}).get(hit.passage_id, 0) > 0 for hit in hits]
        if len(set(relevant)) > 1:
            rows: list[Features] = [*await index.run(word_features, question, hits, settings)]
            judged["words"].append(list(zip(rows, relevant, strict=True)))
            if (leads := await index.run(cosine_leads, question, hits)) is not None:
                rows = [{"lead": lead or 0.0} for lead in leads]
                judged["cosine"].append(list(zip(rows, relevant, strict=True)))
    return judged


def passage_figures(judged: Sequence[Judged], weights: Weights) -> dict[str, float]:
    """Compute the figures of the questions of one measure."""
    areas, kept = [], {True: list[bool](), False: list[bool]()}
    for question in judged:
        scores: dict[bool, list[float]] = {True: [], False: []}
        for row, relevant in question:
            scores[relevant].append(likelihood(weights, row))
        areas.append(area_under_curve(scores[True], scores[False]))
        for relevant, of in scores.items():
            kept[relevant] += [score > THRESHOLD for score in of]
    shares = {"relevant kept": fmean(kept[True]), "others kept": fmean(kept[False])}
    return {"questions": len(judged), "AUROC": fmean(areas), **shares}


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question's ranked papers, and the number of all relevant papers."""

    papers: Judged
    wanted: int

    def length(self, weights: Weights) -> int:
        """Return the length of the list with the highest expected F."""
        probabilities = [likelihood(weights, features) for features, _ in self.papers]
        least = USUAL.threshold * highest_expected_f(probabilities)
        return min(USUAL.papers, sum(probability >= least for probability in probabilities))

    def f(self, length: int) -> float:
        """Return F of the first papers."""
        taken = [relevant for _, relevant in self.papers[:length]]
        return 2 * sum(taken) / (len(taken) + self.wanted)


async def ranked_questions(
    index: SearchIndex, topics: Mapping[str, str], qrels: Qrels
) -> list[RankedQuestion]:
    """Rank all questions of a collection."""
    asked = []
    for query_id, question in topics.items():
        relevant = {paper_id for paper_id, grade in qrels.get(query_id, {}).items() if grade > 0}
        ranked = await index.run(rank_papers, SearchRequest(question), RetrieverSettings())
        papers = [(ranked.curve.features(score), each in relevant) for each, score in ranked.scores.items()]
        asked.append(RankedQuestion(papers, len(relevant)))
    return asked


def fit_papers(collections: Iterable[Sequence[RankedQuestion]]) -> dict[str, float]:
    """Fit the weights to collections."""
    pairs, weighing = list[tuple[Features, bool]](), list[float]()
    for asked in collections:
        of_collection = 1.0 if _wanted(asked) > 1 else SINGLE
        for question in asked:
            pairs += question.papers
            weighing += [of_collection / len(asked)] * len(question.papers)
    return fit(pairs, weighing)


def _wanted(asked: Sequence[RankedQuestion]) -> float:
    return fmean(question.wanted for question in asked if question.wanted)


def paper_rows(ranked: Mapping[str, Sequence[RankedQuestion]], *, fitted: bool) -> Iterator[Row]:
    """Yield the row of each collection; `fitted` adds F by the weights fitted to the others."""
    for name, asked in ranked.items():
        answered = [question for question in asked if question.wanted]
        pairs = [
            (likelihood(WEIGHTS, features), relevant)
            for question in answered
            for features, relevant in question.papers
        ]

        def mean_f(weights: Weights) -> float:
            return fmean(question.f(question.length(weights)) for question in answered)  # noqa: B023

        others = (of for other, of in ranked.items() if other != name)
        yield {
            "collection": name,
            "questions": len(answered),
            "relevant": _wanted(asked),
            **{f"F@{first}": fmean(question.f(first) for question in answered) for first in FIXED},
            "F": mean_f(WEIGHTS),
            **({"F, left out": mean_f(fit_papers(others))} if fitted else {}),
            "papers": fmean(question.length(WEIGHTS) for question in answered),
            "Brier": fmean((probability - relevant) ** 2 for probability, relevant in pairs),
            "promised": sum(each for each, _ in pairs) / sum(relevant for _, relevant in pairs),
        }


@click.group()
def main() -> None:
    """Fit constants to judgements, and report their effect."""


@main.command("likelihood")
@home_option
@data_option
@click.option("--step", default=2, show_default=True, help="Take every STEP-th question of tydi.")
def fit_likelihood(home: Path, data: Path, step: int) -> None:
    """Fit the likelihood of an answer, and print the effects of thresholds."""
    with question_bar() as progress:
        examples = list(all_examples(Bench(home, data, progress), data, step))
    judged = [(example.features, example.answer == "there") for example in examples]
    weights = fit(judged, balanced([(each.of, each.answer == "there") for each in examples]))
    echo_json(weights)
    for rows in effects(examples, weights):
        echo_lines(["", *table_of(rows)])


@main.command("passages")
@home_option
@data_option
@names_option(TYDI)
@click.option("--fit", "fitting", is_flag=True, help="Fit the weights on the training questions.")
@step_option
def fit_passages(home: Path, data: Path, names: tuple[str, ...], fitting: bool, step: int) -> None:
    """Measure relevance by words and cosine on the tydi questions."""
    rows, together = list[Row](), defaultdict[str, list[tuple[Features, bool]]](list)
    weights: Mapping[str, Weights] = {"words": WORD_WEIGHTS, "cosine": COSINE_WEIGHTS}
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        for name in names or TYDI:
            topics, qrels = questions(data, BY_NAME[name], "train" if fitting else "dev", step)
            with bench.open(BY_NAME[name]) as index:
                judged = asyncio.run(judged_passages(index, topics, qrels))
            for measure, asked in judged.items():
                together[measure] += (pair for question in asked for pair in question)
                subject = {"questions of": name, "measure": measure}
                rows.append({**subject, **passage_figures(asked, weights[measure])})
    if fitting:
        weighing = {measure: balanced([relevant for _, relevant in of]) for measure, of in together.items()}
        echo_json({measure: fit(of, weighing[measure]) for measure, of in together.items()})
    else:
        echo_lines(table_of(rows))


@main.command("papers")
@home_option
@data_option
@click.option("--fit", "fits", is_flag=True, help="Fit the weights to all training collections.")
@click.option("--unseen", is_flag=True, help="Report collections on which nothing was fitted.")
@json_option
def fit_paper_lists(home: Path, data: Path, *, fits: bool, unseen: bool, as_json: bool) -> None:
    """Report F of the lists and of fixed numbers of papers."""
    if fits and unseen:
        raise click.UsageError("nothing is fitted on the unseen collections; leave out --fit or --unseen")
    ranked: dict[str, list[RankedQuestion]] = {}
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        for each in present(data, (BY_NAME["scifact"], HELD_OUT) if unseen else (*TRAINING, OF_SAMPLE)):
            with bench.open(each) as index:
                ranked[each.name] = asyncio.run(ranked_questions(index, *questions(data, each, "dev")))
    rows = list(paper_rows(ranked, fitted=not unseen))
    weights = {"in use": dict(WEIGHTS), **({"fitted": fit_papers(ranked.values())} if fits else {})}
    if as_json:
        echo_json({"rows": rows, "weights": weights})
        return
    echo_lines(table_of(rows))
    for name, of in weights.items():
        echo(f"{name}: {of}")


if __name__ == "__main__":
    main()
