"""Agreement of judges of relevance with the judgements of QRELS: precision, recall and F1 of pairs.

Table 7 of SPAR. A pair is a question and a paper. Judged pairs from --grade on are relevant. Judged pairs
below it are not, and neither are --negatives unjudged pairs of each question, sampled from the papers that
are judged for other questions. A judge finds a pair relevant if its score reaches the threshold of
`find-papers`. Micro averages weight each pair equally, macro averages each question. The first row finds
every pair relevant: its F1 needs no judge.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated

from pydantic import Field

from base.calls import Flag, Section
from eval.reproduction.experiment import (
    NEEDS_MODEL,
    Cell,
    Experiment,
    Outcome,
    Record,
    Seed,
    Table,
    TopicResult,
)
from eval.reproduction.finding.inputs import (
    JUDGES,
    RULES,
    THRESHOLD,
    FindingMaterials,
    PapersCall,
    judges_of,
    opened_finding,
)
from eval.reproduction.finding.reporting import counts_of, finding_notes, published
from eval.reproduction.finding.set_measures import SetCounts, set_scores
from eval.reproduction.finding.topic import FindingTopic, failures_of, open_topic, resources_of
from generator.finding.agents import ADDITIONS
from generator.finding.agents.judgement import judge
from generator.finding.request import FindRequest
from generator.finding.state import FindingState, FoundBy, KnownPaper, SearchQuery
from generator.tracing.steps import Step
from indexer.corpora.papers import Paper
from retriever.sources.merging import MergedPaper

EVERY = "every pair is relevant"
MICRO_F1, MACRO_F1 = 1, 4  # columns of the table
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


class JudgingPapers(PapersCall):
    """The pairs to judge."""

    grade: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(ge=1, le=1_000_000, description="Least grade of a relevant pair."),
    ] = 1
    negatives: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(ge=0, le=1_000, description="Unjudged pairs for each topic, sampled as not relevant."),
    ] = 10
    judged: Annotated[
        int,
        Flag(section=Section.LIMITS),
        Field(ge=1, le=1_000_000, description="Maximum of judged pairs for each topic, sampled."),
    ] = 1_000
    seed: Seed = 0


@dataclass(frozen=True, slots=True)
class Pairs:
    """The papers to judge for a question, by id, and the ids of the relevant ones."""

    papers: Mapping[str, Paper]
    relevant: frozenset[str]
    sampled: int  # unjudged papers among them
    absent: int  # judged papers that the index does not hold


async def pairs_of_topic(
    call: JudgingPapers, materials: FindingMaterials, query_id: str, question: str
) -> TopicResult:
    """Judge the pairs of a topic by each judge."""
    topic = await open_topic(materials, query_id, question)
    pairs = await _pairs(call, materials, query_id, topic)
    found, failures = {EVERY: SetCounts.of(pairs.papers, pairs.relevant).record()}, []
    replaced: dict[str, int] = {}
    for name in judges_of(materials) if pairs.papers else ():
        step = Step("judging", {})
        state = await _judged(topic, pairs.papers, name, step)
        relevant = [paper_id for paper_id, _ in state.relevant(THRESHOLD)]
        found[name] = SetCounts.of(relevant, pairs.relevant).record()
        if name != RULES:
            replaced[name] = sum(_by_rules(known) for known in state.papers.values())
        failures += failures_of(step)
    return TopicResult(
        {
            "judges": found,
            "pairs": len(pairs.papers),
            "sampled": pairs.sampled,
            "absent": pairs.absent,
            "replaced": replaced,
            "failures": failures,
        }
    )


async def _pairs(
    call: JudgingPapers, materials: FindingMaterials, query_id: str, topic: FindingTopic
) -> Pairs:
    """Sample the pairs of a topic; the same call has the same pairs in any order of the topics."""
    draw = random.Random(f"{call.seed} {query_id}")  # noqa: S311 - not for secrets
    grades = materials.qrels[query_id]
    judged = sorted(grades)
    if len(judged) > call.judged:
        judged = sorted(draw.sample(judged, call.judged))
    others = sorted({paper_id for of in materials.qrels.values() for paper_id in of} - grades.keys())
    sampled = draw.sample(others, min(call.negatives, len(others)))
    found = await topic.opened.sources[0].source.papers([*judged, *sampled])
    return Pairs(
        {paper_id: found[paper_id].paper for paper_id in (*judged, *sampled) if paper_id in found},
        frozenset(each for each in judged if grades[each] >= call.grade and each in found),
        sum(paper_id in found for paper_id in sampled),
        sum(paper_id not in found for paper_id in judged),
    )


async def _judged(topic: FindingTopic, papers: Mapping[str, Paper], name: str, step: Step) -> FindingState:
    """Return a state whose papers are judged by a judge; links between papers do not count."""
    options = dict(JUDGES[name])
    options["without"] = options.get("without", frozenset()) | frozenset(ADDITIONS)
    request = FindRequest(topic.question, **options)
    source = topic.opened.sources[0]
    async with resources_of(topic, request, of_index=True) as resources:
        known = {
            paper_id: KnownPaper(
                MergedPaper(paper, ((source.name, paper_id),)), (FoundBy("query", topic.question, rank),)
            )
            for rank, (paper_id, paper) in enumerate(papers.items(), 1)
        }
        state = FindingState(
            topic.question,
            subject=resources.conditions.remaining,
            queries=(SearchQuery(topic.question, "question", found=tuple(papers)),),
            papers=known,
        )
        return await judge(state, resources, step)


def _by_rules(known: KnownPaper) -> bool:
    """Whether rules judged a paper, whose judgements have themselves as a part."""
    return known.judgement is not None and known.judgement.by in known.judgement.parts


def summary(call: JudgingPapers, materials: FindingMaterials, topics: Sequence[Record]) -> Outcome:
    """Average over pairs and over topics."""
    judged = [topic for topic in topics if topic["judges"][EVERY]["relevant"]]
    pairs, sampled, absent = (sum(topic[part] for topic in judged) for part in ("pairs", "sampled", "absent"))
    positive = sum(topic["judges"][EVERY]["relevant"] for topic in judged)
    rows = {name: _row(name, judged) for name in (EVERY, *JUDGES)}
    measures = ("F1", "precision", "recall")
    columns = ("judge", *(f"micro {each}" for each in measures), *(f"macro {each}" for each in measures))
    return Outcome(
        (
            Table("Agreement of judges with the qrels", columns, tuple(rows.values())),
            published("SPAR, table 7, F1", ("judge", "TREC-COVID", "SciDocs", "LitSearch"), PUBLISHED),
        ),
        notes=(
            f"{pairs:,} pairs of {len(judged):,} topics: {positive:,} relevant, {sampled:,} unjudged.",
            f"A pair of grade {call.grade} or more is relevant.",
            MACRO,
            *(
                f"{name}: rules judged {count:,} pairs, because the reply was unusable."
                for name in JUDGES
                if (count := sum(topic["replaced"].get(name, 0) for topic in judged))
            ),
            *([f"{absent:,} judged papers are not in the index, and left out."] if absent else ()),
            *finding_notes(materials, topics),
        ),
        main={
            f"{columns[place]}, {name}": float(row[place] or 0.0)
            for name, row in rows.items()
            for place in (MICRO_F1, MACRO_F1)
            if isinstance(row[place], float)
        },
    )


def _row(name: str, topics: Sequence[Record]) -> tuple[Cell, ...]:
    counts = counts_of(topics, "judges", name)
    if not counts:
        return (name, NEEDS_MODEL, *(None,) * 5)
    parts = (sum(getattr(each, part.name) for each in counts) for part in fields(SetCounts))
    micro, macro = SetCounts(*parts), set_scores(counts)
    return (name, micro.f1, micro.precision, micro.recall, macro.mean_f1, macro.precision, macro.recall)


EXPERIMENT = Experiment(
    "Judges against judgements",
    "SPAR, table 7",
    JudgingPapers,
    pairs_of_topic,
    summary,
    opened_finding,
    published={"F1, model, brief, TREC-COVID": 0.7256, "F1, model, brief, LitSearch": 0.5566},
    shown=tuple(f"micro F1, {name}" for name in (EVERY, *JUDGES)),
)
