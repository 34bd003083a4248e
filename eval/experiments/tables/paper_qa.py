"""Ways of paper-QA: accuracy and ROUGE-L of the eight ways from a question on a paper to a brief answer.

QUESTIONS are JSON lines with `query_id`, `question` and `answers` (reference texts), and optionally `topic`
(id or exact title of the paper) and `strings` (a correct answer contains one of them). The report does not
define accuracy. Here it is the share of answers that contain an accepted string, and, with a language model,
also the share that the model judges correct by the rubric of the prompt `accuracy`. ROUGE-L is the F1 with
the best reference; Korean texts are compared by morphemes. A declined answer is incorrect and has ROUGE-L 0.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from base.calls import Flag, Section
from eval.accepted import contains_accepted
from eval.answer_quality.judging import judge_answer, judge_name
from eval.answer_quality.rouge import rouge_l
from eval.collection import PaperQuestion, read_query_lines
from eval.experiments.comparing import (
    SECONDS,
    TESTED,
    Column,
    Comparison,
    Outcome,
    Record,
    mean,
    number,
    total,
)
from eval.experiments.experiment import Experiment, Results, SampleRun, Topic, TopicResult, result_of
from eval.experiments.materials import ANSWERING, ARGUMENT, IndexCall, Inputs, option
from eval.files import Input
from eval.runs import as_written
from eval.statistics import mean_of_known
from generator.answers.answer import EXTRACTIVE
from generator.calls import MOST_EVIDENCE
from generator.llm import LanguageModel
from generator.pipeline import AskResult, answer_question
from generator.ways import make_request, takes

# Accuracy, ROUGE-L, and questions with a ROUGE-L above .7, .5 and .3 (section 6.II).
PUBLISHED: Mapping[str, Sequence[float | None]] = {
    "paper-qa-1": (0.30, 0.1749, 0, 0, 17),
    "paper-qa-2": (0.38, 0.1880, 0, 1, 20),
    "paper-qa-3": (0.36, 0.1857, 0, 0, 20),
    "paper-qa-4": (0.27, 0.1674, 0, 0, 16),
    "paper-qa-5": (0.35, 0.1831, 0, 0, 22),
    "paper-qa-6": (0.34, 0.2043, 3, 4, 22),
    "paper-qa-7": (0.32, 0.2017, 3, 5, 23),
    "paper-qa-8": (0.36, 0.2809, 7, 8, 33),
    "test set, way not named": (0.48, 0.2990, None, None, None),
    "test set, baseline": (0.43, 0.21221, None, None, None),
}
WAYS = tuple(name for name in PUBLISHED if name.startswith("paper-qa"))


class PaperQA(IndexCall):
    """The questions, which ways answer, and from how many passages."""

    questions: str = option("File of questions with reference answers, JSON lines.", flag=ARGUMENT)
    ways: tuple[str, ...] = option(
        "Ways to compare; default paper-qa-1 to -8.",
        WAYS,
        replace(ANSWERING, name="--way", metavar="WAY[,WAY]", commas=True),
        min_length=1,
    )
    evidence: int = option("Passages from which an answer is written.", 5, ANSWERING, ge=1, le=MOST_EVIDENCE)
    stem: bool = option(
        "Compare the stems of English words in ROUGE-L.", default=False, flag=Flag(section=Section.OUTPUT)
    )


def read(call: PaperQA, _: Any) -> Inputs:
    """Read the questions, which are `own` by query_id."""
    files = {"questions": Input(call.questions)}
    questions = read_query_lines(files["questions"], PaperQuestion, "questions")
    texts = {query_id: question.question for query_id, question in questions.items()}
    return Inputs(topics=texts, files=files, own=questions)


async def answers_of_topic(topic: Topic) -> TopicResult:
    """Answer a question by every way; the rankings are the evidence of the answers."""
    call, materials, asked = topic.call, topic.materials, topic.materials.own[topic.query_id]
    rows, seconds, rankings = {}, {}, {}
    for way in call.ways:
        given = {"topic": asked.topic if takes(way, "topic") else None, "evidence": call.evidence}
        request = make_request(materials.settings, topic.question, way=way, hops="never", **given)
        started = time.perf_counter()
        answered = await answer_question(materials.index, request, materials.settings, model=materials.model)
        seconds[way] = round(time.perf_counter() - started, 3)
        rows[way] = await answer_record(asked, answered, materials.model, stem=call.stem)
        rankings[way] = as_written((hit.passage_id, hit.score) for hit in answered.evidence)
    return result_of(rows, rankings, **{SECONDS: seconds})


async def answer_record(
    question: PaperQuestion, asked: AskResult, model: LanguageModel | None, *, stem: bool
) -> dict[str, Any]:
    """Return the quality of an answer and the counts of its steps, as JSON.

    A declined answer has no text: its ROUGE-L is 0, and it is not correct. `accepted` is null for a question
    without accepted strings, `judged` without a model.
    """
    answer, steps = asked.answer, list(asked.trace.steps())
    text = "" if answer.abstained else " ".join(sentence.text for sentence in answer.sentences)
    others = [step["output"].get("of_other_papers", {}) for step in steps if step["name"] == "retrieve"]
    judged, why = ("incorrect", "declined") if model else (None, "")
    if model and text:
        judgement = await judge_answer(question.question, question.answers, text, model)
        judged, why = judgement.verdict, judgement.why
    return {
        "answer": text,
        "written_by": answer.written_by,
        "declined": answer.abstained,
        "without evidence": not asked.evidence,
        "rouge_l": rouge_l(text, question.answers, stem=stem),
        "accepted": contains_accepted(text, question.strings) if question.strings else None,
        "judged": judged,
        "why": why,
        "k": [step["inputs"]["k"] for step in steps if step["name"] in {"retrieve", "fuse", "rerank"}],
        "filled in": sum(sum(counts.values()) for counts in others),
        "fallbacks": [step["name"] for step in steps if step.get("fallback")],
    }


def _passages(place: int) -> Column:
    """Return the column K1 (of each query), K2 (after fusion) or K3 (for the answer)."""

    def of(answers: Sequence[Record]) -> int | None:
        numbers: Sequence[int] = max((answer["k"] for answer in answers), key=len)
        return numbers[place] if place < len(numbers) else None

    return of


def judged_accuracy(answers: Sequence[Record]) -> float | None:
    """Return the share of correct answers among the judged ones; None if there are none."""
    verdicts = (answer["judged"] for answer in answers)
    return mean_of_known(verdict == "correct" for verdict in verdicts if verdict in {"correct", "incorrect"})


SCORES: Mapping[str, Column] = {"accuracy": mean("accepted"), "ROUGE-L": mean("rouge_l")}
COUNTS: Mapping[str, Column] = {
    f"> {bound}": number(lambda answer, bound=bound: answer["rouge_l"] > bound)  # type: ignore[misc]
    for bound in (0.7, 0.5, 0.3)
}
COLUMNS: Mapping[str, Column] = {
    **{f"K{place + 1}": _passages(place) for place in range(3)},
    **SCORES,
    **COUNTS,
    **{name: total(name) for name in ("filled in", "without evidence", "declined")},
}
TABLE = Comparison(
    "",
    "way",
    COLUMNS,
    "rouge_l",
    "difference of ROUGE-L",
    main=SCORES,
    published=PUBLISHED,
    measures=(*SCORES, *COUNTS),
)
JUDGED: Mapping[str, Column] = {
    **{
        verdict: number(lambda answer, verdict=verdict: answer["judged"] == verdict)  # type: ignore[misc]
        for verdict in ("correct", "incorrect", "not judged")
    },
    "accuracy": judged_accuracy,
}


def summary(of: Results) -> Outcome:
    """Compute a row for each way."""
    call, rows = of.call, of.rows(of.call.ways)
    title = f"Ways of paper-QA, accuracy by accepted strings; ROUGE-L compared with {call.ways[0]}"
    tables = [replace(TABLE, title=title).table(rows)]
    if call.model:
        judge = judge_name(of.materials.settings.generator.llm.model or "", "accuracy")
        tables.append(Comparison("Accuracy by a judge", "way", JUDGED, judge=judge).table(rows))
    notes = _notes(list(of.materials.own.values()), [each for answers in rows.values() for each in answers])
    return Outcome(tuple(tables), notes=tuple(notes))


def _notes(asked: Sequence[PaperQuestion], answers: Sequence[Record]) -> Iterator[str]:
    with_topic = sum(question.topic is not None for question in asked)
    with_strings = sum(bool(question.strings) for question in asked)
    yield f"{len(asked)} questions, {with_topic} with a topic, {with_strings} with accepted strings."
    written = [answer for answer in answers if not answer["declined"]]
    quoted = sum(answer["written_by"] == EXTRACTIVE for answer in written)
    yield f"{quoted} of {len(written)} answers are quoted from passages, without a language model."
    if failed := sum(bool(answer["fallbacks"]) for answer in answers):
        yield f"A model call failed for {failed} of {len(answers)} answers."
    yield "Filled in: retrieved passages of other papers than the topic, for all queries of a way."
    yield f"The report has other papers, questions and models. {TESTED}"


EXPERIMENT = Experiment(
    PaperQA,
    answers_of_topic,
    summary,
    read,
    published={
        f"{measure}, {way}": PUBLISHED[way][place] or 0.0
        for way in WAYS
        for place, measure in enumerate(SCORES)
    },
    sample=SampleRun("full-texts", "full-texts", {"questions": "full-texts/questions.jsonl"}),
)
