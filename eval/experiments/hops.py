"""Multi-step questions: the gain of a second round of searches, and the questions that pass the gate.

    python -m eval.experiments.hops --home DIR [--method shrag|or|paper] [--grid] [--fit] [--json]

On hotpotqa-100, where two papers support each answer, and on tydi's English, whose questions have one step: a
method's own order (plain), with the second round for all questions (always) and for questions that the gate
classifies as multi-step (auto). Figures of the gate: its recall on hotpotqa-100, the questions of tydi that
pass it, and its precision on both together. `--grid` chooses the numbers of the second round on nine tenths
of hotpotqa-100 and measures the remaining tenth; `--fit` fits the gate and cross-validates its recall in the
same way.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np

from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines
from eval.experiments.bench import DEPTH, TUNED, Bench
from eval.experiments.collections import COLLECTIONS, questions
from eval.experiments.measures import BOTH, RECALL, scores_of
from eval.experiments.options import data_option, home_option
from eval.experiments.rows import Row, table_of
from eval.measures import Scores
from eval.progress import question_bar
from eval.runs import Run, as_written
from eval.significance import compare
from indexer.options import json_option
from retriever.index import SearchIndex
from retriever.question.question_form import THRESHOLD, WEIGHTS, QuestionForm, question_form
from retriever.search import SearchRequest, open_ranking, run_stages
from retriever.second_round import SECOND_SHARE, SOURCES, with_second_round
from retriever.settings import RetrieverSettings

STEPS, ONE_STEP = "hotpotqa-100", ("tydi-en", "tydi-ko")
NDCG = "nDCG@10"
MEASURES: Mapping[str, tuple[str, ...]] = {STEPS: (NDCG, RECALL, BOTH), "tydi-en": (NDCG,)}
GRID = tuple(product((1, 2, 3), (0.4, 0.55, 0.7, 0.85, 1.0)))  # sources, share
FOLDS, SEED = 10, 20_261_122
EPOCHS, RATE, RIDGE = 4000, 0.5, 1.0
COLLECTION = {collection.name: collection for collection in COLLECTIONS}

Runs = Mapping[str, Run]


async def ranked(
    index: SearchIndex, question: str, method: str, kinds: Sequence[tuple[int, float]]
) -> list[list[tuple[str, float]]]:
    """Rank a question: plain, and with a second round of each kind (sources, share)."""
    collapse = index.manifest.unit == "paper"
    request = SearchRequest(question, method=method, k=DEPTH, collapse=collapse)
    context = open_ranking(index, request, RetrieverSettings())
    stages = await run_stages(context)
    rounds = [
        stages,
        *[await with_second_round(context, stages, sources=sources, share=share) for sources, share in kinds],
    ]
    return [
        as_written(
            [
                (hit.doc_id if collapse else hit.passage_id, score)
                for hit, score in (each.ranking.hits if each.ranking else ())
            ]
        )[:DEPTH]
        for each in rounds
    ]


def runs_of(
    bench: Bench, data: Path, name: str, method: str, kinds: Sequence[tuple[int, float]], step: int
) -> tuple[list[Run], list[QuestionForm]]:
    """Rank a collection's dev questions, plain and with each kind of second round; return their forms too."""
    topics, _ = questions(data, COLLECTION[name], "dev", step)

    async def all_of(index: SearchIndex) -> list[list[list[tuple[str, float]]]]:
        return [await ranked(index, question, method, kinds) for question in topics.values()]

    with bench.open(COLLECTION[name], "alone") as index:
        found = asyncio.run(all_of(index))
        forms = [question_form(question, index.analyzer) for question in topics.values()]
    return [dict(zip(topics, of_kind, strict=True)) for of_kind in zip(*found, strict=True)], forms


def compared(bench: Bench, data: Path, name: str, method: str, step: int) -> list[list[str]]:
    """Return the lines of a method on a collection: always and auto next to plain, one line per measure."""
    (plain, always), forms = runs_of(bench, data, name, method, [(SOURCES, SECOND_SHARE)], step)
    several = [form.has_several_steps for form in forms]
    auto = {
        query_id: always[query_id] if passes else plain[query_id]
        for query_id, passes in zip(plain, several, strict=True)
    }
    _, judged = questions(data, COLLECTION[name], "dev", step)
    qrels = {query_id: judged[query_id] for query_id in plain}
    lines = []
    before = scores_of(qrels, plain, MEASURES[name]).per_query
    for hops, run in (("always", always), ("auto", auto)):
        after = scores_of(qrels, run, MEASURES[name]).per_query
        for measure in MEASURES[name]:
            found = compare(list(before[measure].values()), list(after[measure].values()))
            means = f"{found.mean_a:.4f}", f"{found.mean_b:.4f}"
            lines.append([name, method, hops, measure, *means, *found.as_cells()])
    return lines


def forms_of(bench: Bench, data: Path, name: str, split: str = "dev", step: int = 1) -> list[QuestionForm]:
    """Return the forms of a collection's questions."""
    topics, _ = questions(data, COLLECTION[name], split, step)
    with bench.open(COLLECTION[name], "alone") as index:
        return [question_form(question, index.analyzer) for question in topics.values()]


