"""Ways of paper-QA: accuracy and ROUGE-L of the eight ways from a question on a paper to a brief answer.

QUESTIONS are JSON lines with `query_id`, `question` and `answers` (reference texts), and optionally `topic`
(id or exact title of the paper) and `strings` (a correct answer contains one of them). The report does not
define accuracy. Here it is the share of answers that contain an accepted string, and, with a language model,
also the share that the model judges correct by the rubric of the prompt `accuracy`. ROUGE-L is the F1 with
the best reference; Korean texts are compared by morphemes. A declined answer is incorrect and has ROUGE-L 0.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from base.calls import Flag, Section
from eval.answer_quality.judge import judge_name
from eval.experiments.answering.answer_records import answer_record, judged_accuracy, mean_of
from eval.experiments.answering.question_materials import QuestionCall, QuestionMaterials, opened_questions
from eval.experiments.experiment import (
    SECONDS,
    Cell,
    Experiment,
    Outcome,
    Record,
    SampleRun,
    Table,
    TopicResult,
)
from eval.query_lines import PaperQuestion
from eval.runs import as_written
from eval.significance import compare, difference_columns
from generator.answers.answer import EXTRACTIVE
from generator.calls import MOST_EVIDENCE
from generator.pipeline import answer_question
from generator.ways import make_request, takes

STEPS: Mapping[str, str] = {
    "paper-qa-1": "retrieve",
    "paper-qa-2": "retrieve, rerank",
    "paper-qa-3": "queries, fuse, rerank",
    "paper-qa-4": "hypotheses, fuse, rerank",
    "paper-qa-5": "queries and hypotheses, fuse, rerank",
    "paper-qa-6": "as 3, filter",
    "paper-qa-7": "as 5, filter",
    "paper-qa-8": "queries, fuse, draft, rerank by it, filter",
}
NUMBERS = ("K1", "K2", "K3")  # passages of each query, after fusion, and for the answer
ABOVE = (0.7, 0.5, 0.3)  # ROUGE-L of the counted questions
# Accuracy, ROUGE-L, and questions with a ROUGE-L above .7, .5 and .3 (section 6.II).
PUBLISHED: Mapping[str, tuple[float, float, int, int, int]] = {
    "paper-qa-1": (0.30, 0.1749, 0, 0, 17),
    "paper-qa-2": (0.38, 0.1880, 0, 1, 20),
    "paper-qa-3": (0.36, 0.1857, 0, 0, 20),
    "paper-qa-4": (0.27, 0.1674, 0, 0, 16),
    "paper-qa-5": (0.35, 0.1831, 0, 0, 22),
    "paper-qa-6": (0.34, 0.2043, 3, 4, 22),
    "paper-qa-7": (0.32, 0.2017, 3, 5, 23),
    "paper-qa-8": (0.36, 0.2809, 7, 8, 33),
}
NONE = (None,) * 5  # of a way that is not in the report
PUBLISHED_TEST = {"test set": (0.48, 0.2990), "test set, baseline": (0.43, 0.21221)}  # of ways not named


class PaperQA(QuestionCall):
    """Which ways answer, and from how many passages."""

    ways: Annotated[
        tuple[str, ...],
        Flag("--way", section=Section.ANSWERING, metavar="WAY[,WAY]", commas=True),
        Field(min_length=1, description="Ways to compare; default paper-qa-1 to -8."),
    ] = tuple(STEPS)
    evidence: Annotated[
        int,
        Flag(section=Section.ANSWERING),
        Field(ge=1, le=MOST_EVIDENCE, description="Passages from which an answer is written."),
    ] = 5
    stem: Annotated[
        bool,
        Flag(section=Section.OUTPUT),
        Field(description="Compare the stems of English words in ROUGE-L."),
    ] = False


async def answers_of_topic(
    call: PaperQA, materials: QuestionMaterials, query_id: str, question: str
) -> TopicResult:
    """Answer a question by every way; the rankings are the evidence of the answers."""
    asked = materials.questions[query_id]
    ways, seconds, rankings = {}, {}, {}
    for way in call.ways:
        topic = asked.topic if takes(way, "topic") else None
        request = make_request(
            materials.settings, question, way=way, topic=topic, evidence=call.evidence, hops="never"
        )
        started = time.perf_counter()
        answered = await answer_question(materials.index, request, materials.settings, model=materials.model)
        seconds[way] = round(time.perf_counter() - started, 3)
        ways[way] = await answer_record(asked, answered, materials.model, stem=call.stem)
        rankings[way] = as_written((hit.passage_id, hit.score) for hit in answered.evidence)
    return TopicResult({"ways": ways, SECONDS: seconds}, rankings)


def summary(call: PaperQA, materials: QuestionMaterials, topics: Sequence[Record]) -> Outcome:
    """Compute a row for each way."""
    of = {way: [topic["ways"][way] for topic in topics] for way in call.ways}
    tables = [_ways(of), _beside_published(of), _differences(of)]
    if call.model:
        tables.append(_judged(of, materials.settings.generator.llm.model or ""))
    seconds = {way: [topic[SECONDS][way] for topic in topics] for way in call.ways}
    times = tuple((way, sum(each) / len(each), sum(each)) for way, each in seconds.items())
    tables.append(Table("Seconds", ("way", "mean of a question", "all questions"), times, timed=True))
    main = {f"{way}, ROUGE-L": mean_of(answers, "rouge_l") for way, answers in of.items()}
    main |= {f"{way}, accuracy": mean_of(answers, "accepted") for way, answers in of.items()}
    known = {name: value for name, value in main.items() if value is not None}
    return Outcome(tuple(tables), notes=_notes(materials.questions.values(), of), main=known)


def _ways(of: Mapping[str, Sequence[Record]]) -> Table:
    def row(way: str, answers: Sequence[Record]) -> tuple[Cell, ...]:
        numbers = max((answer["k"] for answer in answers), key=len)
        return (
            way,
            STEPS.get(way, ""),
            *(numbers[place] if place < len(numbers) else None for place in range(len(NUMBERS))),
            mean_of(answers, "accepted"),
            mean_of(answers, "rouge_l"),
            *_counts_above(answers),
            answers[0]["threshold"],
            sum(answer["filled_in"] for answer in answers),
            sum(answer["evidence"] == 0 for answer in answers),
            sum(answer["declined"] for answer in answers),
        )

    return Table(
        "Ways of paper-QA, accuracy by accepted strings",
        (
            *("way", "steps", *NUMBERS, "accuracy", "ROUGE-L"),
            *(f"> {bound}" for bound in ABOVE),
            *("threshold", "filled in", "without evidence", "declined"),
        ),
        tuple(row(way, answers) for way, answers in of.items()),
    )


def _counts_above(answers: Sequence[Record]) -> list[int]:
    return [sum(answer["rouge_l"] > bound for answer in answers) for bound in ABOVE]


def _beside_published(of: Mapping[str, Sequence[Record]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for way, answers in of.items():
        values = [mean_of(answers, "accepted"), mean_of(answers, "rouge_l"), *_counts_above(answers)]
        rows.append(
            (way, *(cell for pair in zip(values, PUBLISHED.get(way, NONE), strict=True) for cell in pair))
        )
    rows += [
        (name, None, accuracy, None, rouge, *[None] * 6) for name, (accuracy, rouge) in PUBLISHED_TEST.items()
    ]
    measures = ("accuracy", "ROUGE-L", *(f"> {bound}" for bound in ABOVE))
    columns = [column for measure in measures for column in (measure, "published")]
    return Table("Values of the report", ("way", *columns), tuple(rows))


def _differences(of: Mapping[str, Sequence[Record]]) -> Table:
    """Compare the ROUGE-L of each way with that of the first way."""
    scores = {way: [answer["rouge_l"] for answer in answers] for way, answers in of.items()}
    first, *others = scores
    return Table(
        f"ROUGE-L compared with {first}",
        ("way", *difference_columns()),
        tuple((way, *compare(scores[first], scores[way]).as_cells()) for way in others),
    )


def _judged(of: Mapping[str, Sequence[Record]], model: str) -> Table:
    def row(way: str, answers: Sequence[Record]) -> tuple[Cell, ...]:
        verdicts = [answer["judged"] for answer in answers]
        counts = (verdicts.count(verdict) for verdict in ("correct", "incorrect", "not judged"))
        return way, *counts, judged_accuracy(answers), PUBLISHED.get(way, NONE)[0]

    return Table(
        "Accuracy by a judge",
        ("way", "correct", "incorrect", "not judged", "accuracy", "published"),
        tuple(row(way, answers) for way, answers in of.items()),
        judge=judge_name(model, "accuracy"),
    )


def _notes(questions: Iterable[PaperQuestion], of: Mapping[str, Sequence[Record]]) -> tuple[str, ...]:
    asked, answers = list(questions), [answer for group in of.values() for answer in group]
    with_topic = sum(question.topic is not None for question in asked)
    with_strings = sum(bool(question.strings) for question in asked)
    written = [answer for answer in answers if not answer["declined"]]
    quoted = sum(answer["written_by"] == EXTRACTIVE for answer in written)
    failed = sum(bool(answer["fallbacks"]) for answer in answers)
    measures = sorted({answer["relevance"] for answer in answers} - {None})
    return (
        f"{len(asked)} questions, {with_topic} with a topic, {with_strings} with accepted strings.",
        f"{quoted} of {len(written)} answers are quoted from passages, without a language model.",
        *([f"A model call failed for {failed} of {len(answers)} answers."] if failed else []),
        *([f"Relevance for re-ranking and filter by {', '.join(measures)}."] if measures else []),
        "Filled in: retrieved passages of other papers than the topic, for all queries of a way.",
        "The report has other papers, questions and models, and does not name the ways of its test results.",
    )


EXPERIMENT = Experiment(
    "Ways of paper-QA",
    "paper-QA, section 6.II",
    PaperQA,
    answers_of_topic,
    summary,
    opened_questions,
    published={
        f"{way}, {measure}": value
        for way, values in PUBLISHED.items()
        for measure, value in zip(("accuracy", "ROUGE-L"), values, strict=False)
    },
    shown=tuple(f"paper-qa-{number}, ROUGE-L" for number in (1, 3, 8)),
    sample=SampleRun("full-texts", "full-texts", {"questions": "full-texts/questions.jsonl"}),
)
