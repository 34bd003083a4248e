"""Quality of answers: citations, hints, abstention, and the choice of a language model.

Every topic is answered by quoted sentences, and by each language model. The report counts answered and
declined topics, and sentences that their citations do not support. Citation recall and precision follow ALCE
(Gao et al., EMNLP 2023). The configured language model judges; without one only sentences in the words of
their passages count as judged.

Topics without a relevant paper are included: answers should decline them. The likelihood of an answer orders
the topics for AUROC and for the risk-coverage curve. An answered topic is an error if none of its evidence is
relevant.

A hint is a number or a name that the cited passages lack, and no verdict. A failed call of the model was
replaced by statistics or quotation. Topics are answered in the order of the likelihood. Coverage is the share
of answered topics, and risk the share of errors among them (El-Yaniv & Wiener, JMLR 11, 2010). AURC is the
mean risk over all coverages (Geifman, Uziel & El-Yaniv, ICLR 2019); less is better.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from statistics import fmean
from typing import Any

from base.errors import InvalidCall
from eval.accepted import contains_accepted, read_accepted
from eval.answer_quality import NOT_JUDGED, Judged, citation_scores, judge_name, judge_sentences
from eval.experiments.comparing import (
    ROWS,
    SECONDS,
    Column,
    Comparison,
    Figure,
    Line,
    Outcome,
    Panel,
    Record,
    mean,
    number,
)
from eval.experiments.experiment import Experiment, Results, SampleRun, Topic, TopicResult, run_name
from eval.experiments.materials import ANSWERING, Inputs, JudgedCall, Materials, option, read_judged
from eval.files import Input
from eval.runs import as_written
from eval.statistics import area_under_curve, mean_of_known
from generator.calls import MOST_EVIDENCE
from generator.pipeline import AskRequest, AskResult, answer_question
from generator.settings import EVIDENCE
from retriever.queries.filters import Filters

QUOTED = "quoted sentences"  # the system without a language model
REMOVED = f"{QUOTED}, relevant papers removed"  # topics asked with and without their relevant papers
COVERAGES = tuple(place / 10 for place in range(1, 11))


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


def auroc(answers: Sequence[Record]) -> float | None:
    """Return the AUROC of the likelihood; None if all topics have relevant papers, or none has."""
    groups = [
        [each["likelihood"] or 0.0 for each in answers if each["topic"] == kind] for kind in (True, False)
    ]
    return area_under_curve(*groups) if all(groups) else None


def _errors(answers: Sequence[Record]) -> list[bool]:
    """Return whether each answer is an error: without relevant evidence."""
    return [each["relevant_evidence"] == 0 for each in answers]


def _risks(answers: Sequence[Record]) -> list[float]:
    return risks([each["likelihood"] or 0.0 for each in answers], _errors(answers))


def risk_coverage_figure(decided: Mapping[str, Sequence[Record]]) -> Figure:
    """Draw the risk by coverage of each system; of quoted sentences alone if papers were removed for them."""
    removed = decided.get(REMOVED)
    shown = {QUOTED: removed} if removed else decided
    curves = {name: _risks(of) for name, of in shown.items()}
    curves["best possible order"] = best_risks(_errors(shown[QUOTED]))
    lines = (Line(name, tuple(risk_at(place, of) for place in COVERAGES)) for name, of in curves.items())
    across, up = "coverage: share of topics answered", "risk: share of errors among the answers"
    return Figure(
        "risk-coverage",
        "Errors among the answers, if only the topics of highest likelihood are answered; lower is better. "
        + ("Topics with relevant papers, searched with and without these." if removed else ""),
        (Panel("Risk by coverage", across, up, COVERAGES, tuple(lines)),),
    )


MOST_MODELS = 3  # with quoted sentences and the best order the figure has five lines
HINTS = {
    "citation": "nothing is cited",
    "number": "a number is not in the cited passages",
    "unit": "a number is there with another unit",
    "name": "a name or an abbreviation is not there",
}


class Answers(JudgedCall):
    """Further inputs, the language models, and the passages of an answer."""

    answers: str | None = option(
        'Accepted strings of correct answers, as JSON lines {"query_id", "answers"}.',
        None,
        replace(ANSWERING, metavar="FILE"),
    )
    models: tuple[str, ...] = option(
        "With --model, compare these models of the configured endpoint.",
        (),
        replace(ANSWERING, metavar="NAME[,NAME]", commas=True),
        max_length=MOST_MODELS,
    )
    evidence: int = option(
        "Papers used as evidence for an answer.", EVIDENCE, ANSWERING, ge=1, le=MOST_EVIDENCE
    )
    removed: bool = option(
        "Ask each topic a second time without its relevant papers.",
        default=False,
        flag=ANSWERING,
    )


def read(call: Answers, _: Any) -> Inputs:
    """Read the inputs, with topics without a relevant paper; `own` has the accepted strings by query_id."""
    if call.models and not call.model:
        raise InvalidCall("--models requires --model")
    files = {"answers": Input(call.answers)} if call.answers is not None else {}
    accepted = read_accepted(files["answers"]) if files else {}
    usual = read_judged(call, unjudged=True)
    return replace(usual, files={**usual.files, **files}, own=accepted)


async def answers_of_topic(topic: Topic) -> TopicResult:
    """Answer a topic by quoted sentences and by each model, and judge the sentences of the answers."""
    rows, seconds, rankings = {}, {}, {}
    call, materials, relevant = topic.call, topic.materials, topic.relevant
    request, accepted = AskRequest(topic.question, evidence=call.evidence), materials.own.get(topic.query_id)
    quoting = materials.settings.with_llm(base_url=None)
    names = (
        (dict.fromkeys(call.models) or (materials.settings.generator.llm.model or "",)) if call.model else ()
    )
    for place, system in enumerate((QUOTED, *names)):
        settings, model = quoting, None
        if materials.open_model and place:
            settings = materials.settings.with_model(system)
            model = await materials.open_model(settings)
        started = time.perf_counter()
        asked = await answer_question(materials.index, request, settings, model=model)
        seconds[system] = round(time.perf_counter() - started, 3)
        rows[system] = await answer_record(asked, materials, relevant, accepted)
        ranking = {materials.id_of(hit): hit.score for hit in reversed(asked.result.hits)}
        rankings[f"{place}-{run_name(system)}"] = as_written(ranking.items())
    record: dict[str, Any] = {"relevant": len(relevant), ROWS: rows, SECONDS: seconds}
    if call.removed and relevant:
        # The likelihood of an answer if the relevant papers or passages cannot be found.
        ids = tuple(sorted(relevant))
        filters = Filters(without_papers=ids) if materials.collapses else Filters(without=ids)
        asked = await answer_question(materials.index, replace(request, filters=filters), quoting)
        record["removed"] = {"likelihood": likelihood_of(asked), "answered": not asked.answer.abstained}
    return TopicResult(record, rankings)


async def answer_record(
    asked: AskResult, materials: Materials, relevant: frozenset[str], accepted: Sequence[str] | None
) -> dict[str, Any]:
    """Judge the sentences of an answer, with the language model of the materials if there is one.

    In the record `fallbacks` are the steps in which the model failed, and `right` is null without accepted
    strings; a declined answer is not right.
    """
    answer, hits = asked.answer, asked.result.hits
    sentences = () if answer.abstained else answer.sentences
    evidence = {hit.passage_id: materials.id_of(hit) for hit in hits}
    cited = {evidence[passage_id] for sentence in sentences for passage_id in sentence.citations}
    passages = [hit.passage for hit in hits]
    judged = await judge_sentences(sentences, passages, answer.language, materials.model)
    text = " ".join(sentence.text for sentence in sentences)
    return {
        "answered": not answer.abstained,
        "fallbacks": [step["name"] for step in asked.trace.steps() if step.get("fallback")],
        "likelihood": likelihood_of(asked),
        "relevant_evidence": len(relevant.intersection(evidence.values())),
        "cited": len(cited),
        "relevant_cited": len(relevant & cited),
        "right": None if accepted is None else contains_accepted(text, accepted),
        "sentences": [
            {"text": sentence.text, "citations": list(sentence.citations), "judged": of_sentence}
            for sentence, of_sentence in zip(sentences, judged, strict=True)
        ],
    }


def likelihood_of(asked: AskResult) -> float | None:
    """Return the likelihood that the evidence answers, to four places, as in the JSON of an answer."""
    likelihood = asked.result.likelihood
    return None if likelihood is None else round(likelihood, 4)


def _judged(answers: Sequence[Record]) -> list[list[Judged]]:
    """Return the judged sentences of each answer; declined topics are left out."""
    return [[each["judged"] for each in answer["sentences"]] for answer in answers if answer["answered"]]


def _sentences(has: Callable[[Judged], object]) -> Column:
    """Return the column of the number of sentences that satisfy a condition."""
    return lambda answers: sum(bool(has(each)) for answer in _judged(answers) for each in answer)


def _with_evidence(answers: Sequence[Record]) -> list[Record]:
    """Return the answers to topics that have relevant papers."""
    return [each for each in answers if each["answered"] and each["topic"]]


def _share_cited(answers: Sequence[Record]) -> float | None:
    cited = sum(each["cited"] for each in _with_evidence(answers))
    return sum(each["relevant_cited"] for each in _with_evidence(answers)) / cited if cited else None


def _has(part: str) -> Column:
    """Return the column of the share of answers with a relevant paper in a part."""
    return lambda answers: mean_of_known(each[part] > 0 for each in _with_evidence(answers))


MAIN: dict[str, Column] = {
    "citation recall": lambda answers: citation_scores(_judged(answers))[0],
    "citation precision": lambda answers: citation_scores(_judged(answers))[1],
    "right answers": mean("right"),
}
CITATIONS: dict[str, Column] = {
    "answers": lambda answers: len(_judged(answers)),
    "sentences": _sentences(lambda _: True),
    "citation recall": MAIN["citation recall"],
    "citation precision": MAIN["citation precision"],
    "unsupported": _sentences(lambda each: each["verdict"] == "unsupported"),
    "not judged": _sentences(lambda each: each["verdict"] == NOT_JUDGED),
    "without citation": _sentences(lambda each: not each["precise"]),
    "with hints": _sentences(lambda each: each["hints"]),
    "failed calls": number("fallbacks"),
    "right answers": MAIN["right answers"],
}
OF_HINTS: dict[str, Column] = {
    f"{code}: {meaning}": _sentences(lambda each, code=code: code in each["hints"])  # type: ignore[misc]
    for code, meaning in HINTS.items()
}
DECISIONS: dict[str, Column] = {
    "topics with relevant papers": number("topic"),
    "of them answered": number(lambda answer: answer["topic"] and answer["answered"]),
    "declined": number(lambda answer: answer["topic"] and not answer["answered"]),
    "topics without": number(lambda answer: not answer["topic"]),
    "answered": number(lambda answer: not answer["topic"] and answer["answered"]),
    "rightly declined": number(lambda answer: not answer["topic"] and not answer["answered"]),
}
LIKELIHOOD: dict[str, Column] = {
    "AUROC": auroc,
    "AURC": lambda answers: fmean(_risks(answers)),
    "coverage": mean("answered"),
    "risk": lambda answers: mean_of_known(_errors([each for each in answers if each["answered"]])),
}
EVIDENCE_COLUMNS: dict[str, Column] = {
    "topics": lambda answers: len(_with_evidence(answers)),
    "with a relevant paper in the evidence": _has("relevant_evidence"),
    "with a relevant paper cited": _has("relevant_cited"),
    "share of cited papers that are relevant": _share_cited,
}


def summary(of: Results) -> Outcome:
    """Compute the tables and the figure; one row for each system."""
    topics, call = of.topics, of.call
    rows = {
        name: [{**each, "topic": topic["relevant"] > 0} for each, topic in zip(answers, topics, strict=True)]
        for name, answers in of.rows(topics[0][ROWS]).items()
    }
    model = of.materials.settings.generator.llm.model or ""
    judge = judge_name(model, "check") if call.model else ""
    decided = dict(rows)
    asked = [each for each in zip(topics, rows[QUOTED], strict=True) if "removed" in each[0]]
    if asked:
        removed = [{**topic["removed"], "topic": False, "relevant_evidence": 0} for topic, _ in asked]
        decided[REMOVED] = [*(answer for _, answer in asked), *removed]
    likelihood = "Likelihood of an answer, and risk of the answers"
    evidence = "Evidence of answered topics that have relevant papers"
    tables = (
        Comparison("Citations of the answers", "answers by", CITATIONS, judge=judge, main=MAIN).table(rows),
        Comparison("Sentences with each hint", "answers by", OF_HINTS).table(rows),
        Comparison("Answered and declined topics", "answers by", DECISIONS).table(decided),
        Comparison(likelihood, "answers by", LIKELIHOOD, main={"AUROC": auroc}).table(decided),
        Comparison(evidence, "answers by", EVIDENCE_COLUMNS).table(rows),
    )
    return Outcome(tables, (risk_coverage_figure(decided),), tuple(_notes(of, model)))


def _notes(of: Results, model: str) -> Iterator[str]:
    without, materials = of.count(lambda topic: not topic["relevant"]), of.materials
    unjudged = sum(not materials.qrels[query_id] for query_id in materials.topics)
    yield f"{without} of {len(of.topics)} topics have no relevant paper, {unjudged} of them without qrels."
    yield "Seconds of a question are in times.json. They include waiting for concurrent topics (--parallel)."
    if materials.files.get("answers"):
        yield "Right answers contain an accepted string; shares of the topics with such strings."
    if of.call.model:
        yield f"{model} judges the answers of all systems, also its own."


EXPERIMENT = Experiment(
    Answers,
    answers_of_topic,
    summary,
    read,
    sample=SampleRun(options={"answers": "answers.jsonl", "removed": True}),
)
