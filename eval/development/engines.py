"""Agreement of a cluster with the embedded engine: the same methods on both, compared.

    python -m eval.development.engines --home DIR [--collection NAME] [--json]

The cluster is the configured one (SHRAG_ELASTICSEARCH__…); the indexes there have a separate prefix and are
kept, so that the experiment can be repeated without building again.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from base.terminal.output import echo, echo_json, echo_lines
from eval.experiments.bench import METHODS, PREFIX, Bench, benches
from eval.experiments.collections import (
    COLLECTIONS,
    Collection,
    collection_option,
    prefixed,
    questions,
    scores_of,
)
from eval.experiments.console import Row, data_option, home_option, table_of
from eval.experiments.ranking import FIRST
from eval.overlap import mean_overlap, mean_rank_biased_overlap
from eval.progress import question_bar
from eval.qrels import Qrels
from eval.runs import Run
from indexer.errors import EngineRefused, EngineUnreachable
from indexer.options import json_option
from indexer.settings import EngineName

MEASURES = ("nDCG@10", "Success@5", "Success@15")


def run_experiment(
    engines: Mapping[EngineName, Bench],
    data: Path,
    collections: Sequence[Collection],
    settings: Sequence[str] = (),
    step: int = 1,
) -> list[Row]:
    """Rank every `step`-th dev question of every collection by every method on both engines, one row each."""
    rows: list[Row] = []
    for collection in collections:
        topics, judged = questions(data, collection, "dev", step)
        for setting in settings or collection.settings:
            qrels = judged if setting == "alone" else prefixed(judged, collection.prefix)
            with (
                engines["tantivy"].open(collection, setting) as embedded,
                engines["elasticsearch"].open(collection, setting) as cluster,
            ):
                for method in METHODS:
                    ours = engines["tantivy"].rank(embedded, topics, method)
                    theirs = engines["elasticsearch"].rank(cluster, topics, method)
                    subject = {"collection": collection.name, "setting": setting, "method": method}
                    rows += side_by_side(subject, qrels, ours, theirs, (*MEASURES, *collection.measures))
    return rows


def side_by_side(
    subject: Mapping[str, str],
    qrels: Qrels,
    embedded: Run,
    elasticsearch: Run,
    measures: Sequence[str] = MEASURES,
) -> list[Row]:
    """Score two runs of the same questions, one row per engine; the cluster's row has their similarity."""
    alike = {
        f"overlap@{FIRST}": mean_overlap(embedded, elasticsearch, FIRST),
        "rank_biased_overlap": mean_rank_biased_overlap(embedded, elasticsearch),
    }
    return [
        Row(
            {**subject, "engine": engine},
            {"questions": len(run), **scores_of(qrels, run, measures).means, **more},
        )
        for engine, run, more in (("tantivy", embedded, {}), ("elasticsearch", elasticsearch, alike))
    ]


@click.command()
@home_option
@data_option
@click.option("--prefix", default=PREFIX, show_default=True, help="Prefix of the indexes in the cluster.")
@collection_option
@json_option
def main(home: Path, data: Path, prefix: str, names: tuple[str, ...], as_json: bool) -> None:
    """Rank the shared collections on the embedded engine and on a cluster, alone and combined."""
    collections = [collection for collection in COLLECTIONS if not names or collection.name in names]
    try:
        with question_bar() as progress:
            found = run_experiment(benches(home, data, progress, prefix), data, collections)
    except (EngineUnreachable, EngineRefused) as error:
        echo(str(error), err=True)
        sys.exit(1)
    if as_json:
        echo_json({"ranked": [row.as_record() for row in found]})
        return
    echo_lines(table_of(found))


if __name__ == "__main__":
    main()
