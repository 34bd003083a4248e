"""Questions asked with and without their relevant passage, for the likelihood of an answer and golden scores.

`report` has the AUROC of the likelihood, the declined questions, and the extractive answers that contain the
answer string, of those whose five passages contain it. `shrag experiment answers --removed` measures whole
answers on any collection.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.accepted import read_accepted
from eval.experiments.bench import Bench
from eval.experiments.collections import Collection, questions
from eval.experiments.measures import area_under_curve
from generator.answers.extractive import extractive_answer
from generator.settings import EVIDENCE
from indexer.ingest import Progress
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
