"""Search and answers without a model: found, answered, or declined as out of scope.

    python -m tools.answers [--home DIR] [--list] [--json]                         # the sample's questions
    python -m tools.answers [--home DIR] --half tune|test [--list] [--json]        # plain questions

The sample's forty questions are reported by kind: Success@5 (grade 2), abstentions, the quoted sentences, and
the share of them from papers that answer.

The plain questions of one half of `sample/plain/` are asked each to its own corpus. Reported for groups of
questions: the share of questions in scope with a paper of grade 2 among the first two (`found`), the share of
these questions with an answer (`answered`), the share of questions out of scope without one (`declined`), and
the AUROC of the likelihood, questions in scope against questions out of scope. Out of scope, `near` are
questions of the corpus's fields and `far` are others. The likelihood and its threshold may be chosen on the
tune half, never on the test half.

A second table has the share of answers that open with a finding and that quote one, by the strings of
`answers.jsonl`, and the share of findings among the quoted sentences; the test half has no strings.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import click

from base.sample import SAMPLE
from base.terminal.output import echo, echo_json, echo_lines
from eval.accepted import contains_accepted, read_accepted
from eval.collection import Qrels, read_qrels
from eval.progress import question_bar
from eval.statistics import area_under_curve
from generator.answers.extractive import extractive_answer, searched_terms
from generator.settings import EVIDENCE
from indexer.options import json_option
from retriever.answerability import THRESHOLD
from retriever.index import SearchIndex
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from tools.bench import Bench, Row, path_option, table_of
from tools.collections import HELD_OUT, OF_SAMPLE, Collection, read_lines

PLAIN = SAMPLE / "plain"
CORPORA: Mapping[str, Collection] = {"sample": OF_SAMPLE, "held-out": HELD_OUT}
FIRST, ANSWERS = 2, 2  # papers among which an answer is found, and the grade of a paper that answers

Half = Literal["tune", "test"]
Topic: TypeAlias = Mapping[str, Any]
Asked: TypeAlias = Sequence[tuple[Topic, "Question"]]

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


@dataclass(frozen=True, slots=True)
class Question:
    """The outcome of one question."""

    rank: int | None  # of the first paper that answers
    likelihood: float
    abstained: bool
    sentences: tuple[str, ...] = ()  # quoted, in their order
    cited: tuple[bool, ...] = ()  # whether the paper of each citation answers

    @property
    def is_found(self) -> bool:
        """Whether a paper that answers is among the first two."""
        return (self.rank or FIRST + 1) <= FIRST


async def ask_questions(index: SearchIndex, topics: Sequence[Topic], qrels: Qrels) -> list[Question]:
    """Ask every question for five papers and a quoted answer."""
    asked, settings = [], RetrieverSettings()
    for topic in topics:
        result = await search(index, SearchRequest(topic["question"], k=EVIDENCE), settings)
        terms = await searched_terms(result, index, settings)
        answer = extractive_answer(result, index, terms, THRESHOLD)
        grades = qrels.get(topic["query_id"], {})
        answering = {hit.passage_id: grades.get(hit.doc_id, 0) >= ANSWERS for hit in result.hits}
        asked.append(
            Question(
                min((hit.rank for hit in result.hits if answering[hit.passage_id]), default=None),
                result.likelihood or 0.0,
                answer.abstained,
                tuple(sentence.text for sentence in answer.sentences),
                tuple(answering[cited] for sentence in answer.sentences for cited in sentence.citations),
            )
        )
    return asked


def ask(bench: Bench, half: Half | None) -> Asked:
    """Ask the questions of a half of the plain questions, each to its own corpus, or those of the sample."""
    folder = PLAIN if half else SAMPLE
    qrels, topics = read_qrels(folder / "qrels.txt"), read_lines(folder / "topics.jsonl")
    asked: list[tuple[Topic, Question]] = []
    for name, collection in CORPORA.items():
        subject = half, name
        chosen = [each for each in topics if (each.get("half"), each.get("corpus", "sample")) == subject]
        if chosen:
            with bench.open(collection) as index:
                asked += zip(chosen, asyncio.run(ask_questions(index, chosen, qrels)), strict=True)
    return asked


def sample_rows(asked: Asked) -> Iterator[Row]:
    """Yield the row of each kind: Success@5, abstentions, quoted sentences, those from answering papers."""
    for kind in dict.fromkeys(topic["kind"] for topic, _ in asked):
        of = [question for topic, question in asked if topic["kind"] == kind]
        yield {
            "table": "sample",
            "of": "questions",
            "kind": kind,
            "questions": len(of),
            "Success@5": round(_share(question.rank is not None for question in of), 3),
            "abstained": sum(question.abstained for question in of),
            "quoted sentences": sum(len(question.cited) for question in of),
            "from papers that answer": sum(sum(question.cited) for question in of),
        }


def plain_rows(asked: Asked, half: Half, groups: Iterable[str] = GROUPS) -> Iterator[Row]:
    """Yield the row of each group: its shares, and the AUROC of its likelihoods."""
    for name in groups:
        scopes: dict[bool, list[Question]] = {True: [], False: []}
        for topic, question in asked:
            if GROUPS[name](topic):
                scopes[topic["scope"] == "in"].append(question)
        likelihoods = ([question.likelihood for question in each] for each in scopes.values())
        within, outside = scopes.values()
        yield {
            "table": "plain",
            "half": half,
            "of": name,
            "in scope": len(within),
            "found": _share(question.is_found for question in within),
            "answered": _share(not question.abstained for question in within),
            "out of scope": len(outside),
            "declined": _share(question.abstained for question in outside),
            "AUROC": area_under_curve(*likelihoods),
        }


def finding_row(asked: Asked, strings: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Compute how many answers open with a finding and quote one, and the share of findings quoted.

    Args:
        asked: the questions.
        strings: by query_id, strings one of which a sentence with a finding holds.
    """
    quoted = [
        [contains_accepted(sentence, strings[topic["query_id"]]) for sentence in question.sentences]
        for topic, question in asked
        if topic["query_id"] in strings
    ]
    return {
        "questions": len(quoted),
        "open with a finding": round(_share(found[:1] == [True] for found in quoted), 3),
        "quote a finding": round(_share(map(any, quoted)), 3),
        "quoted sentences": sum(map(len, quoted)),
        "findings among them": round(_share(is_one for found in quoted for is_one in found), 3),
    }


