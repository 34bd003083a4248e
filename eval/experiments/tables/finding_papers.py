"""Precision, recall and F1 of ways to find papers, from a single query to a search with agents.

Table 1 of SPAR. The index, and each source given by --source, is searched with the question as typed, with
refined queries (by the understanding agent, fused by rank), and with the keywords of the query-writing
agent; each list has k papers. Then follow the first k papers of method `shrag`, and the papers of
`find-papers`, which decides itself how many of at most k are relevant. Two records are one paper if they have
a DOI, an arXiv id or a title in common.
"""

from collections.abc import Sequence

from eval.experiments.experiment import Experiment, Outcome, Record, TopicResult
from eval.experiments.finding.inputs import FindingCall, FindingMaterials, opened_finding
from eval.experiments.finding.query_lists import FORMS, query_forms, query_list
from eval.experiments.finding.reporting import (
    MEASURES,
    finding_notes,
    main_numbers,
    published,
    published_columns,
    score_table,
)
from eval.experiments.finding.topic import (
    FindingTopic,
    failures_of,
    find,
    find_in_index,
    find_request,
    open_topic,
    ranking_of,
    resources_of,
)
from eval.experiments.retrieving import run_name
from generator.tracing.steps import Step
from retriever.queries.filters import Filters
from retriever.search import SearchRequest, rank
from retriever.sources.merging import LimitedSource

INDEX, METHOD, FIND = "index", "method shrag", "find-papers"
FIND_IN_SOURCES = "find-papers in the sources"
DATED, MOST_REQUESTED = 5, 1_000  # papers requested for a question with a day: times k, and at most

# F1, recall and precision on AutoScholarQuery, then on SPARBench; None is "-" in the paper.
PUBLISHED = (
    ("Google, question as typed", None, 0.2015, None, None, 0.0, None),
    ("Google, refined by GPT-4o", None, 0.2683, None, 0.0092, 0.0082, 0.0106),
    ("Google Scholar", None, 0.1130, None, 0.0043, 0.0038, 0.0050),
    ("ChatGPT search", 0.0869, 0.3046, 0.0507, 0.0045, 0.0038, 0.0055),
    ("Google on arXiv", 0.0400, 0.1571, 0.0229, 0.2451, 0.2800, 0.2180),
    ("Google on arXiv, refined by Qwen3-32B", 0.0556, 0.1692, 0.0333, 0.1923, 0.1613, 0.2382),
    ("PubMed, keywords by Qwen3-32B", None, 0.0, None, None, 0.0, None),
    ("OpenAlex, keywords by Qwen3-32B", 0.0045, 0.1083, 0.0023, 0.0242, 0.0988, 0.0138),
    ("Semantic Scholar, keywords by Qwen3-32B", 0.0044, 0.0833, 0.0023, 0.0135, 0.0449, 0.0080),
    ("PaSa", 0.2449, 0.7931, 0.1448, 0.1041, 0.1009, 0.1076),
    ("PaperFinder", 0.0506, 0.8333, 0.0261, 0.0418, 0.1474, 0.0244),
    ("SPAR", 0.3843, 0.4105, 0.3612, 0.3015, 0.3103, 0.2932),
)


async def lists_of_topic(
    call: FindingCall, materials: FindingMaterials, query_id: str, question: str
) -> TopicResult:
    """Make the list of each system for a topic, and count its relevant papers."""
    topic = await open_topic(materials, query_id, question)
    failures: list[str] = []
    async with topic.searched() as searched:
        sources = searched.sources if topic.sources else ()
        lists = await _by_queries(call, topic, sources, failures)
    lists[METHOD] = await _by_method(call, materials, topic)
    found = await find_in_index(call, topic)
    lists[FIND] = topic.ids((ranked.known.paper for ranked in found.papers), own_id=True)
    failures += failures_of(found.step)
    if topic.sources:
        elsewhere = await find(call, topic)
        lists[FIND_IN_SOURCES] = topic.ids(ranked.known.paper for ranked in elsewhere.papers)
        failures += failures_of(elsewhere.step)
    counts = {name: None if ids is None else topic.counts(ids) for name, ids in lists.items()}
    rankings = {run_name(name): ranking_of(ids) for name, ids in lists.items() if ids is not None}
    return TopicResult({"systems": counts, "failures": failures}, rankings)


async def _by_queries(
    call: FindingCall, topic: FindingTopic, sources: Sequence[LimitedSource], failures: list[str]
) -> dict[str, list[str] | None]:
    """Search the index and the sources with the queries of each form; None if a form or a source fails."""
    request, step = find_request(call, topic), Step("queries", {})
    places = [(INDEX, topic.opened.sources[0]), *((_label(source.name), source) for source in sources)]
    async with resources_of(topic, request, of_index=True) as resources:
        kinds = sorted({source.kind for _, source in places})
        forms = await query_forms(request, resources, kinds, step)
    failures += failures_of(step)
    lists: dict[str, list[str] | None] = {}
    for place, source in places:
        for form in FORMS:
            name = f"{place}, {form}"
            if form not in forms:
                if topic.model:
                    lists[name] = None
                continue
            of_index = place == INDEX
            filters = Filters() if of_index else topic.filters
            found = await query_list(source, forms[form][source.kind], _requested(call, topic), filters)
            failures += [found.failure] if found.failure else []
            lists[name] = None if found.failure else topic.ids(found.papers, own_id=of_index)[: call.k]
    return lists


async def _by_method(call: FindingCall, materials: FindingMaterials, topic: FindingTopic) -> list[str]:
    """Return the first k papers of the usual search."""
    request = SearchRequest(topic.question, k=_requested(call, topic), collapse=True)
    ranked = await rank(materials.index, request, topic.settings.retriever)
    source = topic.opened.sources[0].source
    papers = await source.papers([paper_id for paper_id, _ in ranked.hits])
    found = (papers[paper_id].paper for paper_id, _ in ranked.hits if paper_id in papers)
    return topic.ids(found, own_id=True)[: call.k]


def _requested(call: FindingCall, topic: FindingTopic) -> int:
    """Return the number of papers to request, some of which may be newer than the question."""
    return call.k if topic.day is None else min(MOST_REQUESTED, DATED * call.k)


def _label(source: str) -> str:
    return f"source {source}"


def systems(sources: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the rows, for these sources besides the index."""
    queries = (f"{place}, {form}" for place in (INDEX, *map(_label, sources)) for form in FORMS)
    return (*queries, METHOD, FIND, *([FIND_IN_SOURCES] if sources else []))


def summary(call: FindingCall, materials: FindingMaterials, topics: Sequence[Record]) -> Outcome:
    """Average the counts of each system over the topics."""
    names = systems([each.name for each in materials.sources.declared] if materials.sources else [])
    measured = score_table(
        f"Papers found, at most {call.k} for each topic", "system", topics, "systems", names
    )
    return Outcome(
        (measured, published("SPAR, table 1", published_columns("system"), PUBLISHED)),
        notes=(*MEASURES, *finding_notes(materials, topics)),
        main=main_numbers(topics, "systems", {FIND: "find-papers", METHOD: "method shrag"}),
    )


EXPERIMENT = Experiment(
    "Ways to find papers",
    "SPAR, table 1",
    FindingCall,
    lists_of_topic,
    summary,
    opened_finding,
    published={"F1, find-papers, AutoScholarQuery": 0.3843, "F1, find-papers, SPARBench": 0.3015},
    shown=("F1, method shrag", "F1, find-papers"),
)
