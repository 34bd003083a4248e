"""Search for papers with each judge of relevance: rules, and the model with a brief or a complex prompt.

Table 6 of SPAR, which compares models; here the rows are the judges of the configured model. The brief prompt
asks for one score. The complex prompt asks for three criteria, a gate and deductions, from which the score is
computed. The rules judge by a cross-encoder or an encoder if one is configured, else by the probability of
the paper's score in the question's ranking. All other agents are the same in each row.
"""

from eval.experiments.comparing import compared, main_numbers, with_published
from eval.experiments.experiment import Experiment, Outcome, Results
from eval.experiments.finding_topic import (
    JUDGED_BY_MODEL,
    JUDGES,
    FindingCall,
    failed_notes,
    opened_finding,
    searches,
)
from eval.experiments.set_measures import COLUMNS, MAIN, MEASURES, NOTES, f1_of, of_benchmarks

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


def summary(of: Results) -> Outcome:
    """Compare the judges."""
    rows = of.rows(JUDGES)
    title = f"Papers found, at most {of.call.k} for each topic, by judge"
    table = compared(title, "judge", rows, COLUMNS, f1_of, "difference of mean F1")
    return Outcome(
        (with_published(table, tuple(MEASURES), of_benchmarks(PUBLISHED)),),
        notes=(*NOTES, *failed_notes(of)),
        main=main_numbers(rows, MAIN),
    )


EXPERIMENT = Experiment(
    FindingCall,
    searches(JUDGES, JUDGED_BY_MODEL),
    summary,
    opened_finding,
    published={
        "F1, model, brief, AutoScholarQuery": 0.38,
        "F1, model, complex, AutoScholarQuery": 0.08,
    },
    shown=("F1, rules", "F1, model, brief", "F1, model, complex"),
)
