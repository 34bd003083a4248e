"""Search and answers on the sample corpus.

    python -m eval.experiments.sample [--home DIR] [--list] [--json]

The experiment indexes `sample/`, asks its forty questions, and reports by kind: Success@5 (grade 2),
abstentions, the quoted sentences, and the share of them from papers that answer. It also reports how many
answers open with a finding, by the strings of `sample/answers.jsonl`.
"""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from base.progress import no_progress
from base.sample import SAMPLE
from base.terminal.output import echo, echo_json, echo_lines
from eval.accepted import contains_accepted, read_accepted
from eval.experiments.bench import Bench
from eval.experiments.collections import OF_SAMPLE, read_lines
from eval.experiments.console import Row, table_of
from eval.qrels import Qrels, read_qrels
from generator.answers.extractive import extractive_answer, searched_terms
from generator.settings import EVIDENCE
from indexer.options import json_option
from retriever.answerability import THRESHOLD
from retriever.index import SearchIndex
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings

ANSWERS = 2  # the grade of a paper that answers


@dataclass(frozen=True, slots=True)
class Question:
    """The outcome of one question."""

    query_id: str
    kind: str
    rank: int | None  # of the first paper that answers
    likelihood: float
    abstained: bool
    quoted: int  # sentences
    to_the_point: int  # of these, from papers that answer
    sentences: tuple[str, ...] = ()  # quoted, in their order


def ask_sample(bench: Bench) -> list[Question]:
    """Ask the questions of the sample."""
    qrels, topics = read_qrels(SAMPLE / "qrels.txt"), read_lines(SAMPLE / "topics.jsonl")
    with bench.open(OF_SAMPLE, "alone") as index:
        return asyncio.run(ask_questions(index, topics, qrels))


async def ask_questions(
    index: SearchIndex, questions: Sequence[dict[str, Any]], qrels: Qrels
) -> list[Question]:
    """Ask every question for five papers and a quoted answer."""
    asked = []
    for topic in questions:
        result = await search(index, SearchRequest(topic["question"], k=EVIDENCE), RetrieverSettings())
        terms = await searched_terms(result, index, RetrieverSettings())
        answer = extractive_answer(result, index, terms, THRESHOLD)
        grades = qrels.get(topic["query_id"], {})
        ranks = [hit.rank for hit in result.hits if grades.get(hit.doc_id, 0) >= ANSWERS]
        papers = {hit.passage_id: hit.doc_id for hit in result.hits}
        cited = [papers[passage_id] for sentence in answer.sentences for passage_id in sentence.citations]
        to_the_point = sum(grades.get(doc_id, 0) >= ANSWERS for doc_id in cited)
        asked.append(
            Question(
                topic["query_id"],
                topic.get("kind", ""),
                min(ranks, default=None),
                result.likelihood or 0.0,
                answer.abstained,
                len(cited),
                to_the_point,
                tuple(sentence.text for sentence in answer.sentences),
            )
        )
    return asked


def question_figures(asked: Sequence[Question]) -> dict[str, dict[str, float]]:
    """Count by kind: questions, Success@5, abstentions, quoted sentences, and those from answering papers."""
    by_kind: dict[str, list[Question]] = defaultdict(list)
    for question in asked:
        by_kind[question.kind].append(question)
    return {
        kind: {
            "questions": len(questions),
            "Success@5": round(sum(question.rank is not None for question in questions) / len(questions), 3),
            "abstained": sum(question.abstained for question in questions),
            "quoted sentences": sum(question.quoted for question in questions),
            "from papers that answer": sum(question.to_the_point for question in questions),
        }
        for kind, questions in by_kind.items()
    }


def finding_figures(asked: Sequence[Question], strings: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Compute how many answers open with a finding and quote one, and the share of findings quoted.

    Args:
        asked: the questions.
        strings: by query_id, strings one of which a sentence with a finding holds.
    """
    quoted = [
        [contains_accepted(sentence, strings[question.query_id]) for sentence in question.sentences]
        for question in asked
        if question.query_id in strings
    ]
    sentences = sum(map(len, quoted))
    return {
        "questions": len(quoted),
        "open with a finding": round(sum(found[:1] == [True] for found in quoted) / len(quoted), 3),
        "quote a finding": round(sum(map(any, quoted)) / len(quoted), 3),
        "quoted sentences": sentences,
        "findings among them": round(sum(map(sum, quoted)) / (sentences or 1), 3),
    }


def _table(first: str, figures: dict[str, dict[str, float]]) -> list[str]:
    return table_of([Row({first: name}, found) for name, found in figures.items()])


@click.command()
@click.option(
    "--home", type=click.Path(path_type=Path), help="The folder for the index; default: a temporary one."
)
@json_option
@click.option("--list", "listing", is_flag=True, help="List the questions with wrong outcomes.")
def main(home: Path | None, as_json: bool, listing: bool) -> None:
    """Evaluate search and answers on the sample."""
    with tempfile.TemporaryDirectory() as temporary:
        asked = ask_sample(Bench(home or Path(temporary), SAMPLE, no_progress))
    questions = question_figures(asked)
    findings = finding_figures(asked, read_accepted(SAMPLE / "answers.jsonl"))
    if as_json:
        echo_json({"questions": questions, "findings": findings})
        return
    echo_lines([*_table("questions", questions), "", *_table("answers", {"with strings": findings})])
    for question in asked if listing else ():
        answerable = question.kind != "unanswerable"
        if question.abstained == answerable or (question.rank is None and answerable):
            echo(f"{question.query_id} {question.kind}: rank {question.rank}, abstained {question.abstained}")


if __name__ == "__main__":
    main()
