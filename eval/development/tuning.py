"""Constants of the lexical order, chosen by leaving one training set out, and the gain on that set.

    python -m eval.development.tuning --home DIR [--step N] [--json]

The sets are the training collections and every STEP-th training question of tydi, each in a separate index. A
grid of weights (feedback, neighbours, same title) is combined with each variant of the constants for
computing features; a variant changes one constant. A gain is the difference of the mean nDCG@10 from the mean
of `or`, relative to it. The constants chosen for a set have the highest mean gain on the other sets; ties go
to the smaller weights.

All are measured on the same candidates, found with the constants in use. The weights of the second search are
not changed: among the sets, only musique-100 needs it. Constraints and the place of the other language are
switched off.
"""

import asyncio
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from base.progress import Progress
from eval.development.weight_grid import (
    SAME_TITLE,
    candidates_of,
    grid,
    judged_rankings,
    ndcg,
    written,
)
from eval.experiments.bench import BASELINE, Bench
from eval.experiments.collections import COLLECTIONS, TRAINING, Collection, present, questions
from eval.experiments.options import data_option, home_option
from eval.experiments.rows import Row, echo_rows
from eval.measures import evaluate
from eval.progress import question_bar
from eval.qrels import Qrels
from indexer.options import json_option
from retriever.engines import NumberedRows
from retriever.index import SearchIndex
from retriever.methods.shrag import TITLE_WEIGHT
from retriever.order.bm25 import Scores
from retriever.order.candidate_features import CandidateFeatures, Measure, measure
from retriever.order.feedback import SELECTION, TermSelection, feedback_terms
from retriever.order.patterns import TokenPlaces
from retriever.order.score_parts import ScoredCandidates
from retriever.order.weights import LEXICAL_WEIGHTS, SAME_TITLE_WEIGHT
from retriever.query_plan import BRIDGES, FEEDBACK
from retriever.settings import RetrieverSettings
from retriever.stages.stages import Ranking

NDCG = "nDCG@10"
FEWEST_SETS = 2
SETS = (*TRAINING, *(collection for collection in COLLECTIONS if "train" in collection.splits))
GRID: Mapping[str, Sequence[float]] = {
    "base": (LEXICAL_WEIGHTS["base"],),  # only the ratio of the others to it matters
    "feedback": (0.0, 0.3, 0.45, 0.6, 0.8, 1.0),
    "neighbours": (0.0, 0.1, 0.2, 0.3),
    SAME_TITLE: (0.0, 0.1, 0.2, 0.3),
}
WEIGHTS = grid(GRID)
IN_USE = {**LEXICAL_WEIGHTS, SAME_TITLE: SAME_TITLE_WEIGHT}


@dataclass(frozen=True, slots=True)
class Variant:
    """Constants for computing features; at most one of them differs from the constants in use."""

    name: str = ""
    title_weight: float = TITLE_WEIGHT
    selection: TermSelection = SELECTION


VARIANTS = (
    Variant(),
    *(Variant(f"title weight {weight:g}", title_weight=weight) for weight in (0.3, 0.6, 1.5)),
    *(Variant(f"{n} passages", selection=replace(SELECTION, passages=n)) for n in (1, 2, 5, 10)),
    *(Variant(f"{n} terms", selection=replace(SELECTION, terms=n)) for n in (10, 20, 80)),
    *(Variant(f"power {power}", selection=replace(SELECTION, power=power)) for power in (1, 3, 20)),
    *(Variant(f"most share {share:g}", selection=replace(SELECTION, most_share=share)) for share in (0.1, 1)),
)


# The names of all combinations: each of the weights with each variant.
TRIED = [f"{variant.name or 'constants in use'}; {written(of)}" for variant in VARIANTS for of in WEIGHTS]
PLACE_IN_USE = WEIGHTS.index(IN_USE)  # the first variant is the one in use


def found_first(ranking: Ranking) -> set[str]:
    """Return the candidates of the first search."""
    found = ranking.pool.found if ranking.pool else {}
    first = {
        hit.passage_id for name, hits in found.items() if name not in {FEEDBACK, BRIDGES} for hit in hits
    }
    return first | {shown for shown, replaced in ranking.replaced.items() if not first.isdisjoint(replaced)}


def measured_by(
    variant: Variant, first: Container[str], by: Measure, read: NumberedRows
) -> CandidateFeatures:
    """Compute the features of candidates again, with feedback from the candidates of the first search."""
    is_first = np.array([passage_id in first for passage_id in read.ids])
    scale = replace(by.scale, title_weight=variant.title_weight)
    again = measure(replace(by, scale=scale), read)
    terms = feedback_terms(
        read,
        np.where(is_first, again.base, 0.0),
        by.statistics.passages,
        by.question.excluded_tokens,
        variant.selection,
    )
    return replace(again, feedback=terms.scores(TokenPlaces.of(read, terms.strengths), scale))


