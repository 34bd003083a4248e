"""Several steps: no second round, a second round by a gate, and always; with a model, the steps of its plan.

SHRAG, section 5.1.2 and appendix A.3: most questions of the challenge have one step, so that the effect of a
multi-step treatment is open, on questions of several steps and on others. Run the experiment on topics of
either kind. The gate classifies a question by its form. Without a model, the second round searches for names
and terms of the best passages. With a model, a decomposition, a chain with the answers of earlier steps, and
a rewriting of each step's question are as in `shrag ask --hops`; its evidence is ranked.

A topic succeeds if a relevant document is among the first five; `all@10` is the share of topics with all
relevant documents among the first ten.
"""

import time
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from eval.measures import evaluate
from eval.reproduction.differences import difference_columns
from eval.reproduction.experiment import (
    SECONDS,
    Experiment,
    JudgedCall,
    Outcome,
    Record,
    Table,
    TopicResult,
)
from eval.reproduction.materials import Materials
from eval.reproduction.retrieving import ranking_of, run_name
from eval.runs import Ranking, as_written
from eval.significance import compare
from generator.hops.answering import joined_evidence, search_in_hops
from generator.request import AskRequest, Resources
from generator.tracing.steps import Step
from retriever.question.question_form import question_form
from retriever.search import SearchRequest, open_ranking, run_stages
from retriever.second_round import with_second_round
from retriever.stages.stages import Stages

METHOD, DEPTH = "shrag", 10
NEVER, AUTO, ALWAYS = "never", "auto", "always"
MODEL_AUTO, MODEL_ALWAYS = "auto, steps of the model", "always, steps of the model"
BY_GATE = {AUTO: ALWAYS, MODEL_AUTO: MODEL_ALWAYS}
SUCCESS, RECALL, NDCG, ALL = "Success@5", "R@10", "nDCG@10", "all@10"
MEASURES = (SUCCESS, RECALL, NDCG)
SHOWN = (*MEASURES, ALL)


