"""Abstention and quoted answers, with and without the relevant passage.

    python -m eval.experiments.answers --home DIR [--step N] [--json]

Asks every question of tydi dev twice, with its relevant passage in the index and without it. Reported: how
well the likelihood separates the two (AUROC), how many questions are declined, and how many extractive
answers contain the answer string, of those whose five passages contain it. `eval.development.confidence` fits
the likelihood.
likelihood.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from base.terminal.output import echo
from eval.accepted import read_accepted
from eval.experiments.bench import Bench
from eval.experiments.collections import COLLECTIONS, Collection, questions
from eval.experiments.measures import area_under_curve
from eval.experiments.options import data_option, home_option
from eval.experiments.rows import Row, echo_rows
from eval.progress import question_bar
from generator.answers.extractive import MOST_SENTENCES, extractive_answer
from generator.settings import EVIDENCE
from indexer.ingest import Progress
from indexer.options import json_option
from retriever.index import SearchIndex
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, open_ranking, run_stages, search
from retriever.searching.answerability import THRESHOLD, AnswerabilityFeatures, answer_likelihood
from retriever.searching.presenting import answerability
from retriever.settings import RetrieverSettings


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's features with and without its relevant passage, and the figures of its answer."""

    with_passage: AnswerabilityFeatures
    without_passage: AnswerabilityFeatures
    evidence_holds: bool
    answer_holds: bool
    sentences: int


async def ask_twice(
    index: SearchIndex, question: str, relevant: Sequence[str], answers: Sequence[str], *, answer: bool
) -> Asked:
    """Ask with and without the relevant passages; `answer` also searches for the answer string."""
    request = SearchRequest(question, k=EVIDENCE, collapse=False)
    there = await answerability_of(index, request)
    gone = await answerability_of(index, replace(request, filters=Filters(without=tuple(relevant))))
    if not answer:
        return Asked(there, gone, evidence_holds=False, answer_holds=False, sentences=0)
    result = await search(index, request, RetrieverSettings())
    written = extractive_answer(result, index, 0.0)
    texts = [_plain(f"{hit.passage.title} {hit.passage.text}") for hit in result.hits]
    quoted = _plain(" ".join(sentence.text for sentence in written.sentences))
    wanted = [_plain(answer_string) for answer_string in answers]
    return Asked(
        there,
        gone,
        evidence_holds=any(string in text for string in wanted for text in texts),
        answer_holds=any(string in quoted for string in wanted),
        sentences=len(written.sentences),
    )


async def answerability_of(index: SearchIndex, request: SearchRequest) -> AnswerabilityFeatures:
    """Compute the features of a question's first passages."""
    context = open_ranking(index, request, RetrieverSettings())
    stages = await run_stages(context)
    hits = stages.ranking.hits if stages.ranking else ()
    return await answerability(context, stages, [hit.passage_id for hit, _ in hits[:EVIDENCE]])


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def ask_all(
    bench: Bench,
    data: Path,
    collection: Collection,
    split: str,
    progress: Progress,
    *,
    answer: bool,
    step: int = 1,
) -> list[Asked]:
    """Ask every `step`-th question of a split."""
    topics, judged = questions(data, collection, split, step)
    folder = Path(collection.splits["dev"][0]).parents[1]
    answers = read_accepted(data / folder / f"answers-{split}.jsonl")

    async def all_of(index: SearchIndex) -> list[Asked]:
        asked = []
        for place, (query_id, question) in enumerate(topics.items()):
            progress(f"{collection.name} {split}", place, len(topics))
            relevant = [passage_id for passage_id, grade in judged.get(query_id, {}).items() if grade > 0]
            asked.append(await ask_twice(index, question, relevant, answers.get(query_id, []), answer=answer))
        return asked

    with bench.open(collection, "alone") as index:
        return asyncio.run(all_of(index))


def report(asked: Sequence[Asked]) -> dict[str, float]:
    """Compute the figures of questions."""
    there = [answer_likelihood(question.with_passage) for question in asked]
    gone = [answer_likelihood(question.without_passage) for question in asked]
    held = [question for question in asked if question.evidence_holds]
    figures = {
        "questions": len(asked),
        "AUROC": area_under_curve(there, gone),
        "AUROC of the score alone": area_under_curve(
            [question.with_passage.base for question in asked],
            [question.without_passage.base for question in asked],
        ),
        "false abstention": sum(score < THRESHOLD for score in there) / len(asked),
        "right abstention": sum(score < THRESHOLD for score in gone) / len(asked),
    }
    if held:
        figures |= {
            "evidence holds the answer": len(held) / len(asked),
            "answer holds it": sum(question.answer_holds for question in held) / len(held),
            "most sentences": max(question.sentences for question in asked),
        }
    return {name: round(value, 4) for name, value in figures.items()}


@click.command()
@home_option
@data_option
@click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")
@json_option
def main(home: Path, data: Path, step: int, as_json: bool) -> None:
    """Measure abstention and extractive answers on the tydi questions."""
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        by_name = {
            collection.name: ask_all(bench, data, collection, "dev", progress, answer=True, step=step)
            for collection in COLLECTIONS
            if "train" in collection.splits
        }
    by_name["all"] = [question for asked in by_name.values() for question in asked]
    rows = [Row({"questions of": name}, report(asked)) for name, asked in by_name.items()]
    echo_rows(rows, as_json=as_json)
    if not as_json:
        echo(f"threshold {THRESHOLD}, at most {MOST_SENTENCES} sentences")


if __name__ == "__main__":
    main()
