"""Searches for papers with variants of `find-papers`: agents, judges, layers, queries (SPAR)."""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from eval.experiments import comparing
from eval.experiments import finding_topic as finding
from eval.experiments.comparing import Column, Comparison, Outcome, Record, Table, mean, total
from eval.experiments.experiment import Experiment, Results, Topic, TopicResult, result_of
from eval.experiments.finding_topic import FindingCall, FindingTopic, Options, read_finding, search_rows
from generator.finding.agents.reranking import rerank
from generator.finding.state import QueryKind
from generator.tracing import Step

FOUND = Comparison(
    "",
    "",
    comparing.COLUMNS,
    comparing.f1_of,
    "difference of mean F1",
    main=comparing.MAIN,
    measures=tuple(comparing.MEASURES),
)


def _examined(column: Column) -> Column:
    """Return the column over all papers that a search examined or judged."""
    return lambda records: column([each["examined"] for each in records])


def searches(
    variants: Mapping[str, Options], by_model: Iterable[str] = (), listed: str = "papers"
) -> Callable[[Topic], Coroutine[Any, Any, TopicResult]]:
    """Return the function that searches for the papers of a topic with each variant."""

    async def of_topic(topic: Topic) -> TopicResult:
        return (await search_rows(await FindingTopic.of(topic), variants, by_model, listed))[0]

    return of_topic


def comparison(variants: Iterable[str], table: Comparison) -> Callable[[Results], Outcome]:
    """Return the summary of searches with variants; `{k}` in the title is the number of papers."""

    def summary(of: Results) -> Outcome:
        shown = replace(table, title=table.title.format(k=of.call.k)).table(of.rows(variants))
        return Outcome((shown,), notes=(*comparing.NOTES, *finding.failed_notes(of)))

    return summary


# Table 6: F1, recall and precision on AutoScholarQuery, then on SPARBench.
OF_JUDGES = (
    ("PaSa's selector", 0.34, 0.41, 0.29, 0.26, 0.24, 0.27),
    ("Llama 3.1 8B, brief", 0.11, 0.19, 0.08, 0.20, 0.18, 0.23),
    ("Llama 3.1 8B, complex", 0.13, 0.48, 0.07, 0.23, 0.24, 0.22),
    ("Llama 3.3 70B, brief", 0.20, 0.38, 0.13, 0.30, 0.31, 0.29),
    ("Llama 3.3 70B, complex", 0.18, 0.34, 0.12, 0.17, 0.34, 0.12),
    ("Qwen 2.5 7B, brief", 0.34, 0.47, 0.27, 0.28, 0.28, 0.28),
    ("Qwen 2.5 7B, complex", 0.08, 0.09, 0.06, 0.24, 0.27, 0.21),
    ("Qwen 2.5 72B, brief", 0.33, 0.51, 0.24, 0.24, 0.38, 0.17),
    ("Qwen 2.5 72B, complex", 0.17, 0.44, 0.11, 0.19, 0.27, 0.15),
    ("Qwen 3 8B, brief", 0.29, 0.53, 0.20, 0.25, 0.30, 0.22),
    ("Qwen 3 8B, complex", 0.31, 0.45, 0.24, 0.23, 0.31, 0.19),
    ("Qwen 3 14B, brief", 0.21, 0.37, 0.14, 0.25, 0.32, 0.20),
    ("Qwen 3 14B, complex", 0.22, 0.38, 0.15, 0.23, 0.34, 0.17),
    ("Qwen 3 32B, brief", 0.38, 0.41, 0.36, 0.24, 0.29, 0.21),
    ("Qwen 3 32B, complex", 0.08, 0.29, 0.05, 0.18, 0.30, 0.12),
)


