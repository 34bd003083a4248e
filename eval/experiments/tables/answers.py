"""Quality of answers: citations, hints, abstention, and the choice of a language model.

Every topic is answered by quoted sentences, and by each language model. The report counts answered and
declined topics, and sentences that their citations do not support. Citation recall and precision follow ALCE
(Gao et al., EMNLP 2023). The configured language model judges; without one only sentences in the words of
their passages count as judged.

Topics without a relevant paper are included: answers should decline them. The likelihood of an answer orders
the topics for AUROC and for the risk-coverage curve. An answered topic is an error if none of its evidence is
relevant.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from base.calls import IN_FIELD, Flag, Section
from eval.accepted import contains_accepted, read_accepted
from eval.answer_quality.citations import NOT_JUDGED, Judged, citation_scores
from eval.answer_quality.judge import judge_name
from eval.answer_quality.support import judge_sentences
from eval.experiments.abstention import (
    MEASURES,
    QUOTED,
    REMOVED,
    Decision,
    abstention_tables,
    auroc,
    risk_coverage_figure,
)
from eval.experiments.calls import JudgedCall
from eval.experiments.comparing import ROWS, Column, compared, main_numbers, mean, rows_of
from eval.experiments.experiment import SECONDS, Experiment, Outcome, Record, SampleRun, TopicResult
from eval.experiments.materials import Materials, opened_materials
from eval.experiments.retrieving import run_name
from eval.files import Input
from eval.runs import as_written
from eval.statistics import mean_of_known
from generator.calls import MOST_EVIDENCE
from generator.pipeline import AskRequest, AskResult, Settings, answer_question
from generator.settings import EVIDENCE
from generator.tracing.steps import error_text
from retriever.errors import BadExpression, BadQuestion
from retriever.queries.filters import Filters

MOST_MODELS = 3  # with quoted sentences and the best order the figure has five lines
HINTS = {
    "citation": "nothing is cited",
    "number": "a number is not in the cited passages",
    "unit": "a number is there with another unit",
    "name": "a name or an abbreviation is not there",
}
DEFINITIONS = (
    "Citation recall: share of the judged sentences that their citations support; mean over answers.",
    "Citation precision: share of citations that support their sentence alone, or are needed for it.",
    "Sentences in the words of a cited passage are supported; a model judges the others, or nobody.",
    "With hints: sentences with a number or a name that the cited passages lack. Hints are no verdict.",
    "Failed calls: topics for which a model call failed; statistics or quotation replaced it.",
)


class Answers(JudgedCall):
    """Further inputs, the language models, and the passages of an answer."""

    files = (*JudgedCall.files, "answers")

    answers: Annotated[
        str | None,
        Flag(section=Section.ANSWERING, metavar="FILE"),
        Field(description='Accepted strings of correct answers, as JSON lines {"query_id", "answers"}.'),
    ] = None
    models: Annotated[
        tuple[str, ...],
        Flag(section=Section.ANSWERING, metavar="NAME[,NAME]", commas=True),
        Field(
            max_length=MOST_MODELS,
            description="Compare these models of the configured endpoint; with --model.",
        ),
    ] = ()
    evidence: Annotated[
        int,
        Flag(section=Section.ANSWERING),
        Field(ge=1, le=MOST_EVIDENCE, description="Papers used as evidence for an answer."),
    ] = EVIDENCE
    removed: Annotated[
        bool,
        Flag(section=Section.ANSWERING),
        Field(description="Ask each topic a second time without its relevant papers, for abstention."),
    ] = False

    @model_validator(mode="after")
    def _check_models(self) -> Self:
        problem = "requires model" if self.models and not self.model else ""
        if len(set(self.models)) < len(self.models):
            problem = "names a model twice"
        if problem:
            raise PydanticCustomError(IN_FIELD, "{problem}", {"field": "models", "problem": problem})
        return self


@contextmanager
def opened(call: Answers) -> Iterator[Materials]:
    """Open the inputs, with topics without a relevant paper; `own` has the accepted strings by query_id."""
    file = Input(call.answers) if call.answers is not None else None
    accepted = read_accepted(file.path, file) if file else {}
    with opened_materials(call, unjudged=True) as usual:
        more = {"answers": file} if file else {}
        yield replace(usual, inputs={**usual.inputs, **more}, own=accepted)


async def answers_of_topic(call: Answers, materials: Materials, query_id: str, question: str) -> TopicResult:
    """Answer a topic by quoted sentences and by each model, and judge the sentences of the answers."""
    records, seconds, rankings = {}, {}, {}
    request = AskRequest(question, evidence=call.evidence)
    relevant, accepted = materials.relevant(query_id), materials.own.get(query_id)
    for number, (system, settings) in enumerate(systems(call, materials.settings).items()):
        model = await materials.models.named(system) if materials.models and system != QUOTED else None
        started = time.perf_counter()
        try:
            asked = await answer_question(materials.index, request, settings, model=model)
        except (BadQuestion, BadExpression) as error:
            records[system] = {**NO_ANSWER, "error": error_text(error), "right": False if accepted else None}
            continue
        seconds[system] = round(time.perf_counter() - started, 3)
        records[system] = await answer_record(asked, materials, relevant, accepted)
        ranking = {materials.id_of(hit): hit.score for hit in reversed(asked.result.hits)}
        rankings[f"{number}-{run_name(system)}"] = as_written(ranking.items())
    record: dict[str, Any] = {"relevant": len(relevant), ROWS: records, SECONDS: seconds}
    if call.removed and relevant:
        record["removed"] = await _without_relevant(materials, relevant, request)
    return TopicResult(record, rankings)


def systems(call: Answers, settings: Settings) -> dict[str, Settings]:
    """Return the settings of each system by name: quoted sentences, and the models."""
    names = (call.models or (settings.generator.llm.model or "",)) if call.model else ()
    quoting = settings.with_llm(base_url=None)
    return {QUOTED: quoting, **{name: settings.with_model(name) for name in names}}


# The record of an answer. `error` is that of a question that cannot be searched for. `fallbacks` are the
# steps in which the model failed. `right` is null without accepted strings; a declined answer is not right.
NO_ANSWER: Record = {
    "answered": False,
    "error": "",
    "fallbacks": [],
    "likelihood": None,
    "relevant_evidence": 0,
    "cited": 0,
    "relevant_cited": 0,
    "right": None,
    "sentences": [],
}


async def answer_record(
    asked: AskResult, materials: Materials, relevant: frozenset[str], accepted: Sequence[str] | None
) -> dict[str, Any]:
    """Judge the sentences of an answer, with the language model of the materials if there is one."""
    answer, hits = asked.answer, asked.result.hits
    sentences = () if answer.abstained else answer.sentences
    evidence = {hit.passage_id: materials.id_of(hit) for hit in hits}
    cited = {evidence[passage_id] for sentence in sentences for passage_id in sentence.citations}
    passages = [hit.passage for hit in hits]
    judged = await judge_sentences(sentences, passages, answer.language, materials.model)
    text = " ".join(sentence.text for sentence in sentences)
    return {
        **NO_ANSWER,
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


async def _without_relevant(
    materials: Materials, relevant: frozenset[str], request: AskRequest
) -> dict[str, Any]:
    """Return the likelihood of an answer if the relevant papers or passages cannot be found."""
    ids = tuple(sorted(relevant))
    filters = Filters(without_papers=ids) if materials.collapses else Filters(without=ids)
    settings = materials.settings.with_llm(base_url=None)
    asked = await answer_question(materials.index, replace(request, filters=filters), settings)
    return {"likelihood": likelihood_of(asked), "answered": not asked.answer.abstained}


def judgements(answers: Sequence[Record]) -> list[list[Judged]]:
    """Return the judged sentences of each answer; declined topics are left out."""
    return [[each["judged"] for each in answer["sentences"]] for answer in answers if answer["answered"]]


def _sentences(has: Callable[[Judged], bool]) -> Column:
    """Return the column of the number of sentences that satisfy a condition."""
    return lambda answers: sum(has(each) for answer in judgements(answers) for each in answer)


def _answered(value: Callable[[Record], float]) -> Column:
    """Return the column of the mean over the answered topics that have relevant papers."""
    return lambda answers: mean_of_known(
        value(each) for each in answers if each["answered"] and each["topic"]
    )


def _share_cited(answers: Sequence[Record]) -> float | None:
    answered = [each for each in answers if each["answered"] and each["topic"]]
    cited = sum(each["cited"] for each in answered)
    return sum(each["relevant_cited"] for each in answered) / cited if cited else None


CITATIONS: Mapping[str, Column] = {
    "answers": lambda answers: len(judgements(answers)),
    "sentences": _sentences(lambda _: True),
    "citation recall": lambda answers: citation_scores(judgements(answers)).recall,
    "citation precision": lambda answers: citation_scores(judgements(answers)).precision,
    "unsupported": _sentences(lambda each: each["verdict"] == "unsupported"),
    "not judged": _sentences(lambda each: each["verdict"] == NOT_JUDGED),
    "without citation": _sentences(lambda each: not each["precise"]),
    "with hints": _sentences(lambda each: bool(each["hints"])),
    "failed calls": lambda answers: sum(bool(answer["fallbacks"]) for answer in answers),
    "right answers": mean("right"),
}
EVIDENCE_COLUMNS: Mapping[str, Column] = {
    "topics": lambda answers: sum(each["answered"] and each["topic"] for each in answers),
    "with a relevant paper in the evidence": _answered(lambda each: each["relevant_evidence"] > 0),
    "with a relevant paper cited": _answered(lambda each: each["relevant_cited"] > 0),
    "share of cited papers that are relevant": _share_cited,
}


def summary(call: Answers, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compute the tables and the figure; one row for each system."""
    systems = rows_of(topics, topics[0][ROWS])
    for answers in systems.values():
        for topic, answer in zip(topics, answers, strict=True):
            answer["topic"] = topic["relevant"] > 0
    model = materials.settings.generator.llm.model or ""
    citations = compared("Citations of the answers", "answers by", systems, CITATIONS)
    hints = {f"{code}: {meaning}": _sentences(_has_hint(code)) for code, meaning in HINTS.items()}
    decided = all_decisions(topics, systems)
    main: dict[str, float | None] = {f"AUROC, {name}": auroc(of) for name, of in decided.items()}
    columns = {name: CITATIONS[name] for name in ("citation recall", "citation precision", "right answers")}
    return Outcome(
        (
            replace(citations, judge=judge_name(model, "check") if call.model else ""),
            compared("Sentences with each hint", "answers by", systems, hints),
            *abstention_tables(decided),
            compared(
                "Evidence of answered topics that have relevant papers",
                "answers by",
                systems,
                EVIDENCE_COLUMNS,
            ),
        ),
        (risk_coverage_figure(decided),),
        (*DEFINITIONS, *MEASURES, *_notes(call, materials, topics, model)),
        {name: value for name, value in main.items() if value is not None} | main_numbers(systems, columns),
    )


