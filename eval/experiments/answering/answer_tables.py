"""Outcome of the experiment `answers`: one row for each system, and the choice of a language model."""

from collections.abc import Sequence
from statistics import fmean, median

from eval.answer_quality.citations import citation_scores
from eval.answer_quality.judge import judge_name
from eval.experiments.answering.abstention import (
    MEASURES,
    abstention_table,
    all_decisions,
    auroc,
    decisions_table,
    risk_coverage_figure,
)
from eval.experiments.answering.citation_tables import (
    DEFINITIONS,
    citation_table,
    hints_table,
    judgements,
)
from eval.experiments.answering.judged_answers import AnswerRecord, ByName
from eval.experiments.experiment import SECONDS, Cell, JudgedCall, Outcome, Record, Table
from eval.experiments.materials import Materials
from eval.statistics import mean_of_known

Answers = Sequence[AnswerRecord]


def summary(call: JudgedCall, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compute the tables and the figure; one row for each system."""
    answers: ByName = {name: [topic["systems"][name] for topic in topics] for name in topics[0]["systems"]}
    model = materials.settings.generator.llm.model or ""
    judge = judge_name(model, "check") if call.model else ""
    return Outcome(
        (
            _systems(answers, judge),
            citation_table(answers, judge),
            hints_table(answers),
            decisions_table(topics, answers),
            abstention_table(topics, answers),
            _evidence(topics, answers),
            _times(topics, answers, judge),
        ),
        (risk_coverage_figure(topics, answers),),
        (*DEFINITIONS, *MEASURES, *_notes(call, materials, topics, model)),
        _main(topics, answers),
    )


def _notes(call: JudgedCall, materials: Materials, topics: Sequence[Record], model: str) -> list[str]:
    without = [query_id for query_id in materials.topics if not materials.relevant(query_id)]
    unjudged = sum(not materials.qrels[query_id] for query_id in without)
    failed = sum(bool(answer["error"]) for topic in topics for answer in topic["systems"].values())
    notes = [
        f"{len(without)} of {len(topics)} topics have no relevant paper, {unjudged} of them without qrels.",
        "Seconds of a question are in times.json. They include waiting for concurrent topics (--parallel).",
    ]
    if materials.inputs.get("answers"):
        notes.append("Right answers contain an accepted string; shares of the topics with such strings.")
    if call.model:
        notes.append(f"{model} judges the answers of all systems, also its own.")
    if failed:
        notes.append(f"{failed} answers are missing: their questions cannot be searched for.")
    return notes


QUALITY = (
    *("answers by", "topics answered", "citation recall", "citation precision"),
    *("share with hints", "right answers"),
)


def _quality(system: str, of: Answers) -> tuple[Cell, ...]:
    """Return the values of QUALITY, shares except for the first number."""
    judged = judgements(of)
    sentences = [each for answer in judged for each in answer]
    scores = citation_scores(judged)
    return (
        *(system, len(judged), scores.recall, scores.precision),
        mean_of_known(bool(each["hints"]) for each in sentences),
        _right(of),
    )


def _right(of: Answers) -> float | None:
    """Return the share of right answers to topics with accepted strings; None without such topics."""
    return mean_of_known(answer["right"] for answer in of)


def _systems(answers: ByName, judge: str) -> Table:
    rows = tuple(_quality(system, of) for system, of in answers.items())
    return Table("Quality of each system", QUALITY, rows, judge=judge)


def _times(topics: Sequence[Record], answers: ByName, judge: str) -> Table:
    """Return quality and time of each system, for the choice of a model."""

    def row(system: str, of: Answers) -> tuple[Cell, ...]:
        seconds = [topic[SECONDS][system] for topic in topics if system in topic[SECONDS]]
        times = (fmean(seconds), median(seconds), max(seconds)) if seconds else (None, None, None)
        return *_quality(system, of), *times

    return Table(
        "Quality and seconds of a question",
        (*QUALITY, "mean seconds", "median", "maximum"),
        tuple(row(system, of) for system, of in answers.items()),
        judge=judge,
        timed=True,
    )


def _evidence(topics: Sequence[Record], answers: ByName) -> Table:
    """Return the shares of answered topics whose evidence, or whose citations, contain a relevant paper."""

    def row(system: str, of: Answers) -> tuple[Cell, ...]:
        pairs = zip(topics, of, strict=True)
        answered = [answer for topic, answer in pairs if topic["relevant"] and answer["answered"]]
        cited = sum(answer["cited"] for answer in answered)
        return (
            *(system, len(answered)),
            mean_of_known(answer["relevant_evidence"] > 0 for answer in answered),
            mean_of_known(answer["relevant_cited"] > 0 for answer in answered),
            sum(answer["relevant_cited"] for answer in answered) / cited if cited else None,
        )

    return Table(
        "Evidence of answered topics that have relevant papers",
        (
            *("answers by", "topics", "with a relevant paper in the evidence", "with a relevant paper cited"),
            "share of cited papers that are relevant",
        ),
        tuple(row(system, of) for system, of in answers.items()),
    )


def _main(topics: Sequence[Record], answers: ByName) -> dict[str, float]:
    """Return citation recall and precision, the share of right answers, and AUROC."""
    decided = all_decisions(topics, answers)
    main: dict[str, float | None] = {f"AUROC, {name}": auroc(of) for name, of in decided.items()}
    for name, of in answers.items():
        scores = citation_scores(judgements(of))
        main |= {
            f"citation recall, {name}": scores.recall,
            f"citation precision, {name}": scores.precision,
            f"right answers, {name}": _right(of),
        }
    return {name: value for name, value in main.items() if value is not None}
