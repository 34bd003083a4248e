"""Abstention of answers: declined topics, AUROC of the likelihood, and the risk-coverage curve.

Topics are answered in the order of a confidence. Coverage is the share of answered topics, and risk the share
of errors among them (El-Yaniv & Wiener, JMLR 11, 2010). AURC is the mean risk over all coverages (Geifman,
Uziel & El-Yaniv, ICLR 2019); less is better.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from statistics import fmean

from eval.experiments.comparing import Cell, Table
from eval.experiments.report import Figure, Line, Panel
from eval.statistics import area_under_curve, mean_of_known

QUOTED = "quoted sentences"  # the system without a language model
REMOVED = f"{QUOTED}, relevant papers removed"  # topics asked with and without their relevant papers
COVERAGES = tuple(place / 10 for place in range(1, 11))
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


def auroc(of: Sequence[Decision]) -> float | None:
    """Return the AUROC of the likelihood; None if all topics have relevant papers, or none has."""
    positive, negative = (_likelihoods(of, has_relevant) for has_relevant in (True, False))
    return area_under_curve(positive, negative) if positive and negative else None


def _likelihoods(of: Sequence[Decision], has_relevant: bool) -> list[float]:
    return [each.likelihood for each in of if each.has_relevant == has_relevant]


def _risks(of: Sequence[Decision]) -> list[float]:
    return risks([each.likelihood for each in of], [each.error for each in of])


def abstention_tables(decided: Mapping[str, Sequence[Decision]]) -> tuple[Table, ...]:
    """Return answered and declined topics, and AUROC, AURC, coverage and risk, by system."""
    counts: list[tuple[Cell, ...]] = []
    measures: list[tuple[Cell, ...]] = []
    for name, of in decided.items():
        groups = ([each.answered for each in of if each.has_relevant == kind] for kind in (True, False))
        counts.append((name, *(n for group in groups for n in (len(group), sum(group), group.count(False)))))
        wrong = [each.error for each in of if each.answered]
        rates = (len(wrong) / len(of), mean_of_known(wrong))
        measures.append((name, auroc(of), fmean(_risks(of)), *rates))
    topics = ("topics with relevant papers", "answered", "declined", "topics without", "answered", "declined")
    columns = ("AUROC", "AURC", "coverage", "risk")
    return (
        Table("Answered and declined topics", ("answers by", *topics), tuple(counts)),
        Table("Likelihood of an answer, and risk of the answers", ("answers by", *columns), tuple(measures)),
    )


def risk_coverage_figure(decided: Mapping[str, Sequence[Decision]]) -> Figure:
    """Draw the risk by coverage of each system; of quoted sentences alone if papers were removed for them."""
    removed = decided.get(REMOVED)
    shown = {QUOTED: removed} if removed else decided
    curves = {name: _risks(of) for name, of in shown.items()}
    curves["best possible order"] = best_risks([each.error for each in shown[QUOTED]])
    lines = (Line(name, tuple(risk_at(place, of) for place in COVERAGES)) for name, of in curves.items())
    across, up = "coverage: share of topics answered", "risk: share of errors among the answers"
    return Figure(
        "risk-coverage",
        "Errors among the answers, if only the topics of highest likelihood are answered; lower is better. "
        + ("Topics with relevant papers, searched with and without these." if removed else ""),
        (Panel("Risk by coverage", across, up, COVERAGES, tuple(lines)),),
    )