def gate_figures(bench: Bench, data: Path, recall: float | None = None) -> list[Row]:
    """Return the gate's figures; precision on the questions of both collections together."""
    passed = [form.has_several_steps for form in forms_of(bench, data, STEPS)]
    found = sum(passed) if recall is None else recall * len(passed)
    rows = [Row({"questions of": STEPS}, {"questions": len(passed), "recall": found / len(passed)})]
    for name in ONE_STEP:
        wrong = [form.has_several_steps for form in forms_of(bench, data, name)]
        figures = {"passed": sum(wrong) / len(wrong), "precision": found / (found + sum(wrong))}
        rows.append(Row({"questions of": name}, {"questions": len(wrong), **figures}))
    return rows


def fit(several: Sequence[QuestionForm], one: Sequence[QuestionForm]) -> dict[str, float]:
    """Fit the gate's logistic regression."""
    values = np.array([[1.0, *form.values().values()] for form in (*several, *one)])
    target = np.array([1.0] * len(several) + [0.0] * len(one))
    weights = np.zeros(values.shape[1])
    for _ in range(EPOCHS):
        slope = values.T @ (1 / (1 + np.exp(-values @ weights)) - target)
        slope[1:] += RIDGE * weights[1:]
        weights -= RATE * slope / len(target)
    return {name: round(float(weight), 2) for name, weight in zip(WEIGHTS, weights, strict=True)}


def fitted(bench: Bench, data: Path) -> tuple[dict[str, float], float]:
    """Fit the gate, every second training question of tydi against hotpotqa-100; return its recall too.

    Recall is cross-validated: the questions of each tenth are classified by weights fitted without it.
    """
    several, one = forms_of(bench, data, STEPS), forms_of(bench, data, ONE_STEP[0], "train", 2)
    found = 0
    for held_out in folds(len(several)):
        weights = fit([form for place, form in enumerate(several) if place not in held_out], one)
        found += sum(several[place].likelihood_by(weights) >= THRESHOLD for place in held_out)
    return fit(several, one), found / len(several)


def folds(count: int) -> list[set[int]]:
    """Divide positions at random into ten folds."""
    order = np.random.default_rng(SEED).permutation(count)
    return [set(order[fold::FOLDS].tolist()) for fold in range(FOLDS)]


def cross_validated(bench: Bench, data: Path, method: str) -> list[Row]:
    """Measure each pair of the grid, and each tenth of hotpotqa-100 by the best pair on the other nine."""
    (plain, *runs), _ = runs_of(bench, data, STEPS, method, GRID, 1)
    _, qrels = questions(data, COLLECTION[STEPS], "dev")
    scores = [scores_of(qrels, run, MEASURES[STEPS]) for run in runs]
    query_ids = list(plain)
    values: dict[str, list[float]] = {measure: [] for measure in MEASURES[STEPS]}
    for held_out in folds(len(query_ids)):
        seen = [query_id for place, query_id in enumerate(query_ids) if place not in held_out]
        best = max(scores, key=_mean_of(seen))
        for measure, of in values.items():
            of += [best.per_query[measure][query_ids[place]] for place in sorted(held_out)]
    means = {measure: float(np.mean(of)) for measure, of in values.items()}
    return [
        *(
            Row({"sources": str(sources), "share": f"{share:g}"}, dict(score.means))
            for (sources, share), score in zip(GRID, scores, strict=True)
        ),
        Row({"sources": "cross-", "share": "validated"}, means),
    ]


def _mean_of(query_ids: Sequence[str]) -> Callable[[Scores], float]:
    return lambda scores: float(np.mean([scores.per_query[NDCG][query_id] for query_id in query_ids]))


@click.command()
@home_option
@data_option
@click.option(
    "--method", "methods", multiple=True, default=(TUNED, "or", "paper"), help="Only this method; repeatable."
)
@click.option("--grid", is_flag=True, help="Choose the numbers of the second round by cross-validation.")
@click.option("--fit", "fitting", is_flag=True, help="Fit the gate, and cross-validate its recall.")
@click.option("--step", default=1, show_default=True, help="Rank every STEP-th question.")
@json_option
def main(
    home: Path, data: Path, methods: tuple[str, ...], grid: bool, fitting: bool, step: int, as_json: bool
) -> None:
    """Measure the second round of searches and its gate."""
    record: dict[str, Any] = {}
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        weights, recall = fitted(bench, data) if fitting else (None, None)
        gate = gate_figures(bench, data, recall)
        record["gate"] = [row.as_record() for row in gate]
        if weights:
            record["weights"] = weights
        elif grid:
            rows = cross_validated(bench, data, methods[0])
            record["grid"] = [row.as_record() for row in rows]
        else:
            lines = [
                line
                for method in methods
                for name in (STEPS, "tydi-en")
                if name == STEPS or method == TUNED
                for line in compared(bench, data, name, method, step)
            ]
            record["ranking"] = lines
    if as_json:
        echo_json(record)
        return
    echo_lines(table_of(gate))
    echo("")
    if weights:
        echo_json(weights)
    elif grid:
        echo_lines(table_of(rows))
    else:
        header = ["collection", "method", "hops", "measure", "plain", "hops", "difference"]
        echo_lines(table([[*header, "95 % interval", "p", "higher / same / lower"], *lines], words=4))


if __name__ == "__main__":
    main()