FINDING_JUDGES = Experiment(
    FindingCall,
    searches(finding.JUDGES, finding.JUDGED_BY_MODEL),
    comparison(
        finding.JUDGES,
        replace(
            FOUND,
            title="Papers found, at most {k} for each topic, by judge",
            kind="judge",
            published=comparing.of_benchmarks(OF_JUDGES),
        ),
    ),
    read_finding,
    published={
        "F1, model, brief, AutoScholarQuery": 0.38,
        "F1, model, complex, AutoScholarQuery": 0.08,
    },
    about="""\
Search for papers with each judge of relevance: rules, and the model with a brief or a complex prompt.

Table 6 of SPAR, which compares models; here the rows are the judges of the configured model. The brief prompt
asks for one score. The complex prompt asks for three criteria, a gate and deductions, from which the score is
computed. The rules judge by a cross-encoder or an encoder if one is configured, else by the probability of
the paper's score in the question's ranking. All other agents are the same in each row.""",
)

LAYERS = {f"layers {layers}": {"layers": layers} for layers in range(4)}
OF_LAYERS: Mapping[str, Column] = {
    "recall": comparing.recall,
    "precision": comparing.precision,
    "raw papers": _examined(mean("retrieved")),
    "valid papers": mean("retrieved"),
    "raw recall": _examined(comparing.recall),
}


FINDING_LAYERS = Experiment(
    FindingCall,
    searches(LAYERS, listed="valid"),
    comparison(
        LAYERS,
        Comparison(
            "Papers known and judged relevant for each topic, by layers of references",
            "layers",
            {**OF_LAYERS, "F1": comparing.f1},
            main={name: comparing.MAIN[name] for name in ("Recall", "Precision")},
            published={
                "layers 0, AutoScholarQuery": (0.41, 0.29, 306.90, 3.95, 0.58),
                "layers 1, AutoScholarQuery": (0.44, 0.19, 569.08, 6.58, 0.77),
                "layers 0, SPARBench": (0.13, 0.22, 367.81, 10.77, 0.26),
                "layers 1, SPARBench": (0.15, 0.16, 504.94, 15.00, 0.31),
            },
            measures=tuple(OF_LAYERS),
        ),
    ),
    read_finding,
    published={"Recall, layers 0, AutoScholarQuery": 0.41, "Recall, layers 1, AutoScholarQuery": 0.44},
    about="""\
Layers of references that are followed from relevant papers: papers known and judged relevant, and recall.

Table 5 of SPAR (RefChain), which compares no layer with one. Each row is a separate search with 0 to 3
layers: 1 follows the references of relevant papers, 2 also the references of relevant papers among them. Raw
papers are all papers known after the search; valid papers are judged relevant, without the limit k of a list.
Recall and precision are over the valid papers; raw recall is over the raw ones. Unless --pure is given, the
papers that cite a relevant paper are part of a layer too.""",
)

