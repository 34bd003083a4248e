"""Abstention of answers: declined topics, AUROC of the likelihood, and the risk-coverage curve.

Topics are answered in the order of a confidence. Coverage is the share of answered topics, and risk the share
of errors among them (El-Yaniv & Wiener, JMLR 11, 2010). AURC is the mean risk over all coverages (Geifman,
Uziel & El-Yaniv, ICLR 2019); less is better.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from statistics import fmean

from eval.experiments.answering.judged_answers import AnswerRecord, ByName
from eval.experiments.experiment import Cell, Figure, Line, Panel, Record, Table
from eval.statistics import area_under_curve, mean_of_known
from retriever.answerability import THRESHOLD


def risks(confidence: Sequence[float], errors: Sequence[bool]) -> list[float]:
    """Return the risk if the 1, 2, … n questions of highest confidence are answered.

    Questions of equal confidence share their errors equally, so that their order does not matter.
    """
    ordered = sorted(zip(confidence, errors, strict=True), key=lambda each: -each[0])
    shared: list[float] = []
    for _, group in groupby(ordered, key=lambda each: each[0]):
        wrong = [error for _, error in group]
        shared += [fmean(wrong)] * len(wrong)
    return [total / count for count, total in enumerate(accumulate(shared), 1)]


def best_risks(errors: Sequence[bool]) -> list[float]:
    """Return the risks of the best possible order: all errors last."""
    return risks([-float(error) for error in errors], errors)


def risk_at(coverage: float, of: Sequence[float]) -> float:
    """Return the risk at a coverage, 0 to 1, of `risks`: at the next number of questions."""
    return of[max(1, math.ceil(coverage * len(of) - 1e-9)) - 1]


QUOTED = "quoted sentences"  # the system without a language model
REMOVED = f"{QUOTED}, relevant papers removed"  # topics asked with and without their relevant papers
COVERAGES = tuple(place / 10 for place in range(1, 11))
THRESHOLDS = (0.0, *COVERAGES)
MEASURES = (
    "An answer is an error if no relevant paper is in its evidence, so always for topics without one.",
    "Coverage: share of topics that are answered. Risk: share of these answers that are errors.",
    (
        "AUROC: probability that a topic with relevant papers has a higher likelihood than one without. "
        "AURC: mean risk if the topics of highest likelihood are answered, over all coverages."
    ),
)


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a topic, and whether an answer is an error; a missing likelihood counts as 0."""

    likelihood: float
    answered: bool
    has_relevant: bool
    error: bool


def decisions(topics: Sequence[Record], answers: Sequence[AnswerRecord]) -> list[Decision]:
    """Return the decisions of a system; an answer without relevant evidence is an error."""
    return [
        Decision(
            answer["likelihood"] or 0.0,
            answer["answered"],
            topic["relevant"] > 0,
            error=answer["relevant_evidence"] == 0,
        )
        for topic, answer in zip(topics, answers, strict=True)
    ]


def all_decisions(topics: Sequence[Record], answers: ByName) -> dict[str, list[Decision]]:
    """Return the decisions of all systems, and those on topics whose relevant papers were removed."""
    by_name = {name: decisions(topics, of) for name, of in answers.items()}
    asked = [topic for topic in topics if "removed" in topic]
    if asked:
        without = [topic["removed"] for topic in asked]
        by_name[REMOVED] = [
            *decisions(asked, [topic["systems"][QUOTED] for topic in asked]),
            *(
                Decision(each["likelihood"] or 0.0, each["answered"], has_relevant=False, error=True)
                for each in without
            ),
        ]
    return by_name


def decisions_table(topics: Sequence[Record], answers: ByName) -> Table:
    """Count answered and declined topics with and without relevant papers."""

    def row(name: str, of: Sequence[Decision]) -> tuple[Cell, ...]:
        counts = []
        for has_relevant in (True, False):
            group = [each.answered for each in of if each.has_relevant == has_relevant]
            counts += [len(group), sum(group), len(group) - sum(group)]
        return name, *counts

    return Table(
        "Answered and declined topics",
        (
            *("answers by", "topics with relevant papers", "answered", "declined"),
            *("topics without", "answered", "declined"),
        ),
        tuple(row(name, of) for name, of in all_decisions(topics, answers).items()),
    )


def abstention_table(topics: Sequence[Record], answers: ByName) -> Table:
    """Return AUROC and AURC of the likelihood, and coverage and risk of the decisions."""
    return Table(
        "Likelihood of an answer, and risk of the answers",
        ("answers by", "AUROC", "AURC", "least possible AURC", "coverage", "risk"),
        tuple((name, *_measures(of)) for name, of in all_decisions(topics, answers).items()),
    )


def auroc(of: Sequence[Decision]) -> float | None:
    """Return the AUROC of the likelihood; None if all topics have relevant papers, or none has."""
    positive, negative = (
        [each.likelihood for each in of if each.has_relevant == has_relevant]
        for has_relevant in (True, False)
    )
    return area_under_curve(positive, negative) if positive and negative else None


def _measures(of: Sequence[Decision]) -> tuple[Cell, ...]:
    wrong = [each.error for each in of if each.answered]
    return (
        auroc(of),
        fmean(_risks(of)),
        fmean(best_risks([each.error for each in of])),
        len(wrong) / len(of),
        mean_of_known(wrong),
    )


def _risks(of: Sequence[Decision]) -> list[float]:
    return risks([each.likelihood for each in of], [each.error for each in of])


def risk_coverage_figure(topics: Sequence[Record], answers: ByName) -> Figure:
    """Draw the risk by coverage of each system, and the answered topics by threshold.

    With removed papers both panels are about quoted sentences and topics with relevant papers.
    """
    by_name = all_decisions(topics, answers)
    if removed := by_name.pop(REMOVED, None):
        by_name = {QUOTED: removed}
    quoted = by_name[QUOTED]
    curves = {name: _risks(of) for name, of in by_name.items()}
    curves["best possible order"] = best_risks([each.error for each in quoted])
    without = "the same, relevant papers removed" if removed else "topics without relevant papers"
    return Figure(
        "risk-coverage",
        _caption(removed=bool(removed)),
        (
            Panel(
                "Risk by coverage",
                "coverage: share of topics answered",
                "risk: share of errors among the answers",
                COVERAGES,
                tuple(
                    Line(name, tuple(risk_at(place, of) for place in COVERAGES))
                    for name, of in curves.items()
                ),
            ),
            Panel(
                f"Answered topics by threshold (in use: {THRESHOLD})",
                "threshold of the likelihood",
                "share of topics answered",
                THRESHOLDS,
                (
                    *_answered("topics with relevant papers", quoted, has_relevant=True),
                    *_answered(without, quoted, has_relevant=False),
                ),
            ),
        ),
    )


def _caption(*, removed: bool) -> str:
    asked = "Topics with relevant papers, searched with and without these. " if removed else ""
    return (
        f"{asked}Left: errors among the answers, if only the topics of highest likelihood are answered; "
        "lower is better. Right: topics whose likelihood reaches a threshold, for quoted sentences; the "
        "further apart the lines, the better."
    )


def _answered(label: str, of: Sequence[Decision], *, has_relevant: bool) -> list[Line]:
    """Return the share of topics whose likelihood reaches each threshold; no line without topics."""
    likelihoods = [each.likelihood for each in of if each.has_relevant == has_relevant]
    if not likelihoods:
        return []
    return [Line(label, tuple(fmean(each >= place for each in likelihoods) for place in THRESHOLDS))]