def _has_hint(code: str) -> Callable[[Judged], bool]:
    return lambda sentence: code in sentence["hints"]


def all_decisions(
    topics: Sequence[Record], systems: Mapping[str, Sequence[Record]]
) -> dict[str, list[Decision]]:
    """Return the decisions of all systems, and those on topics whose relevant papers were removed."""
    decided = {name: list(map(_decision, answers)) for name, answers in systems.items()}
    if asked := [topic for topic in topics if "removed" in topic]:
        removed = (topic["removed"] for topic in asked)
        decided[REMOVED] = [
            *(_decision(topic[ROWS][QUOTED]) for topic in asked),
            *(_decision({**each, "topic": False, "relevant_evidence": 0}) for each in removed),
        ]
    return decided


def _decision(answer: Record) -> Decision:
    """Return the decision of a system; an answer without relevant evidence is an error."""
    wrong = answer["relevant_evidence"] == 0
    return Decision(answer["likelihood"] or 0.0, answer["answered"], answer["topic"], wrong)


def _notes(call: Answers, materials: Materials, topics: Sequence[Record], model: str) -> list[str]:
    without = sum(not topic["relevant"] for topic in topics)
    unjudged = sum(not materials.qrels[query_id] for query_id in materials.topics)
    failed = sum(bool(answer["error"]) for topic in topics for answer in topic[ROWS].values())
    notes = [
        f"{without} of {len(topics)} topics have no relevant paper, {unjudged} of them without qrels.",
        "Seconds of a question are in times.json. They include waiting for concurrent topics (--parallel).",
    ]
    if materials.inputs.get("answers"):
        notes.append("Right answers contain an accepted string; shares of the topics with such strings.")
    if call.model:
        notes.append(f"{model} judges the answers of all systems, also its own.")
    if failed:
        notes.append(f"{failed} answers are missing: their questions cannot be searched for.")
    return notes


EXPERIMENT = Experiment(
    Answers,
    answers_of_topic,
    summary,
    opened,
    shown=(
        f"citation recall, {QUOTED}",
        f"citation precision, {QUOTED}",
        f"right answers, {QUOTED}",
        f"AUROC, {QUOTED}",
        f"AUROC, {REMOVED}",
    ),
    sample=SampleRun(options={"answers": "answers.jsonl", "removed": True}),
)
