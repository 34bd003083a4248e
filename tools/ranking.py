"""Ranking quality of the methods on real collections, and agreement of a cluster with the embedded engine.

    python -m tools.ranking --home DIR [--topics dev|train] [--json]
    python -m tools.ranking --home DIR --engines [--json]

Each collection is indexed alone and, except hotpotqa-100, combined with the others in one index, with
prefixed ids; every method ranks its questions in both, `paper` and `shrag` also with recorded strategies. The
`or` runs are also compared with those of a real Elasticsearch if they were recorded: alone without the title
clause, combined with a title weight of .3.

With --engines every method ranks the questions on both engines. The cluster is the configured one
(SHRAG_ELASTICSEARCH__…); its indexes have a separate prefix and are kept.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from base.terminal.output import echo, echo_json, echo_lines
from eval.collection import Qrels
from eval.measures import evaluate
from eval.progress import question_bar
from eval.runs import Run, read_run
from eval.statistics import compare, mean_overlap, mean_rank_biased_overlap
from indexer.errors import EngineRefused, EngineUnreachable
from indexer.options import json_option
from indexer.settings import EngineName
from retriever.settings import RetrieverSettings
from tools.bench import (
    BASELINE,
    METHODS,
    PREFIX,
    TUNED,
    Bench,
    Row,
    benches,
    data_option,
    home_option,
    names_option,
    table_of,
)
from tools.collections import COLLECTIONS, Collection, prefixed, questions, recorded_strategies, scores_of

GOLDEN = Path("../shared/golden")
MEASURES = ("nDCG@10", "Success@5", "Success@15")
FIRST = 10
# The title weight of the recorded runs.
RECORDED_TITLE_WEIGHT = {"alone": 0.0, "together": 0.3}


def rank_collections(
    bench: Bench, data: Path, golden: Path, collections: Sequence[Collection], split: str
) -> dict[str, list[Row]]:
    """Rank every collection by every method, alone and combined; compare `or` with the recorded runs."""
    tables: dict[str, list[Row]] = {"ranked": [], "gains": [], "recorded": []}
    for collection in collections:
        topics, judged = questions(data, collection, split)
        for setting in collection.settings:
            subject = {"collection": collection.name, "setting": setting}
            qrels = judged if setting == "alone" else prefixed(judged, collection.prefix)
            measures = (*MEASURES, "R@100", *collection.measures)
            with bench.open(collection, setting) as index:
                runs = bench.runs(index, topics, recorded_strategies(data, collection))
                scores = {method: scores_of(qrels, run, measures) for method, run in runs.items()}
                recorded = golden / collection.recorded.get(setting, "nothing")
                if split == "dev" and recorded.exists():
                    weight = {"title_weight": RECORDED_TITLE_WEIGHT[setting]}
                    like = RetrieverSettings().model_copy(update=weight)
                    ours, theirs = bench.rank(index, topics, BASELINE, like), dict(read_run(recorded))
                    measured = (
                        evaluate(qrels, run, MEASURES[0]).means[MEASURES[0]] for run in (ours, theirs)
                    )
                    names = (MEASURES[0], f"recorded {MEASURES[0]}")
                    figures = dict(zip(names, measured, strict=True)) | similarity(ours, theirs)
                    tables["recorded"].append({**subject, **weight, **figures})
            for method, scored in scores.items():
                tables["ranked"].append(
                    {**subject, "method": method, "questions": len(topics), **scored.means}
                )
                for measure, base in scores[BASELINE].per_query.items() if method.startswith(TUNED) else ():
                    gain = compare(list(base.values()), list(scored.per_query[measure].values())).as_record()
                    tables["gains"].append({**subject, "method": method, "measure": measure, **gain})
    return tables


def similarity(one: Run, other: Run) -> dict[str, float]:
    """Return the similarity of two runs of the same questions."""
    return {
        f"overlap@{FIRST}": mean_overlap(one, other, FIRST),
        "rank_biased_overlap": mean_rank_biased_overlap(one, other),
    }


def rank_by_engines(
    engines: Mapping[EngineName, Bench],
    data: Path,
    collections: Sequence[Collection],
    settings: Sequence[str] = (),
    step: int = 1,
) -> Iterator[Row]:
    """Rank every `step`-th dev question of every collection by every method on both engines, one row each."""
    for collection in collections:
        topics, judged = questions(data, collection, "dev", step)
        measures = (*MEASURES, *collection.measures)
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
                    yield from side_by_side(subject, qrels, ours, theirs, measures)


def side_by_side(
    subject: Mapping[str, str], qrels: Qrels, embedded: Run, cluster: Run, measures: Sequence[str] = MEASURES
) -> list[Row]:
    """Score two runs of the same questions, one row per engine; the cluster's row has their similarity."""
    return [
        {
            **subject,
            "engine": engine,
            "questions": len(run),
            **scores_of(qrels, run, measures).means,
            **(similarity(embedded, cluster) if engine == "elasticsearch" else {}),
        }
        for engine, run in (("tantivy", embedded), ("elasticsearch", cluster))
    ]


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
@click.option("--engines", is_flag=True, help="Compare a cluster with the embedded engine.")
@click.option("--prefix", default=PREFIX, show_default=True, help="Prefix of the indexes in the cluster.")
@names_option(collection.name for collection in COLLECTIONS)
@json_option
def main(
    home: Path,
    data: Path,
    golden: Path,
    split: str,
    names: tuple[str, ...],
    *,
    engines: bool,
    prefix: str,
    as_json: bool,
) -> None:
    """Rank the shared collections by every method, alone and combined, and test the gains."""
    collections = [each for each in COLLECTIONS if split in each.splits and (not names or each.name in names)]
    try:
        with question_bar() as progress:
            if engines:
                both = benches(home, data, progress, prefix)
                tables = {"ranked": list(rank_by_engines(both, data, collections))}
            else:
                tables = rank_collections(Bench(home, data, progress), data, golden, collections, split)
    except (EngineUnreachable, EngineRefused) as error:
        echo(str(error), err=True)
        sys.exit(1)
    if as_json:
        echo_json(tables)
        return
    for title, rows in tables.items():
        shown = [{name: value for name, value in row.items() if name != "interval"} for row in rows]
        echo_lines(["", title, *table_of(shown)] if rows else [])


if __name__ == "__main__":
    main()
