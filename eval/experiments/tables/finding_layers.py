"""Layers of references that are followed from relevant papers: papers known and judged relevant, and recall.

Table 5 of SPAR (RefChain), which compares no layer with one. Each row is a separate search with 0 to 3
layers: 1 follows the references of relevant papers, 2 also the references of relevant papers among them. Raw
papers are all papers known after the search; valid papers are judged relevant, without the limit k of a list.
Recall and precision are over the valid papers; raw recall is over the raw ones. Unless --pure is given, the
papers that cite a relevant paper are part of a layer too.
"""

from collections.abc import Mapping

from eval.experiments.comparing import Column, compared, main_numbers, mean, with_published
from eval.experiments.experiment import Experiment, Outcome, Results
from eval.experiments.finding_topic import FindingCall, failed_notes, opened_finding, searches
from eval.experiments.set_measures import MAIN, NOTES, f1, precision, recall

LAYERS = {f"layers {layers}": {"layers": layers} for layers in range(4)}
COLUMNS: Mapping[str, Column] = {
    "recall": recall,
    "precision": precision,
    "raw papers": lambda records: mean("retrieved")([each["examined"] for each in records]),
    "valid papers": mean("retrieved"),
    "raw recall": lambda records: recall([each["examined"] for each in records]),
}
PUBLISHED = {
    "layers 0, AutoScholarQuery": (0.41, 0.29, 306.90, 3.95, 0.58),
    "layers 1, AutoScholarQuery": (0.44, 0.19, 569.08, 6.58, 0.77),
    "layers 0, SPARBench": (0.13, 0.22, 367.81, 10.77, 0.26),
    "layers 1, SPARBench": (0.15, 0.16, 504.94, 15.00, 0.31),
}


def summary(of: Results) -> Outcome:
    """Average the numbers of papers and the set measures."""
    rows = of.rows(LAYERS)
    title = "Papers known and judged relevant for each topic, by layers of references"
    main = {name: MAIN[name] for name in ("Recall", "Precision")}
    table = compared(title, "layers", rows, {**COLUMNS, "F1": f1})
    return Outcome(
        (with_published(table, tuple(COLUMNS), PUBLISHED),),
        notes=(*NOTES, *failed_notes(of)),
        main=main_numbers(rows, main),
    )


EXPERIMENT = Experiment(
    FindingCall,
    searches(LAYERS, listed="valid"),
    summary,
    opened_finding,
    published={"Recall, layers 0, AutoScholarQuery": 0.41, "Recall, layers 1, AutoScholarQuery": 0.44},
    shown=("Recall, layers 0", "Recall, layers 1"),
)
