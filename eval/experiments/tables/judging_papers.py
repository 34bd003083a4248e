"""Agreement of judges of relevance with the judgements of QRELS: precision, recall and F1 of pairs.

Table 7 of SPAR. A pair is a question and a paper. Judged pairs from --grade on are relevant. Judged pairs
below it are not, and neither are --negatives unjudged pairs of each question, sampled from the papers that
are judged for other questions. A judge finds a pair relevant if its score reaches the threshold of
`find-papers`. Micro averages weight each pair equally, macro averages each question. The first row finds
every pair relevant: its F1 needs no judge.
"""

from collections.abc import Mapping
from dataclasses import replace

from eval.experiments import comparing
from eval.experiments import finding_topic as finding
from eval.experiments.comparing import ROWS, Column, Outcome, Table, mean_f1, precision, recall, set_counts
from eval.experiments.experiment import Experiment, Results, Topic, TopicResult, result_of
from eval.experiments.finding_topic import JUDGED_BY_MODEL, JUDGES, FindingTopic
from eval.experiments.materials import drawing, option, seed
from generator.finding.agents import ADDITIONS
from generator.finding.agents.judgement import judge
from generator.finding.calls import FindRequest
from generator.finding.state import FindingState, FoundBy, KnownPaper, SearchQuery
from generator.tracing import Step
from indexer.corpora.papers import Paper
from retriever.sources.merging import MergedPaper

EVERY = "every pair is relevant"
MACRO = (
    "Macro F1 is the mean of each question's F1. Macro precision is over the questions with a pair found "
    "relevant."
)

PUBLISHED = (
    ("PaSa's selector", 0.7010, 0.1291, 0.4980),
    ("Llama 3.1 8B, brief", 0.6967, 0.7453, 0.5695),
    ("Llama 3.1 8B, complex", 0.6537, 0.5251, 0.5080),
    ("Llama 3.3 70B, brief", 0.7047, 0.7366, 0.5737),
    ("Llama 3.3 70B, complex", 0.6942, 0.3278, 0.5108),
    ("Qwen 2.5 7B, brief", 0.6930, 0.3022, 0.4808),
    ("Qwen 2.5 7B, complex", 0.6693, 0.0751, 0.3571),
    ("Qwen 2.5 72B, brief", 0.7163, 0.7715, 0.5830),
    ("Qwen 2.5 72B, complex", 0.6921, 0.1668, 0.4374),
    ("Qwen 3 8B, brief", 0.7143, 0.3553, 0.5224),
    ("Qwen 3 8B, complex", 0.6569, 0.1203, 0.4335),
    ("Qwen 3 14B, brief", 0.7170, 0.4756, 0.5338),
    ("Qwen 3 14B, complex", 0.6853, 0.1238, 0.4481),
    ("Qwen 3 32B, brief", 0.7256, 0.6082, 0.5566),
    ("Qwen 3 32B, complex", 0.6729, 0.1651, 0.4550),
)


class JudgingPapers(finding.PapersCall):
    """The pairs to judge."""

    grade: int = option("Least grade of a relevant pair.", 1, ge=1, le=1_000_000)
    negatives: int = option("Unjudged pairs for each topic, sampled as not relevant.", 10, ge=0, le=1_000)
    seed: int = seed()


async def pairs_of_topic(topic: Topic) -> TopicResult:
    """Judge the pairs of a topic by each judge; the same call has the same pairs in any order of topics."""
    asked, call, qrels = await FindingTopic.of(topic), topic.call, topic.materials.qrels
    draw, grades = drawing(f"{call.seed} {topic.query_id}"), qrels[topic.query_id]
    judged = sorted(grades)
    others = sorted({paper_id for of in qrels.values() for paper_id in of} - grades.keys())
    sampled = draw.sample(others, min(call.negatives, len(others)))
    indexed = await asked.index.sources[0].source.papers([*judged, *sampled])
    papers = {each: indexed[each] for each in (*judged, *sampled) if each in indexed}
    relevant = {each for each in judged if grades[each] >= call.grade and each in papers}
    rows, failures = {EVERY: set_counts(papers, relevant)}, list[str]()
    for name in JUDGES if papers else ():
        if name in JUDGED_BY_MODEL and topic.materials.model is None:
            continue
        step = Step("judging", {})
        state = await _judged(asked, papers, name, step)
        rows[name] = set_counts((paper_id for paper_id, _ in state.relevant(finding.THRESHOLD)), relevant)
        failures += finding.failures_of(step)
    counts = {
        "pairs": len(papers),
        "sampled": sum(each in papers for each in sampled),
        "absent": sum(each not in papers for each in judged),
    }
    return result_of(rows, {}, **counts, failures=failures)


async def _judged(topic: FindingTopic, papers: Mapping[str, Paper], name: str, step: Step) -> FindingState:
    """Return a state whose papers are judged by a judge; links between papers do not count."""
    question, options = topic.topic.question, dict(JUDGES[name])
    options["without"] = options.get("without", frozenset()) | frozenset(ADDITIONS)
    request, source = FindRequest(question, **options), topic.index.sources[0].name
    async with topic.resources(request, in_index=True) as resources:
        known = {
            paper_id: KnownPaper(
                MergedPaper(paper, ((source, paper_id),)), (FoundBy("query", question, rank),)
            )
            for rank, (paper_id, paper) in enumerate(papers.items(), 1)
        }
        state = FindingState(
            question,
            subject=resources.conditions.remaining,
            queries=(SearchQuery(question, "question", found=tuple(papers)),),
            papers=known,
        )
        return await judge(state, resources, step)


def _micro(column: Column) -> Column:
    """Return the column of all pairs as those of one question."""
    return lambda records: column([{part: sum(each[part] for each in records) for part in records[0]}])


COLUMNS: Mapping[str, Column] = {
    "micro F1": _micro(mean_f1),
    "micro precision": _micro(precision),
    "micro recall": _micro(recall),
    "macro F1": mean_f1,
    "macro precision": precision,
    "macro recall": recall,
}


def summary(of: Results) -> Outcome:
    """Average over pairs and over topics."""
    judged = [topic for topic in of.topics if topic[ROWS][EVERY]["relevant"]]
    pairs, sampled, absent = (sum(topic[part] for topic in judged) for part in ("pairs", "sampled", "absent"))
    positive = sum(topic[ROWS][EVERY]["relevant"] for topic in judged)
    rows = replace(of, topics=judged).rows((EVERY, *JUDGES))
    notes = [
        f"{pairs:,} pairs of {len(judged):,} topics: {positive:,} relevant, {sampled:,} unjudged.",
        f"A pair of grade {of.call.grade} or more is relevant.",
        MACRO,
    ]
    if absent:
        notes.append(f"{absent:,} judged papers are not in the index, and left out.")
    main = {name: COLUMNS[name] for name in ("micro F1", "macro F1")}
    tables = (
        comparing.Comparison("Agreement of judges with the qrels", "judge", COLUMNS, main=main).table(rows),
        Table("Published: SPAR, table 7, F1", ("judge", "TREC-COVID", "SciDocs", "LitSearch"), PUBLISHED),
    )
    return Outcome(tables, notes=(*notes, *finding.failed_notes(of)))


EXPERIMENT = Experiment(
    JudgingPapers,
    pairs_of_topic,
    summary,
    finding.read_finding,
    published={"F1, model, brief, TREC-COVID": 0.7256, "F1, model, brief, LitSearch": 0.5566},
)