def _share(of: Iterable[bool]) -> float:
    values = list(of)
    return sum(values) / (len(values) or 1)


def went_wrong(topic: Topic, question: Question, half: Half | None) -> bool:
    """Check whether a question with an answer was declined or not found, or another one was answered."""
    if not (topic["scope"] == "in" if half else topic["kind"] != "unanswerable"):
        return not question.abstained
    return question.abstained or not (question.is_found if half else question.rank)


@click.command()
@path_option("--home", "The folder for the indexes; default: temporary.")
@click.option("--half", type=click.Choice(["tune", "test"]), help="Ask the plain questions of this half.")
@click.option("--list", "listing", is_flag=True, help="List the questions with wrong outcomes.")
@json_option
def main(home: Path | None, half: Half | None, listing: bool, as_json: bool) -> None:
    """Evaluate search and answers on the sample's questions, or on the plain questions."""
    with question_bar() as progress, tempfile.TemporaryDirectory() as temporary:
        asked = ask(Bench(home or Path(temporary), SAMPLE, progress), half)
    rows = list(plain_rows(asked, half) if half else sample_rows(asked))
    findings = finding_row(asked, read_accepted((PLAIN if half else SAMPLE) / "answers.jsonl"))
    if as_json:
        echo_json({"rows": rows, "findings": findings})
        return
    answers = [{"answers": "with strings", **findings}] if findings["questions"] else []
    echo_lines([*table_of(rows), "", *table_of(answers), f"threshold {THRESHOLD}"])
    for topic, question in asked if listing else ():
        if went_wrong(topic, question, half):
            subject = f"{topic['query_id']} {topic.get('scope') or topic['kind']}: rank {question.rank}"
            outcome = f"likelihood {question.likelihood:.3f}, abstained {question.abstained}"
            echo(f"{subject}, {outcome}: {topic['question']}")


if __name__ == "__main__":
    main()