def measured_by_all(first: Container[str], by: Measure, read: NumberedRows) -> list[CandidateFeatures]:
    """Compute the features by each variant."""
    return [measured_by(variant, first, by, read) for variant in VARIANTS]


async def values_of(
    index: SearchIndex, topics: Mapping[str, str], qrels: Qrels, progress: Progress
) -> NDArray[np.float64]:
    """Return the nDCG@10 of the judged questions: questions × `TRIED`."""
    table = []
    async for ranking, judged in judged_rankings(index, topics, qrels, RetrieverSettings(), progress):
        if ranking.measure is None or ranking.scored is None:
            table.append(np.zeros(len(TRIED)))
            continue
        function = partial(measured_by_all, found_first(ranking), ranking.measure)
        measured = await index.engine.of_rows(ranking.scored.ids, function)
        pack = partial(candidates_of, ranking, judged=judged, unit=index.manifest.unit)
        fixed = _second_search(ranking.scored)
        packed = [pack(each.features, each.same_title, fixed=fixed) for each in measured]
        table.append(np.concatenate([ndcg(of_variant, WEIGHTS) for of_variant in packed]))
    return np.array(table)


def _second_search(candidates: ScoredCandidates) -> Scores:
    """Return the scores that the second search adds."""
    first = {*LEXICAL_WEIGHTS, SAME_TITLE}
    gained = [values * weight for name, (values, weight) in candidates.parts.items() if name not in first]
    return np.asarray(sum(gained, np.zeros(len(candidates.ids))))


def gains_of(bench: Bench, data: Path, collection: Collection, step: int, progress: Progress) -> Scores:
    """Return the relative gain over `or` on a set by each of `TRIED`."""
    split, every = ("train", step) if "train" in collection.splits else ("dev", 1)
    topics, judged = questions(data, collection, split, every)
    qrels = {query_id: judged[query_id] for query_id in topics if query_id in judged}
    with bench.open(collection, "alone") as index:
        base = evaluate(qrels, bench.rank(index, topics, BASELINE), [NDCG]).means[NDCG]
        values = asyncio.run(values_of(index, topics, qrels, progress))
    return np.asarray(values.mean(axis=0) / base - 1)


def chosen_without(gains: NDArray[np.float64]) -> list[int]:
    """Return for each set (row) the column with the highest mean gain on the other sets."""
    return [int(np.delete(gains, left_out, axis=0).mean(axis=0).argmax()) for left_out in range(len(gains))]


def gain_rows(gains: Mapping[str, Scores]) -> list[Row]:
    """Return one row per set, and rows of the means of the training collections and of all sets.

    Args:
        gains: of at least two sets, by each of `TRIED`.
    """
    table = np.array([*gains.values()])
    best = int(table.mean(axis=0).argmax())
    chosen = chosen_without(table)
    columns = {"in use": [PLACE_IN_USE] * len(chosen), "in sample": [best] * len(chosen), "left out": chosen}
    found = {name: table[np.arange(len(table)), np.array(places)] for name, places in columns.items()}
    rows = [
        Row({"set": name, "chosen": TRIED[place]}, {column: float(of[row]) for column, of in found.items()})
        for row, (name, place) in enumerate(zip(gains, chosen, strict=True))
    ]
    known = {collection.name for collection in TRAINING}
    training = np.array([name in known for name in gains])
    for title, of_mean in (("mean of training", training), ("mean of all", np.ones_like(training))):
        if of_mean.any():
            figures = {column: float(of[of_mean].mean()) for column, of in found.items()}
            rows.append(Row({"set": title, "chosen": f"in sample: {TRIED[best]}"}, figures))
    return rows


@click.command()
@home_option
@data_option
@click.option("--step", default=4, show_default=True, help="Take every STEP-th training question of tydi.")
@json_option
def main(home: Path, data: Path, step: int, as_json: bool) -> None:
    """Choose constants by leaving one training set out, and print their gains."""
    sets = present(data, SETS)
    if len(sets) < FEWEST_SETS:
        raise click.UsageError(
            f"{data} contains {len(sets)} of the sets; leaving one out needs {FEWEST_SETS}"
        )
    with question_bar() as progress:
        bench = Bench(home, data, progress)
        gains = {each.name: gains_of(bench, data, each, step, progress) for each in sets}
    echo_rows(gain_rows(gains), as_json=as_json)


if __name__ == "__main__":
    main()
