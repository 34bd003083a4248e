"""Indexes of the collections, runs of their questions, and rows of tables.

A row is a record: its texts are the measured subject, its numbers the figures.
"""

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, get_args

import click

from base.terminal.columns import table
from base.terminal.output import echo_json, echo_lines
from eval.ranking import rank_topics
from eval.runs import Run
from indexer.errors import IndexMismatch, UnknownIndex
from indexer.ingest import IngestRequest, Progress, build_index
from indexer.settings import EngineName, IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tools.collections import COLLECTIONS, Collection, write_combined

DATA = Path("../shared/data")
COMBINED = "combined"
METHODS = ("or", "paper", "shrag")
BASELINE, TUNED = "or", "shrag"
RECORDED = {f"{method}, recorded": method for method in ("paper", "shrag")}  # with recorded strategies
DEPTH = 100
PREFIX = "engines"  # of the indexes in a cluster
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

Row: TypeAlias = Mapping[str, Any]


class Bench:
    """The collections' indexes in a home folder, built if they are missing or outdated."""

    def __init__(
        self, home: Path, data: Path, progress: Progress, settings: IndexerSettings | None = None
    ) -> None:
        """Set the folders, or all settings; nothing is built yet."""
        self._settings = settings or IndexerSettings(home=home)
        self._data = data
        self._progress = progress

    def open(self, collection: Collection, setting: str = "alone") -> SearchIndex:
        """Open the collection's own index, or the combined one."""
        name = collection.name if setting == "alone" else COMBINED
        try:
            return open_index(self._settings, name)
        except (UnknownIndex, IndexMismatch):
            pass
        with tempfile.TemporaryDirectory() as folder:
            corpus = self._data / collection.corpus
            if name == COMBINED:
                corpus = Path(folder) / "combined.jsonl"
                write_combined(corpus, self._data, [known for known in COLLECTIONS if known.prefix])
            request = IngestRequest(name=name, paths=[str(corpus)], rebuild=True)
            build_index(request, self._settings, self._progress)
        return open_index(self._settings, name)

    def rank(
        self,
        index: SearchIndex,
        topics: Mapping[str, str],
        method: str,
        settings: RetrieverSettings | None = None,
        strategies: Mapping[str, Strategy] | None = None,
    ) -> Run:
        """Rank the questions in the index's unit of judgement, by statistics or by given strategies."""
        request = SearchRequest("", method=method, k=DEPTH, collapse=index.manifest.unit == "paper")
        settings = settings or RetrieverSettings()
        return asyncio.run(rank_topics(index, topics, request, settings, strategies, progress=self._progress))

    def runs(
        self, index: SearchIndex, topics: Mapping[str, str], strategies: Mapping[str, Strategy]
    ) -> dict[str, Run]:
        """Rank the questions by every method, and with strategies of all of them by `RECORDED` too."""
        runs = {method: self.rank(index, topics, method) for method in METHODS}
        if topics.keys() <= strategies.keys():
            for name, method in RECORDED.items():
                runs[name] = self.rank(index, topics, method, strategies=strategies)
        return runs


def benches(home: Path, data: Path, progress: Progress, prefix: str = PREFIX) -> dict[EngineName, Bench]:
    """Return a bench for each engine; the rest of the settings is from the environment."""
    given = IndexerSettings()
    cluster = given.elasticsearch.model_copy(update={"prefix": prefix})
    return {
        engine: Bench(
            home,
            data,
            progress,
            given.model_copy(update={"home": home / engine, "engine": engine, "elasticsearch": cluster}),
        )
        for engine in ENGINES
    }


def _check_folder(context: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    del context, parameter
    if not folder.is_dir():
        raise click.UsageError(f"no collections in {folder}; set their folder: --data DIR")
    return folder


home_option = click.option(
    "--home", required=True, type=click.Path(path_type=Path), help="The folder for the indexes."
)
optional_data_option = click.option(
    "--data", type=click.Path(path_type=Path), default=DATA, show_default=True, help="The shared data."
)
data_option = click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=DATA,
    show_default=True,
    callback=_check_folder,
    help="The folder of the collections.",
)


def names_option(names: Iterable[str]) -> Callable[[Any], Any]:
    """Return the option that selects some of these collections."""
    choice = click.Choice(list(names))
    return click.option(
        "--collection", "names", multiple=True, type=choice, help="Only this one; repeatable."
    )


def subject_of(row: Row) -> dict[str, str]:
    """Return the texts of a row."""
    return {name: value for name, value in row.items() if isinstance(value, str)}


def figures_of(row: Row) -> dict[str, float]:
    """Return the numbers of a row."""
    return {name: value for name, value in row.items() if not isinstance(value, str)}


def table_of(rows: Sequence[Row]) -> list[str]:
    """Format rows of the same subjects: counts unchanged, other figures to four places."""
    subject = list(subject_of(rows[0])) if rows else []
    names = list(dict.fromkeys(name for row in rows for name in row if name not in subject))
    cells = [[*(row[name] for name in subject), *(_shown(row.get(name)) for name in names)] for row in rows]
    return table([[*subject, *names], *cells], words=len(subject))


def _shown(figure: float | None) -> str:
    if figure is None:
        return ""
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.4f}"


def echo_rows(rows: Sequence[Row], *, as_json: bool) -> None:
    """Write rows to standard output, as a table or one JSON object."""
    if as_json:
        echo_json({"rows": rows})
    else:
        echo_lines(table_of(rows))
