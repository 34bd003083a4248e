"""Several steps: one search, the formula's second search, and a search for each step of a strategy.

SHRAG, section 5.1.2 and appendix A.3: most questions of the challenge have one step, so that the effect of a
multi-step treatment is open, on questions of several steps and on others. Run the experiment on topics of
either kind. The second search is part of the formula: questions whose words ask for several steps are also
searched for by names in the best passages. The steps are those of recorded strategies (--strategies), or of
the language model, which also answers each step and rewrites the next one, as in `shrag ask --hops`. The
evidence of all steps is ranked.

A topic succeeds if a relevant document is among the first five; `all@10` is the share of topics with all
relevant documents among the first ten.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from eval.experiments.experiment import (
    NEEDS_MODEL,
    SECONDS,
    Cell,
    Experiment,
    Outcome,
    Record,
    StrategyCall,
    Table,
    TopicResult,
)
from eval.experiments.materials import Materials
from eval.experiments.retrieving import ranked_by, run_name, strategy_of
from eval.measures import evaluate
from eval.runs import Ranking, as_written
from eval.significance import difference_cells, difference_columns
from generator.hops import joined_evidence, search_in_hops
from generator.request import AskRequest, Resources
from generator.tracing.steps import Step
from retriever.request import SearchRequest
from retriever.strategy import Strategist, Strategy

METHOD, DEPTH = "shrag", 10
ONE, SECOND, STEPS = "one search", "with the second search", "steps of the strategy"
TREATMENTS = (ONE, SECOND, STEPS)
MEASURES, ALL = ("Success@5", "R@10", "nDCG@10"), "all@10"
SHOWN = (*MEASURES, ALL)


async def treatments_of_topic(
    call: StrategyCall, materials: Materials, query_id: str, question: str
) -> TopicResult:
    """Rank the documents of a topic by each treatment."""
    del call
    strategy = await strategy_of(materials, query_id, question)
    settings = materials.settings.retriever
    alone = settings.model_copy(update={"without": settings.without | {"second-search"}})
    request = SearchRequest(question, method=METHOD, k=DEPTH, strategy=strategy)
    rankings, seconds = {}, {}
    for name, of in ((ONE, alone), (SECOND, settings)):
        started = time.perf_counter()
        rankings[name] = as_written(await ranked_by(materials, request, of))
        seconds[name] = time.perf_counter() - started
    if strategy:
        started = time.perf_counter()
        rankings[STEPS] = await _by_steps(materials, question, strategy) or rankings[SECOND]
        seconds[STEPS] = time.perf_counter() - started
    grades = {query_id: materials.qrels[query_id]}
    return TopicResult(
        {
            "steps": len(strategy.steps) if strategy else 0,
            "second search": rankings[SECOND] != rankings[ONE],
            "values": {name: _values(grades, query_id, ranking) for name, ranking in rankings.items()},
            "relevant": len(materials.relevant(query_id)),
            SECONDS: seconds,
        },
        {run_name(name): ranking for name, ranking in rankings.items()},
    )


async def _by_steps(materials: Materials, question: str, strategy: Strategy) -> Ranking:
    """Rank the evidence of all steps; nothing for a question of one step."""
    strategist: Strategist = "model" if materials.model else "statistics"
    request = AskRequest(
        question, method=METHOD, evidence=DEPTH, hops="auto", strategy=strategy, strategist=strategist
    )
    step = Step("ask", request.as_record())
    with step.running():
        resources = Resources(materials.index, materials.settings, materials.model)
        found = await search_in_hops(request, resources, step)
    ranked: dict[str, float] = {}
    for hit in joined_evidence(found, request).hits if found else ():
        ranked.setdefault(materials.id_of(hit), hit.score)
    return as_written(list(ranked.items())[:DEPTH])


def _values(grades: Mapping[str, Mapping[str, int]], query_id: str, ranking: Ranking) -> dict[str, float]:
    qrels = {query_id: dict(grades[query_id])}
    values = evaluate(qrels, {query_id: ranking}, MEASURES).means
    relevant = {judged for judged, grade in qrels[query_id].items() if grade > 0}
    return {**values, ALL: float(relevant.issubset(found for found, _ in ranking))}


def summary(call: StrategyCall, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compare the treatments, for all topics and by the number of steps."""
    del call
    groups = {
        "all topics": topics,
        "strategies with steps": [topic for topic in topics if topic["steps"]],
        "strategies without steps": [topic for topic in topics if not topic["steps"]],
        "second search": [topic for topic in topics if topic["second search"]],
    }
    columns = ("topics", "number", "treatment", *SHOWN, *difference_columns("difference of nDCG@10"))
    rows = tuple(
        (group, len(of), name, *_cells(name, of)) for group, of in groups.items() if of for name in TREATMENTS
    )
    measured = [name for name in TREATMENTS if name in topics[0]["values"]]
    return Outcome(
        (Table(f"Treatments of several steps, the first {DEPTH} documents", columns, rows), _times(topics)),
        notes=(
            f"Method {METHOD}. p: paired randomisation test. {ALL} counts all relevant documents.",
            f"{len(groups['strategies with steps'])} of {len(topics)} strategies have steps.",
            *materials.notes(),
        ),
        main={f"{measure}, {name}": _mean(name, measure)(topics) for name in measured for measure in SHOWN},
    )


def _mean(name: str, measure: str) -> Callable[[Sequence[Record]], float]:
    return lambda topics: fmean(topic["values"][name][measure] for topic in topics)


def _cells(name: str, topics: Sequence[Record]) -> tuple[Cell, ...]:
    if any(name not in topic["values"] for topic in topics):
        return (NEEDS_MODEL, *(None,) * (len(SHOWN) + 3))
    means = [_mean(name, measure)(topics) for measure in SHOWN]
    return (
        *means,
        *difference_cells(lambda row: [topic["values"][row]["nDCG@10"] for topic in topics], name, ONE),
    )


def _times(topics: Sequence[Record]) -> Table:
    seconds = [topic[SECONDS] for topic in topics if SECONDS in topic]
    names = [name for name in TREATMENTS if seconds and all(name in each for each in seconds)]
    rows = tuple((name, 1_000 * fmean(each[name] for each in seconds)) for name in names)
    return Table("Milliseconds of a topic", ("treatment", "mean"), rows, timed=True)


EXPERIMENT = Experiment(
    "Several steps",
    "SHRAG, section 5.1.2 and appendix A.3",
    StrategyCall,
    treatments_of_topic,
    summary,
    shown=tuple(f"{measure}, {name}" for name in TREATMENTS for measure in ("nDCG@10", ALL)),
)
