"""Variants of the retrieval of a topic, compared by the relevant documents that they find."""

from collections.abc import Sequence
from statistics import fmean
from typing import TypedDict

from eval.experiments.experiment import NEEDS_MODEL, Cell, Record, Table
from eval.experiments.retrieving import Retrieved, relevant_in
from eval.significance import NONE, difference_cells, difference_columns

NOTE = "Differences are to the first row; p: paired randomisation test."
VARIANTS = "variants"  # key of a topic's record with the record of each variant by name


class VariantRecord(TypedDict):
    """Numbers of documents: relevant ones that were found, or are in the union of all queries; the union."""

    found: int
    found_by_union: int
    union: int


def variant_record(retrieved: Retrieved, relevant: frozenset[str]) -> VariantRecord:
    """Count the documents of a topic."""
    return {
        "found": relevant_in(retrieved.ranking, relevant),
        "found_by_union": len(relevant & retrieved.union),
        "union": len(retrieved.union),
    }


def variants_table(title: str, names: Sequence[str], topics: Sequence[Record]) -> Table:
    """Compare variants with the first one: query success rate, shares of relevant documents, and a test."""
    return Table(
        title,
        (
            *("variant", "QSR, %", "share of relevant documents", "share found by the union", "mean union"),
            *difference_columns("difference of the share"),
        ),
        tuple(_row(name, names[0], topics) for name in names),
    )


def main_shares(names: Sequence[str], topics: Sequence[Record]) -> dict[str, float]:
    """Return the share of relevant documents of each measured variant, for `Outcome.main`."""
    measured = (name for name in names if _is_measured(name, topics))
    return {f"share, {name}": fmean(_shares(name, topics, "found")) for name in measured}


def _is_measured(name: str, topics: Sequence[Record]) -> bool:
    return all(name in topic[VARIANTS] for topic in topics)


def _row(name: str, first: str, topics: Sequence[Record]) -> tuple[Cell, ...]:
    if not _is_measured(name, topics):
        return (name, NEEDS_MODEL, *(None,) * 3, *NONE)
    shares = _shares(name, topics, "found")
    return (
        name,
        100 * fmean(share > 0 for share in shares),
        fmean(shares),
        fmean(_shares(name, topics, "found_by_union")),
        fmean(topic[VARIANTS][name]["union"] for topic in topics),
        *difference_cells(lambda row: _shares(row, topics, "found"), name, first),
    )


def _shares(name: str, topics: Sequence[Record], part: str) -> list[float]:
    return [topic[VARIANTS][name][part] / topic["relevant"] for topic in topics]
