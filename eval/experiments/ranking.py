"""Ranking quality of the methods on real collections.

    python -m eval.experiments.ranking --home DIR [--topics dev|train] [--json]

Each collection is indexed alone and, except hotpotqa-100, combined with the others in one index, with
prefixed ids; every method ranks its questions in both, `paper` and `shrag` also with recorded strategies. The
`or` runs are also compared with those of a real Elasticsearch if they were recorded: alone without the title
clause, combined with a title weight of .3.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from base.terminal.columns import table
from base.terminal.output import echo_json, echo_lines
from eval.experiments.bench import BASELINE, TUNED, Bench
from eval.experiments.collections import (
    COLLECTIONS,
    Collection,
    collection_option,
    prefixed,
    questions,
    recorded_strategies,
    scores_of,
)
from eval.experiments.console import Row, data_option, home_option, table_of
from eval.measures import evaluate
from eval.overlap import mean_overlap, mean_rank_biased_overlap
from eval.progress import question_bar
from eval.qrels import Qrels
from eval.run_reader import read_run
from eval.runs import Ranking, Run
from eval.significance import Comparison, compare, difference_columns
from indexer.options import json_option
from retriever.settings import RetrieverSettings

GOLDEN = Path("../shared/golden")

MEASURES = ("nDCG@10", "Success@5", "Success@15", "R@100")
FIRST = 10
# The title weight of the recorded runs.
RECORDED_TITLE_WEIGHT = {"alone": 0.0, "together": 0.3}


class Tables(NamedTuple):
    """Scores of all methods, gains of the tuned one, and the baseline compared with recorded runs."""

    ranked: list[Row]
    gains: list[tuple[Mapping[str, str], Comparison]]  # by collection, setting, method and measure
    beside: list[Row]


def run_experiment(
    bench: Bench, data: Path, golden: Path, collections: Sequence[Collection], split: str
) -> Tables:
    """Rank every collection by every method, alone and combined; compare `or` with the recorded runs."""
    tables = Tables([], [], [])
    for collection in collections:
        topics, judged = questions(data, collection, split)
        for setting in collection.settings:
            subject = {"collection": collection.name, "setting": setting}
            qrels = judged if setting == "alone" else prefixed(judged, collection.prefix)
            with bench.open(collection, setting) as index:
                measures = (*MEASURES, *collection.measures)
                runs = bench.runs(index, topics, recorded_strategies(data, collection))
                scores = {method: scores_of(qrels, run, measures) for method, run in runs.items()}
                recorded = golden / collection.recorded.get(setting, "nothing")
                if split == "dev" and recorded.exists():
                    like = {"title_weight": RECORDED_TITLE_WEIGHT[setting]}
                    ours = bench.rank(index, topics, BASELINE, RetrieverSettings().model_copy(update=like))
                    figures = beside_recorded(qrels, ours, read_run(recorded))
                    tables.beside.append(
                        Row(subject, {"title_weight": RECORDED_TITLE_WEIGHT[setting], **figures})
                    )
            tables.ranked.extend(
                Row(subject | {"method": method}, {"questions": len(topics), **scored.means})
                for method, scored in scores.items()
            )
            tables.gains.extend(
                (
                    subject | {"method": method, "measure": measure},
                    compare(list(base.values()), list(scores[method].per_query[measure].values())),
                )
                for method in scores
                if method.startswith(TUNED)
                for measure, base in scores[BASELINE].per_query.items()
            )
    return tables


def beside_recorded(qrels: Qrels, ours: Run, recorded: Mapping[str, Ranking]) -> dict[str, float]:
    """Compare a run with the recorded one of the same title weight."""
    measure = MEASURES[0]
    return {
        measure: evaluate(qrels, ours, measure).means[measure],
        f"recorded {measure}": evaluate(qrels, recorded, measure).means[measure],
        f"overlap@{FIRST}": mean_overlap(ours, recorded, FIRST),
        "rank_biased_overlap": mean_rank_biased_overlap(ours, recorded),
    }


def _show(tables: Tables) -> None:
    echo_lines([*table_of(tables.ranked), "", f"{TUNED} − {BASELINE}"])
    rows = [(*subject.values(), *found.as_cells()) for subject, found in tables.gains]
    header = ("collection", "setting", "method", "measure", *difference_columns("gain"))
    echo_lines(table([header, *rows], words=4))
    if tables.beside:
        echo_lines(["", f"{BASELINE} beside the recorded runs", *table_of(tables.beside)])


@click.command()
@home_option
@data_option
@click.option("--golden", type=click.Path(path_type=Path), default=GOLDEN, show_default=True)
@click.option(
    "--topics",
    "split",
    type=click.Choice(["dev", "train"]),
    default="dev",
    show_default=True,
    help="dev (scifact: test), or train without the questions of dev.",
)
@collection_option
@json_option
def main(home: Path, data: Path, golden: Path, split: str, names: tuple[str, ...], as_json: bool) -> None:
    """Rank the shared collections by every method, alone and combined, and test the gains."""
    collections = [
        collection
        for collection in COLLECTIONS
        if split in collection.splits and (not names or collection.name in names)
    ]
    with question_bar() as progress:
        tables = run_experiment(Bench(home, data, progress), data, golden, collections, split)
    if not as_json:
        _show(tables)
        return
    record = {
        "ranked": [row.as_record() for row in tables.ranked],
        "gains": [{**subject, **found.as_record()} for subject, found in tables.gains],
        "recorded": [row.as_record() for row in tables.beside],
    }
    echo_json(record)


if __name__ == "__main__":
    main()