ALL = "all agents"
LEFT_OUT: Mapping[str, Options] = {
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
        _, ranked = await rerank(state, resources, step)
    orders = {
        name: {RECALL: comparing.share_of(asked.judged.relevant, asked.judged.known_ids(papers)[:FIRST])}
        for name, papers in zip(ORDERS, (judged, [each.known.paper for each in ranked]), strict=True)
    }
    failures = [*result.record["failures"], *finding.failures_of(step)]
    return replace(result, record={**result.record, "orders": orders, "failures": failures})


def agents_summary(of: Results) -> Outcome:
    """Compare the searches without an agent with the search with all of them, and both orders."""
    title, recalls = f"Recall of the first {FIRST} of the same {RERANKED} papers", {RECALL: mean(RECALL)}
    ranked = Comparison(
        title, "order", recalls, RECALL, main=recalls, published=RERANKING, measures=(RECALL,)
    )
    agents = replace(
        FOUND,
        title="Papers found without an agent, at most {k} for each topic",
        kind="agents",
        columns={**comparing.COLUMNS, "papers examined": _examined(mean("retrieved"))},
        published=WITH_AND_WITHOUT,
    )
    found = comparison(LEFT_OUT, agents)(of)
    return replace(found, tables=(*found.tables, ranked.table(of.rows(ORDERS, "orders"))))


FINDING_AGENTS = Experiment(
    FindingCall,
    agents_of_topic,
    agents_summary,
    read_finding,
    published={
        "F1, all agents, AutoScholarQuery": 0.19,
        "F1, without understanding, AutoScholarQuery": 0.18,
        "Recall@5, by judgement, AutoScholarQuery": 0.3146,
        "Recall@5, re-ranked, AutoScholarQuery": 0.4015,
    },
    about="""\
Search for papers without one of its agents, and the effect of re-ranking on the first papers.

Tables 2, 3 and 4 of SPAR. Each row is a separate search, without the agent that it names. Without
understanding only the question is searched for; without the evolver no queries are made from relevant papers;
without RefChain no references are followed. Re-ranking changes the order and not the set: the ten papers that
the search with all agents judged best are ranked by their judgement, and re-ranked, and recall is that of the
first five. Without a language model only RefChain is left out.""",
)

KINDS: tuple[str, ...] = get_args(QueryKind)
NATIVE = ("question", "expanded")
NAMES: Mapping[str, Sequence[str]] = {
    "native queries": NATIVE,
    "evolved queries": tuple(kind for kind in KINDS if kind not in NATIVE),
    **{kind: (kind,) for kind in KINDS},
}
SHOWN = 10  # examples


async def queries_of_topic(topic: Topic) -> TopicResult:
    """Search for the papers of a topic, and count the papers that each kind of query found."""
    asked = await FindingTopic.of(topic)
    found, relevant = await asked.find(), asked.judged.relevant
    state = found.state
    by_query = [
        asked.ids(state.papers[paper_id].paper for paper_id in query.found or ()) for query in state.queries
    ]
    by_kind: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for query, ids in zip(state.queries, by_query, strict=True):
        by_kind[query.kind].update(ids)
    by_native = set().union(*(by_kind[kind] for kind in NATIVE))
    rows = {}
    for name, kinds in NAMES.items():
        of_kinds = set().union(*(by_kind[kind] for kind in kinds))
        rows[name] = {
            "queries": sum(query.kind in kinds for query in state.queries),
            "found": len(of_kinds),
            "relevant": len(of_kinds & relevant),
            "judged relevant": len(relevant),
            "not native": len(of_kinds & relevant - by_native),
        }
    # Evolved queries that found relevant papers which no native query found.
    examples = [
        {"query": query.text, "kind": query.kind, "made from": query.paper, "found": new}
        for query, ids in zip(state.queries, by_query, strict=True)
        if query.kind not in NATIVE and (new := [each for each in ids if each in relevant - by_native])
    ]
    return result_of(rows, {}, examples=examples, failures=finding.failures_of(found.step))


def _share(records: Sequence[Record]) -> float:
    found: int = sum(record["relevant"] for record in records)
    relevant: int = sum(record["judged relevant"] for record in records)
    return found / relevant


OF_QUERIES: Mapping[str, Column] = {
    "number": total("queries"),
    "mean papers of a topic": mean("found"),
    "relevant papers": total("relevant"),
    "share of relevant papers": _share,
    "relevant, not by native queries": total("not native"),
}


def queries_summary(of: Results) -> Outcome:
    """Add up the numbers of papers, and show examples."""
    rows = of.rows(NAMES)
    tables = [Comparison("Papers that the queries found", "queries", OF_QUERIES).table(rows)]
    shares = {f"Recall, {name}": _share(rows[name]) for name in ("native queries", "evolved queries")}
    examples = tuple(
        (query_id, each["query"], each["kind"], each["made from"], ", ".join(each["found"]))
        for query_id, topic in zip(of.materials.topics, of.topics, strict=True)
        for each in topic["examples"]
    )
    if examples:
        title = "Evolved queries that found relevant papers which no native query found"
        tables.append(Table(title, ("topic", "query", "kind", "made from", "found"), examples[:SHOWN]))
    notes = (
        "A paper that several kinds of query found counts for each of them.",
        *finding.failed_notes(of),
    )
    return Outcome(tuple(tables), notes=notes, numbers=shares)


FINDING_QUERIES = Experiment(
    FindingCall,
    queries_of_topic,
    queries_summary,
    read_finding,
    about="""\
Relevant papers that the queries of a search for papers found: native and evolved ones.

Appendix C.2 of SPAR, which shows one example. Native queries are made from the question alone: the question
itself and its expansion by the understanding agent. Evolved queries are made from a relevant paper: about its
method, its application and its limitation. Relevant papers are judged relevant in QRELS.""",
)
