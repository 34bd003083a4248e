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
from dataclasses import replace
from typing import Any

from eval.experiments.comparing import SECONDS, TESTED, Comparison, Outcome, mean
from eval.experiments.experiment import Experiment, Results, Topic, TopicResult, ids_of, result_of
from eval.experiments.materials import StrategyCall
from eval.measures import evaluate
from eval.runs import Ranking, as_written
from generator.hops import joined_evidence, search_in_hops
from generator.request import AskRequest, Resources
from generator.tracing import Step
from retriever.strategy import Strategy

METHOD, DEPTH = "shrag", 10
ONE, SECOND, STEPS = TREATMENTS = ("one search", "with the second search", "steps of the strategy")
MEASURES, ALL = ("Success@5", "R@10", "nDCG@10"), "all@10"
COLUMNS = {measure: mean(measure) for measure in (*MEASURES, ALL)}
TABLE = Comparison(
    f"Treatments of several steps, the first {DEPTH} documents",
    "treatment",
    COLUMNS,
    "nDCG@10",
    "difference of nDCG@10",
    main={measure: COLUMNS[measure] for measure in (MEASURES[-1], ALL)},
)


async def treatments_of_topic(topic: Topic) -> TopicResult:
    """Rank the documents of a topic by each treatment."""
    strategy, settings = await topic.strategy(), topic.settings
    alone = settings.model_copy(update={"without": settings.without | {"second-search"}})
    rankings: dict[str, Ranking] = {}
    seconds: dict[str, float] = {}
    for name in TREATMENTS if strategy else TREATMENTS[:2]:
        started = time.perf_counter()
        if name == STEPS and strategy:
            rankings[name] = await _by_steps(topic, strategy) or rankings[SECOND]
        else:
            given: dict[str, Any] = {"method": METHOD, "k": DEPTH, "strategy": strategy}
            found = await topic.search(alone if name == ONE else settings, **given)
            rankings[name] = as_written(found.ranking)
        seconds[name] = time.perf_counter() - started
    qrels = {topic.query_id: topic.materials.qrels[topic.query_id]}
    rows = {
        name: {
            **evaluate(qrels, {topic.query_id: ranking}, MEASURES).means,
            ALL: float(topic.relevant.issubset(ids_of(ranking))),
        }
        for name, ranking in rankings.items()
    }
    steps, opens_second = len(strategy.steps) if strategy else 0, rankings[SECOND] != rankings[ONE]
    return result_of(rows, rankings, **{"steps": steps, "second search": opens_second, SECONDS: seconds})


async def _by_steps(topic: Topic, strategy: Strategy) -> Ranking:
    """Rank the evidence of all steps; nothing for a question of one step."""
    materials = topic.materials
    request = AskRequest(
        topic.question,
        method=METHOD,
        evidence=DEPTH,
        hops="auto",
        strategy=strategy,
        strategist="model" if materials.model else "statistics",
    )
    step = Step("ask", request.as_record())
    with step.running():
        resources = Resources(materials.index, materials.settings, materials.model)
        found = await search_in_hops(request, resources, step)
    ranked: dict[str, float] = {}
    for hit in joined_evidence(found, request).hits if found else ():
        ranked.setdefault(materials.id_of(hit), hit.score)
    return as_written(list(ranked.items())[:DEPTH])


def summary(of: Results) -> Outcome:
    """Compare the treatments, for all topics and by the number of steps."""
    groups = {
        "all topics": of.topics,
        "strategies with steps": [topic for topic in of.topics if topic["steps"]],
        "strategies without steps": [topic for topic in of.topics if not topic["steps"]],
        "second search": [topic for topic in of.topics if topic["second search"]],
    }
    by_group = {
        group: TABLE.table(replace(of, topics=topics).rows(TREATMENTS))
        for group, topics in groups.items()
        if topics
    }
    cells = ((group, len(groups[group]), *row) for group, table in by_group.items() for row in table.rows)
    whole = by_group["all topics"]
    table = replace(whole, columns=("topics", "number", *whole.columns), rows=tuple(cells))
    notes = (
        f"Method {METHOD}. {TESTED} {ALL} counts all relevant documents.",
        f"{len(groups['strategies with steps'])} of {len(of.topics)} strategies have steps.",
    )
    return Outcome((table,), notes=notes)


EXPERIMENT = Experiment(
    StrategyCall,
    treatments_of_topic,
    summary,
)
