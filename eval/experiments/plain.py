"""Search and answers for plain questions: found, answered, or declined as out of scope.

    python -m eval.experiments.plain --home DIR [--half tune|test] [--list] [--json]

Asks the questions of one half of `sample/plain/`, each to its own corpus, for an answer without a model.
Reported for groups of questions: the share of questions in scope with a paper of grade 2 among the first two
(`found`), the share of these questions with an answer (`answered`), the share of questions out of scope
without one (`declined`), and the AUROC of the likelihood, questions in scope against questions out of scope.
Out of scope, `near` are questions of the corpus's fields and `far` are others.

For the tune half a second table has the share of answers that open with a finding and that quote one, by the
strings of `sample/plain/answers.jsonl`, and the share of findings among the quoted sentences.

The likelihood and its threshold may be chosen on the tune half, never on the test half.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import click

from base.sample import SAMPLE
from base.terminal.output import echo, echo_lines
from eval.accepted import read_accepted
from eval.experiments.bench import Bench
from eval.experiments.collections import HELD_OUT, OF_SAMPLE, Collection, read_lines
from eval.experiments.console import Row, echo_rows, home_option, table_of
from eval.experiments.sample import Question, ask_questions, finding_figures
from eval.progress import question_bar
from eval.qrels import read_qrels
from eval.statistics import area_under_curve
from indexer.options import json_option
from retriever.answerability import THRESHOLD

FOLDER = SAMPLE / "plain"
CORPORA: Mapping[str, Collection] = {"sample": OF_SAMPLE, "held-out": HELD_OUT}
FIRST = 2

Half = Literal["tune", "test"]
Topic: TypeAlias = dict[str, Any]
Asked: TypeAlias = Sequence[tuple[Topic, Question]]

# Groups of questions in scope, or out of scope, compared with all others out of, or in, scope.
GROUPS: Mapping[str, Callable[[Topic], bool]] = {
    "all": bool,
    "sample": lambda topic: topic["corpus"] == "sample",
    "held-out": lambda topic: topic["corpus"] == "held-out",
    "Korean": lambda topic: topic["language"] == "ko",
    "English": lambda topic: topic["language"] == "en",
    "cross-lingual": lambda topic: topic["cross_lingual"] or topic["scope"] != "in",
    "near": lambda topic: topic["scope"] in ("in", "near"),
    "far": lambda topic: topic["scope"] in ("in", "far"),
}


def topics_of(half: Half) -> dict[str, list[Topic]]:
    """Return the questions of a half by corpus."""
    topics = [topic for topic in read_lines(FOLDER / "topics.jsonl") if topic["half"] == half]
    return {name: [topic for topic in topics if topic["corpus"] == name] for name in CORPORA}


def ask_half(bench: Bench, half: Half) -> Asked:
    """Ask the questions of a half for five papers and a quoted answer, each to its own corpus."""
    qrels = read_qrels(FOLDER / "qrels.txt")
    asked = list[tuple[Topic, Question]]()
    for name, of_corpus in topics_of(half).items():
        with bench.open(CORPORA[name], "alone") as index:
            answered = asyncio.run(ask_questions(index, of_corpus, qrels))
        asked += zip(of_corpus, answered, strict=True)
    return asked


def figures_of(asked: Asked) -> dict[str, float]:
    """Compute the shares of a group, and the AUROC of its likelihoods."""
    within = [question for topic, question in asked if topic["scope"] == "in"]
    outside = [question for topic, question in asked if topic["scope"] != "in"]
    return {
        "in scope": len(within),
        "found": sum((question.rank or FIRST + 1) <= FIRST for question in within) / len(within),
        "answered": sum(not question.abstained for question in within) / len(within),
        "out of scope": len(outside),
        "declined": sum(question.abstained for question in outside) / len(outside),
        "AUROC": area_under_curve(
            [question.likelihood for question in within], [question.likelihood for question in outside]
        ),
    }


def plain_rows(asked: Asked, half: Half, groups: Iterable[str] = GROUPS) -> list[Row]:
    """Return the row of each group."""
    return [
        Row(
            {"table": "plain", "half": half, "of": name},
            figures_of([(topic, question) for topic, question in asked if GROUPS[name](topic)]),
        )
        for name in groups
    ]


def finding_rows(asked: Asked, half: Half) -> list[Row]:
    """Return the row of findings in answers; none for the half whose findings are not marked."""
    strings = read_accepted(FOLDER / "answers.jsonl")
    marked = [question for _, question in asked if question.query_id in strings]
    return [Row({"table": "findings", "half": half}, finding_figures(marked, strings))] if marked else []


def went_wrong(topic: Topic, question: Question) -> bool:
    """Check whether a question in scope was declined or finds no paper, or one out of scope was answered."""
    if topic["scope"] != "in":
        return not question.abstained
    return question.abstained or (question.rank or FIRST + 1) > FIRST


@click.command()
@home_option
@click.option("--half", type=click.Choice(["tune", "test"]), default="tune", show_default=True)
@click.option("--list", "listing", is_flag=True, help="List the questions with wrong outcomes.")
@json_option
def main(home: Path, half: Half, listing: bool, as_json: bool) -> None:
    """Ask the plain questions of one half."""
    with question_bar() as progress:
        asked = ask_half(Bench(home, SAMPLE, progress), half)
    rows, findings = plain_rows(asked, half), finding_rows(asked, half)
    echo_rows([*rows, *findings] if as_json else rows, as_json=as_json)
    if findings and not as_json:
        echo_lines(["", *table_of(findings)])
    if listing:
        echo(f"threshold {THRESHOLD}")
        for topic, question in asked:
            if went_wrong(topic, question):
                echo(
                    f"{topic['query_id']} {topic['scope']}: rank {question.rank}, "
                    f"likelihood {question.likelihood:.3f}: {topic['question']}"
                )


if __name__ == "__main__":
    main()
