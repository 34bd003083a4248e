"""The measures of experiments: those of `eval/measures.py`, and of two-step questions `both@10`."""

from collections.abc import Sequence
from dataclasses import replace

from eval.measures import Scores, evaluate
from eval.qrels import Qrels
from eval.runs import Run

RECALL, BOTH = "R@10", "both@10"  # both: of all questions those with all their papers among the first ten


def scores_of(qrels: Qrels, run: Run, measures: Sequence[str]) -> Scores:
    """Score a run as `evaluate` does, and by `both@10`, if that is asked for."""
    found = evaluate(qrels, run, [measure for measure in measures if measure != BOTH])
    if BOTH not in measures:
        return found
    both = {query_id: float(recall == 1) for query_id, recall in found.per_query[RECALL].items()}
    return replace(
        found,
        means=found.means | {BOTH: sum(both.values()) / len(both)},
        per_query=found.per_query | {BOTH: both},
    )
