"""The target of a run: one version of an index, or sources, to which all its questions go."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from eval.manifest import index_record, sources_record
from generator.finding.finding import OpenedSources, index_as_source
from generator.pipeline import Settings
from indexer.analysis import Analyzer, make_analyzer
from indexer.corpora.papers import Unit
from retriever.index import OpenIndex, SearchIndex, open_index
from retriever.sources import ANALYZER, DECOMPOUND
from retriever.sources.configuration import read_declared
from retriever.sources.gathered import SharedModels, index_of_sources, open_declared
from retriever.sources.merging import LimitedSource

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunTarget:
    """An index, or sources; `sources` returns either in the form that a search for papers takes."""

    index: OpenIndex
    analyzer: Analyzer
    unit: Unit  # default unit of judgement
    record: dict[str, Any]  # for the manifest of a run
    sources: Callable[[], OpenedSources]
    published: str = ""  # publication time of the index version
    failures: Callable[[], tuple[str, ...]] = tuple  # of sources, for the last question of this task


@asynccontextmanager
async def open_run_target(name: str, sources: Sequence[str], settings: Settings) -> AsyncIterator[RunTarget]:
    """Open the named sources, else the index, with a fixed version for all questions.

    Raises as `open_index`, `read_declared` and `open_declared`.
    """
    synonyms = settings.retriever.synonyms
    if not sources:
        index = await asyncio.to_thread(open_index, settings.indexer, name, synonyms, follow=False)
        try:
            manifest = index.manifest
            yield RunTarget(
                index,
                index.analyzer,
                manifest.unit,
                index_record(manifest),
                lambda: index_as_source(manifest.name, index),
                manifest.published,
            )
        finally:
            await asyncio.to_thread(index.close)
        return
    declared = read_declared(sources)
    async with open_declared(declared, settings.indexer) as opened:
        with closing(SharedModels(settings.indexer, synonyms)) as models:
            asked = SourcesIndex(opened, models)
            analyzer = make_analyzer(ANALYZER, DECOMPOUND)
            record = sources_record(declared, opened)
            yield RunTarget(asked, analyzer, "paper", record, asked.opened, failures=asked.failures)


class SourcesIndex(OpenIndex):
    """Sources in the role of an index; a source that did not answer one question gets the next one again."""

    def __init__(self, opened: Sequence[LimitedSource], models: SharedModels) -> None:
        """`opened` and `models` are closed by the caller."""
        self._opened, self._models = opened, models
        self._asked: ContextVar[Sequence[LimitedSource]] = ContextVar("asked", default=())  # per task

    def opened(self) -> OpenedSources:
        """Return the sources for one question."""
        return OpenedSources(self._limited(), models=self._models)

    async def ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Run a question on a temporary index of the sources' results."""
        async with index_of_sources(self._limited(), self._models) as index:
            return await question(index)

    def failures(self) -> tuple[str, ...]:
        """Return the sources that failed for the last question of this task; the others answered."""
        return tuple(each.failed for each in self._asked.get() if each.failed)

    def _limited(self) -> list[LimitedSource]:
        limited = [replace(each, silent=False, failed="") for each in self._opened]
        self._asked.set(limited)
        return limited
