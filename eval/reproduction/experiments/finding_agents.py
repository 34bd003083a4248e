"""Search for papers without one of its agents, and the effect of re-ranking on the first papers.

Tables 2, 3 and 4 of SPAR. Each row is a separate search, without the agent that it names. Without
understanding only the question is searched for; without the evolver no queries are made from relevant papers;
without RefChain no references are followed. Re-ranking changes the order and not the set: the ten papers that
the search with all agents judged best are ranked by their judgement, and re-ranked, and recall is that of the
first five. Without a language model only RefChain is left out.
"""

import statistics
from collections.abc import Mapping, Sequence

from eval.reproduction.experiment import Experiment, Outcome, Record, Table, TopicResult
from eval.reproduction.finding.inputs import FindingCall, FindingMaterials, opened_finding
from eval.reproduction.finding.reporting import (
    MEASURES,
    compared_table,
    finding_notes,
    main_numbers,
    published,
)
from eval.reproduction.finding.set_measures import COLUMNS, recall_at
from eval.reproduction.finding.topic import (
    FindingTopic,
    failures_of,
    find,
    find_request,
    open_topic,
    ranking_of,
    resources_of,
)
from eval.reproduction.retrieving import run_name
from eval.significance import compare, difference_columns
from eval.statistics import mean_of_known
from generator.finding.agents.reranking import rerank
from generator.finding.state import FindingState
from generator.tracing.steps import Step

ALL = "all agents"
LEFT_OUT: Mapping[str, frozenset[str]] = {
    ALL: frozenset(),
    **{
        f"without {agent}": frozenset({agent})
        for agent in ("understanding", "query-writing", "evolver", "refchain")
    },
}
# These agents are a model's; the rules that replace it show nothing about them.
BY_MODEL = LEFT_OUT.keys() - {ALL, "without refchain"}
FIRST, RERANKED = 5, 10  # the paper's: recall of the first 5 of the same 10 papers
BY_JUDGEMENT, BY_AGENT = "by judgement", "re-ranked"
ORDERS = (f"Recall@{FIRST}, {BY_JUDGEMENT}", f"Recall@{FIRST}, {BY_AGENT}")

UNDERSTANDING = (
    ("AutoScholarQuery", "with", 0.19, 0.24, 0.16),
    ("AutoScholarQuery", "without", 0.18, 0.25, 0.14),
    ("SPARBench", "with", 0.22, 0.16, 0.34),
    ("SPARBench", "without", 0.21, 0.21, 0.21),
)
EVOLVER = (
    ("AutoScholarQuery", "with", 0.34, 0.41, 0.29),
    ("AutoScholarQuery", "without", 0.33, 0.43, 0.27),
    ("SPARBench", "with", 0.26, 0.24, 0.27),
    ("SPARBench", "without", 0.24, 0.24, 0.25),
)
RERANKING = (
    ("AutoScholarQuery", 0.3146, 0.4015),
    ("SPARBench", 0.1588, 0.1662),
)


async def agents_of_topic(
    call: FindingCall, materials: FindingMaterials, query_id: str, question: str
) -> TopicResult:
    """Search with all agents and without each one; re-rank the first papers."""
    topic = await open_topic(materials, query_id, question)
    counts, known, rankings, failures = {}, {}, {}, []
    reordered: dict[str, float] = {}
    for name, agents in LEFT_OUT.items():
        if name in BY_MODEL and topic.model is None:
            continue
        found = await find(call, topic, without=agents)
        ids = topic.ids(ranked.known.paper for ranked in found.papers)
        counts[name], rankings[run_name(name)] = topic.counts(ids), ranking_of(ids)
        known[name] = len(found.state.papers)
        failures += failures_of(found.step)
        if name == ALL:
            reordered = await _reordered(call, topic, found.state, failures)
    record = {"agents": counts, "known": known, "recall": reordered, "failures": failures}
    return TopicResult(record, rankings)


async def _reordered(
    call: FindingCall, topic: FindingTopic, state: FindingState, failures: list[str]
) -> dict[str, float]:
    """Return the recall of the first five of the same ten papers, by judgement and re-ranked."""
    request, step = find_request(call, topic, papers=RERANKED), Step("reranking", {})
    judged = [known.paper for _, known in state.relevant(request.threshold)[:RERANKED]]
    async with resources_of(topic, request) as resources:
        ranked = await rerank(state, resources, step)
    failures += failures_of(step)
    orders = {BY_JUDGEMENT: judged, BY_AGENT: [each.known.paper for each in ranked]}
    relevant = topic.judged.relevant
    return {
        name: recall_at(FIRST, topic.judged.known_ids(papers), relevant) for name, papers in orders.items()
    }


def summary(call: FindingCall, materials: FindingMaterials, topics: Sequence[Record]) -> Outcome:
    """Compare the searches without an agent with the search with all of them."""
    title = f"Papers found without an agent, at most {call.k} for each topic"
    measured = compared_table(title, "agents", topics, "agents", list(LEFT_OUT))
    with_and_without = ("benchmark", "agent", *COLUMNS[:3])
    main = main_numbers(topics, "agents", {name: name for name in LEFT_OUT})
    before, after = _recalls(topics, BY_JUDGEMENT), _recalls(topics, BY_AGENT)
    main |= dict(zip(ORDERS, map(statistics.fmean, (before, after)), strict=True))
    return Outcome(
        (
            _with_known(measured, topics),
            published("SPAR, table 2, understanding", with_and_without, UNDERSTANDING),
            published("SPAR, table 3, evolver", with_and_without, EVOLVER),
            _reranking_table(before, after),
            published("SPAR, table 4, re-ranking", ("benchmark", *ORDERS), RERANKING),
        ),
        notes=(*MEASURES, *finding_notes(materials, topics)),
        main=main,
    )


def _with_known(measured: Table, topics: Sequence[Record]) -> Table:
    """Add a column with the mean number of papers that a search examined."""
    known = (mean_of_known(topic["known"].get(name) for topic in topics) for name in LEFT_OUT)
    rows = ((*row, mean) for row, mean in zip(measured.rows, known, strict=True))
    return Table(measured.title, (*measured.columns, "papers examined"), tuple(rows))


def _recalls(topics: Sequence[Record], order: str) -> list[float]:
    return [topic["recall"][order] for topic in topics]


def _reranking_table(before: Sequence[float], after: Sequence[float]) -> Table:
    row = (statistics.fmean(before), statistics.fmean(after), *compare(before, after).as_cells())
    return Table(
        f"Recall of the first {FIRST} of the same {RERANKED} papers",
        (*ORDERS, *difference_columns()),
        (row,),
    )


EXPERIMENT = Experiment(
    "Agents of paper finding",
    "SPAR, tables 2, 3 and 4",
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
    shown=(
        "F1, all agents",
        "F1, without understanding",
        "F1, without evolver",
        "Recall@5, by judgement",
        "Recall@5, re-ranked",
    ),
)
