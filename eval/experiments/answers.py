"""Do answers abstain where there is none, and hold the answer where there is one?

    python -m eval.experiments.answers --home DIR [--fit] [--json]

Every question of tydi dev is asked twice, with its relevant passage in the index and without it. Reported:
how well the evidence score separates the two (AUROC), how many answerable questions are turned away at the
threshold set on train, and how many extractive answers hold the answer string among those whose five passages
hold it. `--fit` fits the weights of `retriever/confidence.py` on the training questions and prints them.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from eval.experiments.bench import Bench
from eval.experiments.collections import COLLECTIONS, Collection, questions
from eval.experiments.options import data_option, home_option
from eval.experiments.rows import Row, table_of
from eval.progress import question_bar
from generator.extractive import MOST_SENTENCES, extractive_answer
from generator.settings import EVIDENCE
from indexer.ingest import Progress
from indexer.options import json_option
from indexer.terminal import echo, echo_json, echo_lines
from retriever.confidence import THRESHOLD, AnswerabilityFeatures, evidence_score
from retriever.index import SearchIndex
from retriever.presenting import answerability
from retriever.queries import Filters
from retriever.search import SearchRequest, open_ranking, run_stages, search
from retriever.settings import RetrieverSettings

FALSE_ABSTENTION = 0.015  # of the training questions, where the threshold is set
EPOCHS, RATE = 3000, 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """One question's signs with and without its relevant passage, and what its answer held."""

    with_passage: AnswerabilityFeatures
    without_passage: AnswerabilityFeatures
    evidence_holds: bool
    answer_holds: bool
    sentences: int


def area_under_curve(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the chance that a positive's score is above a negative's, ties counting half (AUROC)."""
    below = np.sort(np.asarray(negative))
    left = np.searchsorted(below, positive, side="left")
    right = np.searchsorted(below, positive, side="right")
    return float((left + right).sum() / 2 / (len(positive) * len(negative)))


async def ask_twice(
    index: SearchIndex, question: str, relevant: Sequence[str], answers: Sequence[str], *, answer: bool
) -> Asked:
    """Ask with and without the relevant passages; with `answer` look for the answer string too."""
    request = SearchRequest(question, k=EVIDENCE, collapse=False)
    there = await _answerability(index, request)
    gone = await _answerability(index, replace(request, filters=Filters(without=tuple(relevant))))
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


async def _answerability(index: SearchIndex, request: SearchRequest) -> AnswerabilityFeatures:
    """Return what speaks for an answer among the first passages for a question."""
    context = open_ranking(index, request, RetrieverSettings())
    stages = await run_stages(context)
    hits = stages.ranking.hits if stages.ranking else ()
    first = await context.passages.of_hits([hit for hit, _ in hits[:EVIDENCE]])
    return answerability(context, stages, list(first.values()))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def read_answers(path: Path) -> dict[str, list[str]]:
    """Read {"query_id", "answers"} lines."""
    with path.open(encoding="utf-8") as lines:
        return {record["query_id"]: record["answers"] for record in map(json.loads, lines)}


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
    answers = read_answers(data / folder / f"answers-{split}.jsonl")

    async def all_of(index: SearchIndex) -> list[Asked]:
        asked = []
        for place, (query_id, question) in enumerate(topics.items()):
            progress(f"{collection.name} {split}", place, len(topics))
            relevant = [passage_id for passage_id, grade in judged.get(query_id, {}).items() if grade > 0]
            asked.append(await ask_twice(index, question, relevant, answers.get(query_id, []), answer=answer))
        return asked

    with bench.open(collection, "alone") as index:
        return asyncio.run(all_of(index))


def fit(asked: Sequence[Asked]) -> tuple[dict[str, float], float]:
    """Fit the logistic regression; return its weights and the threshold of the set false abstention."""
    rows = [
        list(signs.values().values())
        for question in asked
        for signs in (question.with_passage, question.without_passage)
    ]
    values, target = np.array(rows), np.array([1.0, 0.0] * len(asked))
    mean, scale = values.mean(axis=0), values.std(axis=0) + 1e-9
    standard = (values - mean) / scale
    weights, bias = np.zeros(values.shape[1]), 0.0
    for _ in range(EPOCHS):
        likely = 1 / (1 + np.exp(-(standard @ weights + bias)))
        weights -= RATE * (standard.T @ (likely - target) / len(target) + 1e-3 * weights)
        bias -= RATE * float((likely - target).mean())
    plain = weights / scale
    offset = bias - float(plain @ mean)
    scores = 1 / (1 + np.exp(-(values @ plain + offset)))
    names = asked[0].with_passage.values()
    named = {name: round(float(weight), 3) for name, weight in zip(names, plain, strict=True)}
    return {"bias": round(offset, 3)} | named, float(np.quantile(scores[target == 1], FALSE_ABSTENTION))


def report(asked: Sequence[Asked]) -> dict[str, float]:
    """Compute the figures of a set of questions."""
    there = [evidence_score(question.with_passage) for question in asked]
    gone = [evidence_score(question.without_passage) for question in asked]
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
@click.option("--fit", "fitting", is_flag=True, help="Fit the weights on the training questions.")
@click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")
@json_option
def main(home: Path, data: Path, fitting: bool, step: int, as_json: bool) -> None:
    """Measure abstention and extractive answers on the tydi questions."""
    collections = [collection for collection in COLLECTIONS if "train" in collection.splits]
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        split = "train" if fitting else "dev"
        by_name: dict[str, list[Asked]] = {
            collection.name: ask_all(bench, data, collection, split, progress, answer=not fitting, step=step)
            for collection in collections
        }
    everything = [question for asked in by_name.values() for question in asked]
    figures: Mapping[str, Any] = {name: report(asked) for name, asked in by_name.items()} | {
        "all": report(everything)
    }
    if fitting:
        weights, threshold = fit(everything)
        echo_json({"weights": weights, "threshold": round(threshold, 3)})
    if as_json:
        echo_json(figures)
        return
    echo_lines(table_of([Row({"questions of": name}, found) for name, found in figures.items()]))
    if not fitting:
        echo(f"threshold {THRESHOLD}, at most {MOST_SENTENCES} sentences")


if __name__ == "__main__":
    main()
