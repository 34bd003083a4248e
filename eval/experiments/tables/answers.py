"""Quality of answers: citations, hints, abstention, and the choice of a language model.

Every topic is answered by quoted sentences, and by each language model. The report counts answered and
declined topics, and sentences that their citations do not support. Citation recall and precision follow ALCE
(Gao et al., EMNLP 2023). The configured language model judges; without one only sentences in the words of
their passages count as judged.

Topics without a relevant paper are included: answers should decline them. The likelihood of an answer orders
the topics for AUROC and for the risk-coverage curve. An answered topic is an error if none of its evidence is
relevant.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from base.calls import IN_FIELD, Flag, Section
from base.errors import InvalidCall
from eval.accepted import read_accepted
from eval.experiments.answering.abstention import QUOTED, REMOVED
from eval.experiments.answering.answer_tables import summary
from eval.experiments.answering.judged_answers import answer_record, likelihood_of, without_answer
from eval.experiments.experiment import SECONDS, Experiment, JudgedCall, SampleRun, TopicResult
from eval.experiments.judged_ids import in_unit_of
from eval.experiments.materials import (
    Materials,
    opened_index,
    settings_for,
)
from eval.experiments.retrieving import run_name
from eval.files import Input
from eval.qrels import read_qrels
from eval.runs import as_written
from eval.topics import read_topics
from generator.calls import MOST_EVIDENCE
from generator.pipeline import AskRequest, Settings, answer_question
from generator.settings import EVIDENCE
from retriever.errors import BadExpression, BadQuestion
from retriever.queries.filters import Filters

MOST_MODELS = 3  # with quoted sentences and the best order the figure has five lines


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


@dataclass(frozen=True, slots=True)
class AnswerMaterials(Materials):
    """All topics, also those without a relevant paper, with accepted strings by query_id if there are any."""

    accepted: Mapping[str, list[str]] = field(default_factory=dict)


@contextmanager
def opened(call: Answers) -> Iterator[AnswerMaterials]:
    """Open the index; read topics, qrels and accepted strings. A topic without qrels has no relevant paper.

    Raises:
        BadTopics, BadQrels: with file and line.
        InvalidCall: no topic has a relevant judgement.
        ResourceError: as `open_index`.
    """
    inputs = {"topics": Input(call.topics), "qrels": Input(call.qrels)}
    topics, qrels = read_topics(call.topics, inputs["topics"]), read_qrels(call.qrels, inputs["qrels"])
    if not any(grade > 0 for query_id in topics for grade in qrels.get(query_id, {}).values()):
        raise InvalidCall(f"no topic of {call.topics} has a relevant judgement in {call.qrels}")
    accepted: Mapping[str, list[str]] = {}
    if call.answers is not None:
        inputs["answers"] = Input(call.answers)
        accepted = read_accepted(call.answers, inputs["answers"])
    settings = settings_for(call)
    judged = [query_id for query_id in topics if query_id in qrels]
    with opened_index(call.index, settings) as index:
        qrels, notes = asyncio.run(in_unit_of(index, qrels, judged, call.qrels))
        of_topics = {query_id: qrels.get(query_id, {}) for query_id in topics}
        yield AnswerMaterials(index, topics, settings, of_topics, inputs, gaps=notes, accepted=accepted)


async def answers_of_topic(
    call: Answers, materials: AnswerMaterials, query_id: str, question: str
) -> TopicResult:
    """Answer a topic by quoted sentences and by each model, and judge the sentences of the answers."""
    records, seconds, rankings = {}, {}, {}
    request = AskRequest(question, evidence=call.evidence)
    relevant, accepted = materials.relevant(query_id), materials.accepted.get(query_id)
    for number, (system, settings) in enumerate(systems(call, materials.settings).items()):
        model = await materials.models.named(system) if materials.models and system != QUOTED else None
        started = time.perf_counter()
        try:
            asked = await answer_question(materials.index, request, settings, model=model)
        except (BadQuestion, BadExpression) as error:
            records[system] = without_answer(error, accepted)
            continue
        seconds[system] = round(time.perf_counter() - started, 3)
        records[system] = await answer_record(asked, materials, relevant, accepted)
        ranking = {materials.id_of(hit): hit.score for hit in reversed(asked.result.hits)}
        rankings[f"{number}-{run_name(system)}"] = as_written(ranking.items())
    record: dict[str, Any] = {"relevant": len(relevant), "systems": records}
    if call.removed and relevant:
        record["removed"] = await _without_relevant(materials, relevant, request)
    return TopicResult({**record, SECONDS: seconds}, rankings)


def systems(call: Answers, settings: Settings) -> dict[str, Settings]:
    """Return the settings of each system by name: quoted sentences, and the models."""
    names = (call.models or (settings.generator.llm.model or "",)) if call.model else ()
    quoting = settings.with_llm(base_url=None)
    return {QUOTED: quoting, **{name: settings.with_model(name) for name in names}}


async def _without_relevant(
    materials: AnswerMaterials, relevant: frozenset[str], request: AskRequest
) -> dict[str, Any]:
    """Return the likelihood of an answer if the relevant papers or passages cannot be found."""
    ids = tuple(sorted(relevant))
    filters = Filters(without_papers=ids) if materials.collapses else Filters(without=ids)
    settings = materials.settings.with_llm(base_url=None)
    asked = await answer_question(materials.index, replace(request, filters=filters), settings)
    return {"likelihood": likelihood_of(asked), "answered": not asked.answer.abstained}


EXPERIMENT = Experiment(
    "Quality of answers",
    "SHRAG, section 4, choice of the language model",
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
