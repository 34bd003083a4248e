"""Whether a cluster ranks as the embedded engine does: the same methods on both, laid side by side.

    python -m eval.experiments.engines --home DIR [--collection NAME] [--json]

The cluster is the one of the settings (SHRAG_ELASTICSEARCH__…); what is indexed there bears a prefix of its
own and stays, so that the experiment can be repeated without building again.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from eval.experiments.options import data_option, home_option
from eval.experiments.ranking import COLLECTIONS, FIRST, METHODS, Bench, Collection, prefixed, questions
from eval.measures import evaluate
from eval.overlap import mean_overlap, mean_rank_biased_overlap
from eval.progress import question_bar
from eval.qrels import Qrels
from eval.runs import Run
from eval.tables import aligned
from indexer.errors import EngineRefused, EngineUnreachable
from indexer.options import json_option
from indexer.requests import Progress
from indexer.settings import EngineName, IndexerSettings

PREFIX = "engines"
SETTINGS = ("alone", "together")
MEASURES = ("nDCG@10", "Success@5", "Success@15")
SHOWN = MEASURES[:2]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """What one method made of one collection's questions on both engines."""

    collection: str
    setting: str
    method: str
    questions: int
    embedded: Mapping[str, float]
    elasticsearch: Mapping[str, float]
    overlap: float
    rank_biased_overlap: float

    @property
    def means(self) -> tuple[Mapping[str, float], Mapping[str, float]]:
        """The mean scores on both engines, the embedded one first."""
        return self.embedded, self.elasticsearch

    def as_record(self) -> dict[str, Any]:
        """Return the row of the table."""
        names = ("collection", "setting", "method", "questions", "embedded", "elasticsearch")
        return {name: getattr(self, name) for name in names} | {
            f"overlap@{FIRST}": self.overlap,
            "rank_biased_overlap": self.rank_biased_overlap,
        }


def benches(
    home: Path, data: Path, progress: Progress, given: IndexerSettings, prefix: str = PREFIX
) -> dict[EngineName, Bench]:
    """Return a bench for each engine, at places of their own below `home`; the rest is as in `given`."""
    cluster = given.elasticsearch.model_copy(update={"prefix": prefix})
    places: dict[EngineName, Path] = {"tantivy": home / "embedded", "elasticsearch": home / "cluster"}
    return {
        engine: Bench(
            place,
            data,
            progress,
            given.model_copy(update={"home": place, "engine": engine, "elasticsearch": cluster}),
        )
        for engine, place in places.items()
    }


def run_experiment(
    engines: Mapping[EngineName, Bench],
    data: Path,
    collections: Sequence[Collection],
    *,
    settings: Sequence[str] = SETTINGS,
    methods: Sequence[str] = METHODS,
) -> list[SideBySide]:
    """Rank every collection's dev questions by every method on both engines."""
    found: list[SideBySide] = []
    for collection in collections:
        topics, judged = questions(data, collection, "dev")
        for setting in settings:
            qrels = judged if setting == "alone" else prefixed(judged, collection.prefix)
            with (
                engines["tantivy"].open(collection, setting) as embedded,
                engines["elasticsearch"].open(collection, setting) as cluster,
            ):
                for method in methods:
                    ours = engines["tantivy"].rank(embedded, topics, method)
                    theirs = engines["elasticsearch"].rank(cluster, topics, method)
                    found.append(side_by_side(collection.name, setting, method, qrels, ours, theirs))
    return found


def side_by_side(
    collection: str, setting: str, method: str, qrels: Qrels, embedded: Run, elasticsearch: Run
) -> SideBySide:
    """Measure two runs of the same questions, and how alike they are."""
    return SideBySide(
        collection=collection,
        setting=setting,
        method=method,
        questions=len(embedded),
        embedded=evaluate(qrels, embedded, MEASURES).means,
        elasticsearch=evaluate(qrels, elasticsearch, MEASURES).means,
        overlap=mean_overlap(embedded, elasticsearch, FIRST),
        rank_biased_overlap=mean_rank_biased_overlap(embedded, elasticsearch),
    )


def _show(found: Sequence[SideBySide]) -> None:
    rows = [
        (
            compared.collection,
            compared.setting,
            compared.method,
            str(compared.questions),
            *(f"{means[measure]:.4f}" for measure in SHOWN for means in compared.means),
            f"{compared.overlap:.4f}",
            f"{compared.rank_biased_overlap:.4f}",
        )
        for compared in found
    ]
    measured = (name for measure in SHOWN for name in (measure, "Elasticsearch"))
    header = ("collection", "index", "method", "questions", *measured, f"first {FIRST} in common", "RBO")
    click.echo(aligned(header, rows, words=3))


@click.command()
@home_option
@data_option
@click.option("--prefix", default=PREFIX, show_default=True, help="Of the indexes in the cluster.")
@click.option(
    "--collection",
    "names",
    multiple=True,
    type=click.Choice([collection.name for collection in COLLECTIONS]),
    help="Only this; may be given again.",
)
@json_option
def main(home: Path, data: Path, prefix: str, names: tuple[str, ...], as_json: bool) -> None:
    """Rank the shared collections on the embedded engine and on a cluster, alone and in one index."""
    collections = [collection for collection in COLLECTIONS if not names or collection.name in names]
    try:
        with question_bar() as progress:
            found = run_experiment(
                benches(home, data, progress, IndexerSettings(), prefix), data, collections
            )
    except (EngineUnreachable, EngineRefused) as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    if as_json:
        click.echo(json.dumps({"ranked": [compared.as_record() for compared in found]}, ensure_ascii=False))
        return
    _show(found)


if __name__ == "__main__":
    main()
