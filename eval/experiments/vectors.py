"""The gain by vectors, on the embedded engine and on a cluster.

    python -m eval.experiments.vectors --home DIR [--engine tantivy|elasticsearch|both] [--json]

The encoder is the configured one (SHRAG_ENCODER__…). Each collection is indexed alone with its vectors. The
method `shrag` orders its candidates with and without the cosine, and with and without the nearest passages
among them. It is compared with BM25 (`or`), the method of the paper and vectors only. Passages encoded for
one engine are not encoded again for the other.
"""

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from base.errors import ResourceError
from base.terminal.output import echo
from eval.experiments.bench import ENGINES, Bench, settings_of
from eval.experiments.collections import COLLECTIONS, Collection, collection_option, questions
from eval.experiments.console import Row, data_option, echo_rows, home_option
from eval.measures import evaluate
from eval.progress import question_bar
from indexer.ingest import Progress
from indexer.options import json_option
from indexer.settings import EngineName, IndexerSettings
from indexer.versions.store.build_folder import VECTORS
from indexer.versions.store.engines import open_store
from retriever.query_plan import NEAREST
from retriever.settings import OrderPart, RetrieverSettings

MEASURES = ("nDCG@10", "Success@5", "R@100")
ENGLISH = ("scifact", "tydi-en")
# Method, queries that are not sent, and parts of the score that are left out.
ROWS: Mapping[str, tuple[str, tuple[str, ...], frozenset[OrderPart]]] = {
    "BM25": ("or", (), frozenset()),
    "the paper: progressive union by cosine": ("paper", (), frozenset()),
    "formula without vectors": ("shrag", (NEAREST,), frozenset({"cosine"})),
    "formula and cosine": ("shrag", (NEAREST,), frozenset()),
    "formula, cosine and the nearest hundred": ("shrag", (), frozenset()),
    "nearest alone": ("dense", (), frozenset()),
}


def share_vectors(embedded: IndexerSettings, cluster: IndexerSettings, name: str) -> None:
    """Copy the vectors of the embedded engine to a build in the cluster."""
    with open_store(embedded, name) as source, open_store(cluster, name) as target:
        version = source.current()
        if version and target.current() is None and not target.local.encoded.exists():
            shutil.copytree(source.local.version_path(version) / VECTORS, target.local.encoded)


def run_experiment(
    home: Path,
    data: Path,
    collections: Sequence[Collection],
    engines: Sequence[EngineName],
    progress: Progress,
) -> Iterator[Row]:
    """Yield the rows of the table."""
    places = {engine: settings_of(home, engine) for engine in ENGINES}
    for collection in collections:
        topics, qrels = questions(data, collection, "dev")
        for engine in engines:
            if engine != ENGINES[0]:
                share_vectors(places[ENGINES[0]], places[engine], collection.name)
            bench = Bench(home, data, progress, places[engine])
            with bench.open(collection, "alone") as index:
                for way, (method, skip, without) in ROWS.items():
                    settings = RetrieverSettings().model_copy(update={"without": without})
                    run = bench.rank(index, topics, method, settings, skip=skip)
                    means = evaluate(qrels, run, MEASURES).means
                    subject = {"collection": collection.name, "engine": engine, "candidates": way}
                    yield Row(subject, {"questions": len(topics), **means})


@click.command()
@home_option
@data_option
@click.option("--engine", type=click.Choice([*ENGINES, "both"]), default="tantivy", show_default=True)
@collection_option
@json_option
def main(home: Path, data: Path, engine: str, names: tuple[str, ...], as_json: bool) -> None:
    """Rank the shared collections with the vectors of the settings' encoder."""
    if IndexerSettings().encoder.provider == "none":
        echo("no encoder is configured: set SHRAG_ENCODER__PROVIDER and SHRAG_ENCODER__MODEL", err=True)
        sys.exit(2)
    engines = [name for name in ENGINES if engine in {name, "both"}]
    collections = [collection for collection in COLLECTIONS if collection.name in (names or ENGLISH)]
    try:
        with question_bar() as progress:
            rows = list(run_experiment(home, data, collections, engines, progress))
    except ResourceError as error:
        echo(str(error), err=True)
        sys.exit(1)
    echo_rows(rows, as_json=as_json)


if __name__ == "__main__":
    main()
