"""What vectors add: the table of candidates, on the embedded engine and on a cluster.

    python -m eval.experiments.vectors --home DIR [--engine tantivy|elasticsearch|both] [--json]

The encoder is the one of the settings (SHRAG_ENCODER__…). Each collection is indexed alone with its vectors;
the method `shrag` then orders three sets of candidates: the union of the progressive queries, the whole
question's hundred, and both that and the hundred nearest passages. Beside them stand BM25 (`or`), the paper's
way and the vectors alone. What was encoded for one engine is not encoded again for the other.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from eval.experiments.engines import PREFIX
from eval.experiments.options import data_option, home_option
from eval.experiments.ranking import COLLECTIONS, DEPTH, Bench, Collection, questions
from eval.measures import Scores, evaluate
from eval.progress import question_bar
from eval.ranking import rank_topics
from eval.runs import Run
from eval.tables import aligned
from indexer.errors import IndexerError
from indexer.ingest import Progress
from indexer.options import json_option
from indexer.settings import EngineName, IndexerSettings
from indexer.store.build_folder import VECTORS
from indexer.store.engines import open_store
from retriever.index import SearchIndex
from retriever.search import SearchRequest
from retriever.settings import Candidates, RetrieverSettings

MEASURES = ("nDCG@10", "Success@5", "R@100")
ENGLISH = ("scifact", "tydi-en")
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
ROWS: Mapping[str, tuple[str, Candidates]] = {
    "BM25": ("or", "both"),
    "the paper: progressive union by cosine": ("paper", "both"),
    "progressive union": ("shrag", "progressive"),
    "BM25's hundred": ("shrag", "lexical"),
    "BM25's hundred and the nearest hundred": ("shrag", "both"),
    "nearest alone": ("dense", "both"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """What one way made of one collection's questions on one engine."""

    collection: str
    engine: EngineName
    candidates: str
    questions: int
    scores: Scores

    def as_record(self) -> dict[str, Any]:
        """Return the row of the table."""
        names = ("collection", "engine", "candidates", "questions")
        return {name: getattr(self, name) for name in names} | self.scores.means


def settings_of(given: IndexerSettings, home: Path, engine: EngineName, prefix: str) -> IndexerSettings:
    """Return the settings of an experiment's indexes in one engine; the rest is as in `given`."""
    cluster = given.elasticsearch.model_copy(update={"prefix": prefix})
    return given.model_copy(update={"home": home / engine, "engine": engine, "elasticsearch": cluster})


def share_vectors(embedded: IndexerSettings, cluster: IndexerSettings, name: str) -> None:
    """Let a build in the cluster find what was encoded for the embedded engine."""
    with open_store(embedded, name) as source, open_store(cluster, name) as target:
        version = source.current()
        if version and target.current() is None and not target.local.encoded.exists():
            shutil.copytree(source.local.version_path(version) / VECTORS, target.local.encoded)


def rank(index: SearchIndex, topics: Mapping[str, str], way: str, progress: Progress) -> Run:
    """Rank the questions by a way of the table."""
    method, candidates = ROWS[way]
    settings = RetrieverSettings().model_copy(update={"candidates": candidates})
    request = SearchRequest("", method=method, k=DEPTH, collapse=index.manifest.unit == "paper")
    return asyncio.run(rank_topics(index, topics, request, settings, progress=progress)).run


def run_experiment(
    settings: IndexerSettings,
    home: Path,
    data: Path,
    collections: Sequence[Collection],
    engines: Sequence[EngineName],
    progress: Progress,
    prefix: str = PREFIX,
) -> Iterator[Row]:
    """Yield the rows of the table."""
    places = {engine: settings_of(settings, home, engine, prefix) for engine in ENGINES}
    for collection in collections:
        topics, qrels = questions(data, collection, "dev")
        for engine in engines:
            if engine != ENGINES[0]:
                share_vectors(places[ENGINES[0]], places[engine], collection.name)
            with Bench(home, data, progress, places[engine]).open(collection, "alone") as index:
                for way in ROWS:
                    scores = evaluate(qrels, rank(index, topics, way, progress), MEASURES)
                    yield Row(collection.name, engine, way, len(topics), scores)


@click.command()
@home_option
@data_option
@click.option("--engine", type=click.Choice([*ENGINES, "both"]), default="tantivy", show_default=True)
@click.option(
    "--collection",
    "names",
    multiple=True,
    default=ENGLISH,
    show_default=True,
    type=click.Choice([collection.name for collection in COLLECTIONS]),
)
@json_option
def main(home: Path, data: Path, engine: str, names: tuple[str, ...], as_json: bool) -> None:
    """Rank the shared collections with the vectors of the settings' encoder."""
    settings = IndexerSettings()
    if settings.encoder.provider == "none":
        click.echo("no encoder is configured: set SHRAG_ENCODER__PROVIDER and SHRAG_ENCODER__MODEL", err=True)
        sys.exit(2)
    engines = [name for name in ENGINES if engine in {name, "both"}]
    collections = [collection for collection in COLLECTIONS if collection.name in names]
    try:
        with question_bar() as progress:
            rows = list(run_experiment(settings, home, data, collections, engines, progress))
    except IndexerError as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    if as_json:
        click.echo(json.dumps({"rows": [row.as_record() for row in rows]}, ensure_ascii=False))
        return
    cells = [
        (
            row.collection,
            row.engine,
            row.candidates,
            str(row.questions),
            *(f"{mean:.4f}" for mean in row.scores.means.values()),
        )
        for row in rows
    ]
    click.echo(aligned(("collection", "engine", "candidates", "questions", *MEASURES), cells, words=3))


if __name__ == "__main__":
    main()
