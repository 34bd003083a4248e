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
from collections.abc import Sequence
from dataclasses import replace

from eval.experiments.calls import StrategyCall
from eval.experiments.comparing import ROWS, TESTED, compared, main_numbers, mean, rows_of
from eval.experiments.experiment import SECONDS, Cell, Experiment, Outcome, Record, TopicResult
from eval.experiments.materials import Materials
from eval.experiments.retrieving import ids_of, ranked_by, runs_by_row, strategy_of
from eval.measures import evaluate
from eval.runs import Ranking, as_written
from generator.hops import joined_evidence, search_in_hops
from generator.request import AskRequest, Resources
from generator.tracing.steps import Step
from retriever.request import SearchRequest
from retriever.strategy import Strategist, Strategy

METHOD, DEPTH = "shrag", 10
ONE, SECOND, STEPS = "one search", "with the second search", "steps of the strategy"
TREATMENTS = (ONE, SECOND, STEPS)
MEASURES, ALL = ("Success@5", "R@10", "nDCG@10"), "all@10"
COLUMNS = {measure: mean(measure) for measure in (*MEASURES, ALL)}


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
    qrels, relevant = {query_id: materials.qrels[query_id]}, materials.relevant(query_id)
    rows = {
        name: {
            **evaluate(qrels, {query_id: ranking}, MEASURES).means,
            ALL: float(relevant.issubset(ids_of(ranking))),
        }
        for name, ranking in rankings.items()
    }
    record = {
        "steps": len(strategy.steps) if strategy else 0,
        "second search": rankings[SECOND] != rankings[ONE],
        ROWS: rows,
        SECONDS: seconds,
    }
    return TopicResult(record, runs_by_row(rankings))


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


def summary(call: StrategyCall, materials: Materials, topics: Sequence[Record]) -> Outcome:
    """Compare the treatments, for all topics and by the number of steps."""
    del call, materials
    groups = {
        "all topics": topics,
        "strategies with steps": [topic for topic in topics if topic["steps"]],
        "strategies without steps": [topic for topic in topics if not topic["steps"]],
        "second search": [topic for topic in topics if topic["second search"]],
    }
    cells: list[tuple[Cell, ...]] = []
    for group, of in groups.items():
        if of:
            table = compared(
                f"Treatments of several steps, the first {DEPTH} documents",
                "treatment",
                rows_of(of, TREATMENTS),
                COLUMNS,
                lambda record: record["nDCG@10"],
                "difference of nDCG@10",
            )
            cells += [(group, len(of), *row) for row in table.rows]
    table = replace(table, columns=("topics", "number", *table.columns), rows=tuple(cells))
    notes = (
        f"Method {METHOD}. {TESTED} {ALL} counts all relevant documents.",
        f"{len(groups['strategies with steps'])} of {len(topics)} strategies have steps.",
    )
    return Outcome((table,), notes=notes, main=main_numbers(rows_of(topics, TREATMENTS), COLUMNS))


EXPERIMENT = Experiment(
    StrategyCall,
    treatments_of_topic,
    summary,
    shown=tuple(f"{measure}, {name}" for name in TREATMENTS for measure in ("nDCG@10", ALL)),
)
