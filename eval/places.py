"""The places to which all questions of a call go: one version of an index, sources, or both."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from base.errors import InvalidCall
from eval.manifest import index_record, sources_record
from generator.finding.finding import OpenedSources, index_as_source
from generator.pipeline import Settings
from indexer.corpora.papers import Unit
from retriever.index import OpenIndex, SearchIndex, open_index
from retriever.sources.configuration import DeclaredSource, read_declared
from retriever.sources.gathered import SharedModels, index_of_sources, open_declared
from retriever.sources.merging import LimitedSource

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Places(OpenIndex):
    """Open places. Sources have the role of an index; one that failed for a question gets the next one."""

    index: SearchIndex | None
    sources: Sequence[LimitedSource]
    declared: Sequence[DeclaredSource]
    models: SharedModels
    _asked: ContextVar[Sequence[LimitedSource]] = field(  # by the last question of a task
        default_factory=lambda: ContextVar("asked", default=())
    )

    @property
    def searched(self) -> OpenIndex:
        """The index, or the sources together without one."""
        return self.index or self

    @property
    def unit(self) -> Unit:
        """The unit that is ranked by default."""
        return self.index.manifest.unit if self.index else "paper"

    @property
    def record(self) -> dict[str, Any]:
        """The properties of the index, or of the sources without one, that affect a run."""
        return (
            index_record(self.index.manifest) if self.index else sources_record(self.declared, self.sources)
        )

    def each(self) -> "list[tuple[str, OpenIndex, Unit]]":
        """Return name, index and unit of each place; the index first."""
        own = [(self.index.manifest.name, self.index, self.unit)] if self.index else []
        apart = (replace(self, index=None, sources=[each]) for each in self.sources)
        return [*own, *((of.sources[0].name, of, of.unit) for of in apart)]

    def together(self) -> OpenedSources:
        """Return all places as sources for one question."""
        of_index = index_as_source(self.index.manifest.name, self.index) if self.index else OpenedSources([])
        limited = self._limited()
        glossary = None if limited else of_index.glossary
        return OpenedSources([*of_index.sources, *limited], glossary, self.models)

    async def ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Run a question on a temporary index of the sources' results."""
        async with index_of_sources(self._limited(), self.models) as index:
            return await question(index)

    def failures(self) -> tuple[str, ...]:
        """Return the sources that failed for the last question of this task; the others answered."""
        return tuple(each.failed for each in self._asked.get() if each.failed)

    def _limited(self) -> list[LimitedSource]:
        limited = [replace(each, silent=False, failed="") for each in self.sources]
        self._asked.set(limited)
        return limited


@asynccontextmanager
async def open_places(name: str, sources: Sequence[str], settings: Settings) -> AsyncIterator[Places]:
    """Open an index, unless the name is "", and sources; the version of the index stays the same.

    Raises as `open_index`, `read_declared` and `open_declared`; InvalidCall if a source has the name of the
    index.
    """
    declared, synonyms = read_declared(sources), settings.retriever.synonyms
    if name in {each.name for each in declared}:
        raise InvalidCall(f"a source has the name of the index, {name!r}", remedy="name only one of them")
    async with AsyncExitStack() as opened:
        index = None
        if name:
            index = await asyncio.to_thread(open_index, settings.indexer, name, synonyms, follow=False)
            opened.push_async_callback(asyncio.to_thread, index.close)
        limited = await opened.enter_async_context(open_declared(declared, settings.indexer))
        models = opened.enter_context(closing(SharedModels(settings.indexer, synonyms)))
        yield Places(index, limited, declared, models)
