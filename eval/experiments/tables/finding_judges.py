"""Search for papers with each judge of relevance: rules, and the model with a brief or a complex prompt.

Table 6 of SPAR, which compares models; here the rows are the judges of the configured model. The brief prompt
asks for one score. The complex prompt asks for three criteria, a gate and deductions, from which the score is
computed. The rules judge by a cross-encoder or an encoder if one is configured, else by the probability of
the paper's score in the question's ranking. All other agents are the same in each row.
"""

from collections.abc import Sequence

from eval.experiments.experiment import Experiment, Outcome, Record, TopicResult
from eval.experiments.finding.inputs import JUDGES, FindingCall, FindingMaterials, judges_of, opened_finding
from eval.experiments.finding.reporting import (
    MEASURES,
    compared_table,
    finding_notes,
    main_numbers,
    published,
    published_columns,
)
from eval.experiments.finding.topic import failures_of, find, open_topic, ranking_of
from eval.experiments.retrieving import run_name

# F1, recall and precision on AutoScholarQuery, then on SPARBench.
PUBLISHED = (
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


async def judges_of_topic(
    call: FindingCall, materials: FindingMaterials, query_id: str, question: str
) -> TopicResult:
    """Search for the papers of a topic with each judge."""
    topic = await open_topic(materials, query_id, question)
    counts, rankings, failures = {}, {}, []
    for judge in judges_of(materials):
        found = await find(call, topic, **JUDGES[judge])
        ids = topic.ids(ranked.known.paper for ranked in found.papers)
        counts[judge] = topic.counts(ids)
        rankings[run_name(judge)] = ranking_of(ids)
        failures += failures_of(found.step)
    return TopicResult({"judges": counts, "failures": failures}, rankings)


def summary(call: FindingCall, materials: FindingMaterials, topics: Sequence[Record]) -> Outcome:
    """Compare the judges."""
    title = f"Papers found, at most {call.k} for each topic, by judge"
    return Outcome(
        (
            compared_table(title, "judge", topics, "judges", list(JUDGES)),
            published("SPAR, table 6", published_columns("judge"), PUBLISHED),
        ),
        notes=(*MEASURES, *finding_notes(materials, topics)),
        main=main_numbers(topics, "judges", {judge: judge for judge in JUDGES}),
    )


EXPERIMENT = Experiment(
    "Judges in a search for papers",
    "SPAR, table 6",
    FindingCall,
    judges_of_topic,
    summary,
    opened_finding,
    published={
        "F1, model, brief, AutoScholarQuery": 0.38,
        "F1, model, complex, AutoScholarQuery": 0.08,
    },
    shown=("F1, rules", "F1, model, brief", "F1, model, complex"),
)
