"""Search for papers without one of its agents, and the effect of re-ranking on the first papers.

Tables 2, 3 and 4 of SPAR. Each row is a separate search, without the agent that it names. Without
understanding only the question is searched for; without the evolver no queries are made from relevant papers;
without RefChain no references are followed. Re-ranking changes the order and not the set: the ten papers that
the search with all agents judged best are ranked by their judgement, and re-ranked, and recall is that of the
first five. Without a language model only RefChain is left out.
"""

from collections.abc import Mapping
from dataclasses import replace

from eval.experiments.comparing import compared, main_numbers, mean, with_published
from eval.experiments.experiment import Experiment, Outcome, Results
from eval.experiments.finding_topic import (
    FindingCall,
    FindingTopic,
    failed_notes,
    failures_of,
    opened_finding,
    search_rows,
)
from eval.experiments.set_measures import COLUMNS, MAIN, MEASURES, NOTES, f1_of
from eval.experiments.topic import Topic, TopicResult, share_of
from generator.finding.agents.reranking import rerank
from generator.tracing.steps import Step

ALL = "all agents"
LEFT_OUT: Mapping[str, Mapping[str, frozenset[str]]] = {
    ALL: {},
    **{
        f"without {agent}": {"without": frozenset({agent})}
        for agent in ("understanding", "query-writing", "evolver", "refchain")
    },
}
# These agents are a model's; the rules that replace it show nothing about them.
BY_MODEL = LEFT_OUT.keys() - {ALL, "without refchain"}
FIRST, RERANKED = 5, 10  # the paper's: recall of the first 5 of the same 10 papers
ORDERS = ("by judgement", "re-ranked")
RECALL = f"Recall@{FIRST}"
SHOWN = ("F1, all agents", "F1, without understanding", "F1, without evolver")

# F1, recall and precision. The tables are of different runs.
WITH_AND_WITHOUT = {
    f"{ALL}, AutoScholarQuery, table 2": (0.19, 0.24, 0.16),
    f"{ALL}, SPARBench, table 2": (0.22, 0.16, 0.34),
    f"{ALL}, AutoScholarQuery, table 3": (0.34, 0.41, 0.29),
    f"{ALL}, SPARBench, table 3": (0.26, 0.24, 0.27),
    "without understanding, AutoScholarQuery, table 2": (0.18, 0.25, 0.14),
    "without understanding, SPARBench, table 2": (0.21, 0.21, 0.21),
    "without evolver, AutoScholarQuery, table 3": (0.33, 0.43, 0.27),
    "without evolver, SPARBench, table 3": (0.24, 0.24, 0.25),
}
RERANKING = {
    "by judgement, AutoScholarQuery": (0.3146,),
    "by judgement, SPARBench": (0.1588,),
    "re-ranked, AutoScholarQuery": (0.4015,),
    "re-ranked, SPARBench": (0.1662,),
}


async def agents_of_topic(topic: Topic) -> TopicResult:
    """Search with all agents and without each one; re-rank the first papers."""
    asked = await FindingTopic.of(topic)
    result, states = await search_rows(asked, LEFT_OUT, BY_MODEL)
    request, step, state = asked.request(papers=RERANKED), Step("reranking", {}), states[ALL]
    judged = [known.paper for _, known in state.relevant(request.threshold)[:RERANKED]]
    async with asked.resources(request) as resources:
        ranked = [each.known.paper for each in await rerank(state, resources, step)]
    orders = {
        name: {RECALL: share_of(asked.judged.relevant, asked.judged.known_ids(papers)[:FIRST])}
        for name, papers in zip(ORDERS, (judged, ranked), strict=True)
    }
    failures = [*result.record["failures"], *failures_of(step)]
    return replace(result, record={**result.record, "orders": orders, "failures": failures})


def summary(of: Results) -> Outcome:
    """Compare the searches without an agent with the search with all of them."""
    rows, orders, recall = of.rows(LEFT_OUT), of.rows(ORDERS, "orders"), {RECALL: mean(RECALL)}
    columns = {
        **COLUMNS,
        "papers examined": lambda records: mean("retrieved")([each["examined"] for each in records]),
    }
    title = f"Papers found without an agent, at most {of.call.k} for each topic"
    found = compared(title, "agents", rows, columns, f1_of, "difference of mean F1")
    title = f"Recall of the first {FIRST} of the same {RERANKED} papers"
    ranked = compared(title, "order", orders, recall, lambda record: record[RECALL])
    return Outcome(
        (
            with_published(found, tuple(MEASURES), WITH_AND_WITHOUT),
            with_published(ranked, (RECALL,), RERANKING),
        ),
        notes=(*NOTES, *failed_notes(of)),
        main=main_numbers(rows, MAIN) | main_numbers(orders, recall),
    )


EXPERIMENT = Experiment(
    FindingCall,
    agents_of_topic,
    summary,
    opened_finding,
    published={
        "F1, all agents, AutoScholarQuery": 0.19,
        "F1, without understanding, AutoScholarQuery": 0.18,
        "Recall@5, by judgement, AutoScholarQuery": 0.3146,
        "Recall@5, re-ranked, AutoScholarQuery": 0.4015,
    },
    shown=(*SHOWN, *(f"{RECALL}, {order}" for order in ORDERS)),
)
