"""The measures of experiments: those of `eval/measures.py`, and `both@10` of two-step questions."""

from collections.abc import Sequence
from dataclasses import replace

from eval.measures import Scores, evaluate
from eval.qrels import Qrels
from eval.runs import Run

CUTOFF = 10
# Both: the share of questions with all their papers among the first ten.
RECALL, BOTH = f"R@{CUTOFF}", f"both@{CUTOFF}"


def scores_of(qrels: Qrels, run: Run, measures: Sequence[str]) -> Scores:
    """Score a run with `evaluate`, and with `both@10` if requested."""
    if BOTH not in measures:
        return evaluate(qrels, run, measures)
    found = evaluate(qrels, run, [*(measure for measure in measures if measure != BOTH), RECALL])
    both = {query_id: float(recall == 1) for query_id, recall in found.per_query[RECALL].items()}
    means = found.means | {BOTH: sum(both.values()) / len(both)}
    per_query = found.per_query | {BOTH: both}
    return replace(
        found,
        means={measure: means[measure] for measure in measures},
        per_query={measure: per_query[measure] for measure in measures},
    )