async def treatments_of_topic(
    call: JudgedCall, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Rank the documents of a topic by each treatment."""
    del call
    form = question_form(question, materials.index.analyzer)
    request = SearchRequest(question, method=METHOD, k=DEPTH, collapse=materials.collapses)
    started = time.perf_counter()
    context = open_ranking(materials.index, request, materials.settings.retriever)
    stages = await run_stages(context)
    searched = time.perf_counter()
    rankings = {NEVER: _ranking(stages, materials)}
    rankings[ALWAYS] = _ranking(await with_second_round(context, stages), materials)
    seconds = {NEVER: searched - started, ALWAYS: time.perf_counter() - started}
    record: dict[str, Any] = {
        "several steps": form.has_several_steps,
        "likelihood": round(form.likelihood, 4),
    }
    if materials.model:
        started = time.perf_counter()
        rankings[MODEL_ALWAYS], record["steps"] = await _by_model(materials, question, rankings[NEVER])
        seconds[MODEL_ALWAYS] = time.perf_counter() - started
    for name, always in BY_GATE.items():
        if always in rankings:
            rankings[name] = rankings[always if form.has_several_steps else NEVER]
    grades = {query_id: materials.qrels[query_id]}
    record["values"] = {name: _values(grades, query_id, rankings[name]) for name in order_of(rankings)}
    return TopicResult(
        {**record, "relevant": len(materials.relevant(query_id)), SECONDS: seconds},
        {run_name(name): rankings[name] for name in order_of(rankings)},
    )


def order_of(treatments: Mapping[str, Any]) -> list[str]:
    """Return the treatments in the order of the tables."""
    return [name for name in (NEVER, AUTO, ALWAYS, MODEL_AUTO, MODEL_ALWAYS) if name in treatments]


def _ranking(stages: Stages, materials: Materials) -> Ranking:
    return as_written(ranking_of(stages, materials, DEPTH))


async def _by_model(materials: Materials, question: str, alone: Ranking) -> tuple[Ranking, int]:
    """Rank the evidence of the steps, and count the steps; a question of one step has its own ranking."""
    request = AskRequest(question, method=METHOD, evidence=DEPTH, hops="always")
    step = Step("ask", request.as_record())
    with step.running():
        resources = Resources(materials.index, materials.settings, materials.model)
        found = await search_in_hops(request, resources, step)
    if not found:
        return alone, 1
    ranked: dict[str, float] = {}
    for hit in joined_evidence(found, request).hits:
        ranked.setdefault(materials.id_of(hit), hit.score)
    return as_written(list(ranked.items())[:DEPTH]), max(1, len(found) - 1)


def _values(grades: Mapping[str, Mapping[str, int]], query_id: str, ranking: Ranking) -> dict[str, float]:
    qrels = {query_id: dict(grades[query_id])}
    values = evaluate(qrels, {query_id: ranking}, MEASURES).means
    relevant = {judged for judged, grade in qrels[query_id].items() if grade > 0}
    return {**values, ALL: float(relevant.issubset(found for found, _ in ranking))}


def summary(call: JudgedCall, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compare the treatments with a search without a second round, for all topics and by the gate."""
    del call
    groups = {
        "all topics": topics,
        "several steps by the gate": [topic for topic in topics if topic["several steps"]],
        "one step by the gate": [topic for topic in topics if not topic["several steps"]],
    }
    treatments = order_of(topics[0]["values"])
    steps = [topic["steps"] for topic in topics if "steps" in topic]
    return Outcome(
        (
            Table(
                f"Treatments of several steps, the first {DEPTH} documents",
                ("topics", "number", "treatment", *SHOWN),
                tuple(
                    (group, len(of), name, *(_mean(name, measure, of) for measure in SHOWN))
                    for group, of in groups.items()
                    if of
                    for name in treatments
                ),
            ),
            Table(
                f"Differences to {NEVER}",
                ("topics", "treatment", "measure", *difference_columns()),
                tuple(
                    (group, name, measure, *compare(*_pair(name, measure, of)).as_cells())
                    for group, of in groups.items()
                    if of
                    for name in treatments
                    if name != NEVER
                    for measure in SHOWN
                ),
            ),
            _times(topics),
        ),
        notes=(
            f"Method {METHOD}. p: paired randomisation test. {ALL} counts all relevant documents.",
            f"{len(groups['several steps by the gate'])} of {len(topics)} topics pass the gate.",
            *((f"Steps of the model: {fmean(steps):.2f} for each topic.",) if steps else ()),
            *materials.notes(),
        ),
        main={
            "share of several steps by the gate": fmean(float(topic["several steps"]) for topic in topics),
            **{
                f"{measure}, {name}": _mean(name, measure, topics) for name in treatments for measure in SHOWN
            },
        },
    )


def _times(topics: Sequence[Record]) -> Table:
    seconds = [topic[SECONDS] for topic in topics if SECONDS in topic]
    names = order_of(seconds[0]) if seconds else []
    rows = tuple((name, 1_000 * fmean(each[name] for each in seconds)) for name in names)
    return Table("Milliseconds of a topic", ("treatment", "mean"), rows, timed=True)


def _mean(name: str, measure: str, topics: Sequence[Record]) -> float:
    return fmean(topic["values"][name][measure] for topic in topics)


def _pair(name: str, measure: str, topics: Sequence[Record]) -> tuple[list[float], list[float]]:
    values = [topic["values"] for topic in topics]
    return [of[NEVER][measure] for of in values], [of[name][measure] for of in values]


EXPERIMENT = Experiment(
    "Several steps",
    "SHRAG, section 5.1.2 and appendix A.3",
    JudgedCall,
    treatments_of_topic,
    summary,
    shown=tuple(f"{measure}, {name}" for name in (NEVER, AUTO, ALWAYS) for measure in (NDCG, ALL)),
)
