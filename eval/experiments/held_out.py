"""Results of the methods for questions on which nothing is tuned, by kind of question.

    python -m eval.experiments.held_out --home DIR [--json]

Indexes `sample/held-out/` and asks its sixty questions by every method, `paper` and `shrag` also with the
recorded strategies. `Success@5` is the share of questions with a relevant paper among the first five.
`both@10` is the share of two-step questions with all their papers among the first ten. `excluded@5` is the
share of questions with an excluded paper among the first five.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from base.sample import SAMPLE
from eval.experiments.bench import Bench
from eval.experiments.collections import BOTH, CUTOFF, HELD_OUT, questions, read_lines, recorded_strategies
from eval.experiments.console import Row, echo_rows, home_option
from eval.progress import question_bar
from eval.qrels import Qrels
from eval.runs import Run
from indexer.options import json_option

FOLDER = SAMPLE / "held-out"
TWO_STEP = "two-step"
FIRST = 5


def held_out_rows(bench: Bench) -> list[Row]:
    """Rank the questions by every method and return one row per kind."""
    topics = read_lines(FOLDER / "topics.jsonl")
    asked, qrels = questions(FOLDER, HELD_OUT, "dev")
    with bench.open(HELD_OUT, "alone") as index:
        runs = bench.runs(index, asked, recorded_strategies(FOLDER, HELD_OUT))
    return [
        Row({"table": "held-out", "method": method, "kind": kind}, figures)
        for method, run in runs.items()
        for kind, figures in figures_by_kind(topics, qrels, run).items()
    ]


def figures_by_kind(
    topics: Sequence[Mapping[str, Any]], qrels: Qrels, run: Run
) -> dict[str, dict[str, float]]:
    """Return the shares of questions whose papers, or excluded papers, were found, by kind of question.

    Args:
        topics: with `query_id`, `kind` and, if papers are excluded, `excluded`.
        qrels: grades above 0 are relevant.
        run: papers by question, best first.
    """
    seen: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for topic in topics:
        order = [doc_id for doc_id, _ in run[topic["query_id"]]]
        relevant = {doc_id for doc_id, grade in qrels[topic["query_id"]].items() if grade > 0}
        of_kind = seen[topic["kind"]]
        if topic["kind"] == TWO_STEP:
            of_kind[BOTH].append(relevant <= set(order[:CUTOFF]))
        else:
            of_kind[f"Success@{FIRST}"].append(not relevant.isdisjoint(order[:FIRST]))
        if excluded := topic.get("excluded"):
            of_kind[f"excluded@{FIRST}"].append(not set(excluded).isdisjoint(order[:FIRST]))
    return {
        kind: {figure: fmean(values) for figure, values in figures.items()} for kind, figures in seen.items()
    }


@click.command()
@home_option
@json_option
def main(home: Path, as_json: bool) -> None:
    """Rank the held-out questions by every method."""
    with question_bar() as progress:
        rows = held_out_rows(Bench(home, SAMPLE, progress))
    echo_rows(rows, as_json=as_json)


if __name__ == "__main__":
    main()
