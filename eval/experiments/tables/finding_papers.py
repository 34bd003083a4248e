"""Precision, recall and F1 of ways to find papers, from a single query to a search with agents.

Table 1 of SPAR. The index, and each source given by --source, is searched with the question as typed, with
refined queries (by the understanding agent, fused by rank), and with the keywords of the query-writing
agent; each list has k papers. Then follow the first k papers of method `shrag`, and the papers of
`find-papers`, which decides itself how many of at most k are relevant. Two records are one paper if they have
a DOI, an arXiv id or a title in common.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eval.experiments import comparing
from eval.experiments import finding_topic as finding
from eval.experiments.comparing import Outcome
from eval.experiments.experiment import Experiment, Results, Topic, TopicResult, result_of
from eval.experiments.finding_topic import FindingTopic, failures_of
from generator.finding.agents.retrieval import write_queries
from generator.finding.agents.understanding import understand
from generator.finding.calls import FindRequest
from generator.finding.state import FindResources, SearchQuery
from generator.tracing import Step
from indexer.corpora.papers import Paper
from retriever.engines.ordering import reciprocal_rank_fusion
from retriever.errors import SourceFailed
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.relevance.papers import words_query
from retriever.search import SearchRequest, rank
from retriever.sources.merging import LimitedSource, ask_sources, merge

TYPED, REFINED, KEYWORDS = FORMS = ("question as typed", "refined queries", "keywords by a model")
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


async def lists_of_topic(topic: Topic) -> TopicResult:
    """Make the list of each system for a topic, and count its relevant papers."""
    asked, declared = await FindingTopic.of(topic), topic.materials.declared
    failures: list[str] = []
    lists = await _by_queries(asked, asked.searched().sources if declared else (), failures)
    lists[METHOD] = await _by_method(asked)
    for name, in_index in ((FIND, True), *([(FIND_IN_SOURCES, False)] if declared else [])):
        found = await asked.find(in_index=in_index)
        lists[name] = asked.ids((ranked.known.paper for ranked in found.papers), own_id=in_index)
        failures += failures_of(found.step)
    rows = {name: None if ids is None else asked.counts(ids) for name, ids in lists.items()}
    rankings = {name: finding.ranking_of(ids) for name, ids in lists.items() if ids is not None}
    return result_of(rows, rankings, failures=failures)


async def _by_queries(
    topic: FindingTopic, sources: Sequence[LimitedSource], failures: list[str]
) -> dict[str, list[str] | None]:
    """Search the index and the sources with the queries of each form; None if a form or a source fails."""
    request, step = topic.request(), Step("queries", {})
    places = {INDEX: topic.index.sources[0], **{_label(source.name): source for source in sources}}
    async with topic.resources(request, in_index=True) as resources:
        kinds = sorted({source.kind for source in places.values()})
        forms = await query_forms(request, resources, kinds, step)
    failures += failures_of(step)
    lists: dict[str, list[str] | None] = {}
    for place, source in places.items():
        filters = Filters() if place == INDEX else topic.filters
        for form in FORMS if topic.topic.materials.model else forms:
            lists[f"{place}, {form}"] = None
            try:
                if form in forms:
                    papers = await query_list(source, forms[form][source.kind], _requested(topic), filters)
                    ids = topic.ids(papers, own_id=place == INDEX)
                    lists[f"{place}, {form}"] = ids[: topic.topic.call.k]
            except SourceFailed as error:
                failures.append(str(error))
    return lists


async def query_forms(
    request: FindRequest, resources: FindResources, kinds: Sequence[str], step: Step
) -> dict[str, Mapping[str, tuple[Query, ...]]]:
    """Write the queries of a question in each form, by kind of source; without a model only as typed.

    A refined form has the queries of the understanding agent, or the question if it needs no expansion.
    """

    async def words_of(texts: Sequence[str]) -> dict[str, tuple[Query, ...]]:
        queries = [words_query(await resources.relevance.words(text)) for text in texts]
        return dict.fromkeys(kinds, tuple(query for query in queries if query.clauses))

    forms: dict[str, Mapping[str, tuple[Query, ...]]] = {TYPED: await words_of([request.question])}
    if resources.model is not None:
        understanding = await understand(resources, step)
        if understanding.by == "model":
            forms[REFINED] = await words_of(understanding.queries or (resources.conditions.remaining,))
        question = [SearchQuery(request.question, "question")]
        [written] = await write_queries(question, kinds, resources, step)
        if written.has_other_words:
            forms[KEYWORDS] = {kind: (query,) for kind, query in written.by_kind.items()}
    return forms


async def query_list(
    source: LimitedSource, queries: Sequence[Query], k: int, filters: Filters
) -> list[Paper]:
    """Return the first k papers of a source; the lists of several queries are fused by reciprocal ranks."""
    if not queries:
        return []
    given = await ask_sources(
        [source], lambda asked: asked.search([(query, k) for query in queries], filters=filters)
    )
    merged = merge(given.answers, {}, several=False)
    ranked = merged.found
    ids = ranked[0] if len(ranked) == 1 else [each.item for each in reciprocal_rank_fusion(ranked)]
    return [merged.papers[paper_id].paper for paper_id in ids[:k]]


async def _by_method(asked: FindingTopic) -> list[str]:
    """Return the first k papers of the usual search."""
    topic = asked.topic
    request = SearchRequest(topic.question, k=_requested(asked), collapse=True)
    ranked = await rank(topic.materials.index, request, topic.settings)
    papers = await asked.index.sources[0].source.papers([paper_id for paper_id, _ in ranked.hits])
    found = (papers[paper_id] for paper_id, _ in ranked.hits if paper_id in papers)
    return asked.ids(found, own_id=True)[: topic.call.k]


def _requested(topic: FindingTopic) -> int:
    """Return the number of papers to request, some of which may be newer than the question."""
    k: int = topic.topic.call.k
    return k if topic.day is None else min(MOST_REQUESTED, DATED * k)


def _label(source: str) -> str:
    return f"source {source}"


def summary(of: Results) -> Outcome:
    """Average the counts of each system over the topics."""
    declared = of.materials.declared
    places = [INDEX, *(_label(each.name) for each in declared)]
    queries = [f"{place}, {form}" for place in places for form in FORMS]
    rows = of.rows([*queries, METHOD, FIND, *([FIND_IN_SOURCES] if declared else [])])
    title = f"Papers found, at most {of.call.k} for each topic"
    missing = None if of.call.model else comparing.NEEDS_MODEL
    table = comparing.Comparison(
        title,
        "system",
        comparing.COLUMNS,
        missing=missing,
        main=comparing.MAIN,
        published=comparing.of_benchmarks(PUBLISHED),
        measures=tuple(comparing.MEASURES),
    ).table(rows)
    main = {name: value for name, value in table.main.items() if name.endswith((FIND, METHOD))}
    notes = (*comparing.NOTES, *finding.failed_notes(of))
    return Outcome((replace(table, main=main),), notes=notes)


EXPERIMENT = Experiment(
    finding.FindingCall,
    lists_of_topic,
    summary,
    finding.read_finding,
    published={"F1, find-papers, AutoScholarQuery": 0.3843, "F1, find-papers, SPARBench": 0.3015},
)
