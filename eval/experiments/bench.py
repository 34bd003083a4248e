"""The indexes of the collections, and runs of their questions."""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from eval.experiments.collections import COLLECTIONS, Collection, write_combined
from eval.ranking import rank_topics
from eval.runs import Run
from indexer.errors import IndexMismatch, UnknownIndex
from indexer.ingest import IngestRequest, Progress, build_index
from indexer.settings import EngineName, IndexerSettings
from retriever.index import SearchIndex, open_index
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy

COMBINED = "combined"
METHODS = ("or", "paper", "shrag")
BASELINE, TUNED = "or", "shrag"
RECORDED = {f"{method}, recorded": method for method in ("paper", "shrag")}  # with recorded strategies
DEPTH = 100
PREFIX = "engines"  # of the indexes in a cluster
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


class Bench:
    """The collections' indexes in a home folder, built if they are missing or outdated."""

    def __init__(
        self, home: Path, data: Path, progress: Progress, settings: IndexerSettings | None = None
    ) -> None:
        """Set the folders, or all settings; nothing is built yet."""
        self._settings = settings or IndexerSettings(home=home)
        self._data = data
        self._progress = progress

    def open(self, collection: Collection, setting: str) -> SearchIndex:
        """Open the collection's own index, or the combined one."""
        if setting == "alone":
            return self._opened(collection.name, [self._data / collection.corpus])
        with tempfile.TemporaryDirectory() as folder:
            return self._opened(COMBINED, [Path(folder) / "combined.jsonl"])

    def _opened(self, name: str, paths: Sequence[Path]) -> SearchIndex:
        try:
            return open_index(self._settings, name)
        except (UnknownIndex, IndexMismatch):
            if name == COMBINED:
                write_combined(paths[0], self._data, [known for known in COLLECTIONS if known.prefix])
            request = IngestRequest(name=name, paths=[str(path) for path in paths], rebuild=True)
            build_index(request, self._settings, self._progress)
            return open_index(self._settings, name)

    def rank(
        self,
        index: SearchIndex,
        topics: Mapping[str, str],
        method: str,
        settings: RetrieverSettings | None = None,
        strategies: Mapping[str, Strategy] | None = None,
        skip: tuple[str, ...] = (),
    ) -> Run:
        """Rank the questions in the index's unit of judgement, by statistics or by given strategies."""
        settings = settings or RetrieverSettings()
        collapse = index.manifest.unit == "paper"
        request = SearchRequest(question="", method=method, k=DEPTH, collapse=collapse, skip=skip)
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


def settings_of(home: Path, engine: EngineName, prefix: str = PREFIX) -> IndexerSettings:
    """Return the settings of an experiment's indexes in one engine; the rest is from the environment."""
    given = IndexerSettings()
    cluster = given.elasticsearch.model_copy(update={"prefix": prefix})
    return given.model_copy(update={"home": home / engine, "engine": engine, "elasticsearch": cluster})


def benches(home: Path, data: Path, progress: Progress, prefix: str = PREFIX) -> dict[EngineName, Bench]:
    """Return a bench for each engine."""
    return {engine: Bench(home, data, progress, settings_of(home, engine, prefix)) for engine in ENGINES}
