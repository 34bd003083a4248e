"""Indexes of the collections, runs of their questions, and the rows and options of the tools.

A row is a record: its texts are the measured subject, its numbers the figures.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

import click

from base.terminal.columns import table
from base.terminal.output import echo_json, echo_lines
from eval.ranking import rank_topics
from eval.runs import Run
from indexer.errors import IndexMismatch, UnknownIndex
from indexer.ingest import IngestRequest, Progress, build_index
from indexer.options import json_option
from indexer.settings import EngineName, IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tools.collections import Collection

DATA = Path("../shared/data")
METHODS = ("or", "paper", "shrag")
BASELINE, TUNED = "or", "shrag"
RECORDED = {f"{method}, recorded": method for method in ("paper", "shrag")}  # with recorded strategies
DEPTH = 100

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

    def open(self, collection: Collection) -> SearchIndex:
        """Open the index of a collection."""
        try:
            return open_index(self._settings, collection.name)
        except (UnknownIndex, IndexMismatch):
            paths = [str(self._data / collection.corpus)]
            request = IngestRequest(name=collection.name, paths=paths, rebuild=True)
            build_index(request, self._settings, self._progress)
        return open_index(self._settings, collection.name)

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


def bench_of(engine: EngineName, home: Path, data: Path, progress: Progress, prefix: str) -> Bench:
    """Return the bench of an engine; the rest of the settings is from the environment."""
    given = IndexerSettings()
    cluster = given.elasticsearch.model_copy(update={"prefix": prefix})
    changed = {"home": home / engine, "engine": engine, "elasticsearch": cluster}
    return Bench(home, data, progress, given.model_copy(update=changed))


def _check_folder(_: click.Context, __: click.Parameter, folder: Path) -> Path:
    if not folder.is_dir():
        raise click.UsageError(f"no collections in {folder}; set their folder: --data DIR")
    return folder


def path_option(name: str, text: str, **options: Any) -> Callable[[Any], Any]:
    """Return an option whose value is a path; a default is shown."""
    return click.option(name, type=click.Path(path_type=Path), help=text, show_default=True, **options)


home_option = path_option("--home", "The folder for the indexes.", required=True)
optional_data_option = path_option("--data", "The shared data.", default=DATA)
data_option = path_option("--data", "The folder of the collections.", default=DATA, callback=_check_folder)
step_option = click.option("--step", default=1, show_default=True, help="Take every STEP-th question.")


def names_option(names: Iterable[str], name: str = "--collection") -> Callable[[Any], Any]:
    """Return the option that selects some of these collections."""
    return click.option(
        name, "names", multiple=True, type=click.Choice(list(names)), help="Only this one; repeatable."
    )


def table_command(measure: Callable[..., Iterable[Row] | None]) -> click.Command:
    """Make a command of a function with options, whose rows are printed; None if it has printed them."""

    @click.command()
    @json_option
    @wraps(measure)
    def command(*, as_json: bool, **options: Any) -> None:
        if (rows := measure(**options)) is None:
            return
        if as_json:
            echo_json({"rows": list(rows)})
        else:
            echo_lines(table_of(list(rows)))

    return command


def subject_of(row: Row) -> dict[str, str]:
    """Return the texts of a row."""
    return {name: value for name, value in row.items() if isinstance(value, str)}


def figures_of(row: Row) -> dict[str, float]:
    """Return the numbers of a row."""
    return {name: value for name, value in row.items() if not isinstance(value, str)}


def table_of(rows: Sequence[Row]) -> list[str]:
    """Format rows of the same subjects: counts unchanged, other figures to four places."""
    if not rows:
        return []
    subject = list(subject_of(rows[0]))
    names = list(dict.fromkeys(name for row in rows for name in row if name not in subject))
    cells = [[*(row[name] for name in subject), *(_shown(row.get(name)) for name in names)] for row in rows]
    return table([[*subject, *names], *cells], words=len(subject))


def _shown(figure: float | None) -> str:
    if figure is None:
        return ""
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.4f}"
