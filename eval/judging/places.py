"""The places that a benchmark is pooled from: an index, sources, or both; each is searched separately."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from typing import Any

from base.errors import InvalidCall
from eval.manifest import index_record, sources_record
from eval.run_target import SourcesIndex
from generator.finding.finding import OpenedSources, index_as_source
from generator.pipeline import Settings
from retriever.index import OpenIndex, SearchIndex, open_index
from retriever.sources.configuration import read_declared
from retriever.sources.gathered import open_declared
from retriever.sources.merging import LimitedSource
from retriever.sources.models import SharedModels


@dataclass(frozen=True, slots=True)
class Place:
    """An index, or a source in the role of one."""

    name: str
    index: OpenIndex
    unit: str


@dataclass(frozen=True, slots=True)
class OpenPlaces:
    """All open places: each as an index, and all together as sources of find-papers.

    Args:
        places: the index first.
        index: the open index; None if only sources are searched.
        sources: the open sources.
        models: of the sources.
        record: index and sources for the record of a call.
    """

    places: tuple[Place, ...]
    index: SearchIndex | None
    sources: Sequence[LimitedSource]
    models: SharedModels
    record: Mapping[str, Any]

    def together(self) -> OpenedSources:
        """Return all places as sources for one question."""
        of_index = index_as_source(self.index.manifest.name, self.index) if self.index else OpenedSources([])
        limited = [replace(each, silent=False, failed="") for each in self.sources]
        glossary = None if limited else of_index.glossary
        return OpenedSources([*of_index.sources, *limited], glossary, self.models)


@asynccontextmanager
async def open_places(name: str, sources: Sequence[str], settings: Settings) -> AsyncIterator[OpenPlaces]:
    """Open an index, unless the name is "", and sources; the version of the index stays the same.

    Raises as `open_index`, `read_declared` and `open_declared`; InvalidCall if a source has the name of the
    index.
    """
    declared = read_declared(sources)
    if name in {each.name for each in declared}:
        raise InvalidCall(f"a source has the name of the index, {name!r}", remedy="name only one of them")
    async with AsyncExitStack() as opened:
        synonyms = settings.retriever.synonyms
        models = opened.enter_context(closing(SharedModels(settings.indexer, synonyms)))
        index = None
        places: list[Place] = []
        record: dict[str, Any] = {}
        if name:
            index = await asyncio.to_thread(open_index, settings.indexer, name, synonyms, follow=False)
            opened.push_async_callback(asyncio.to_thread, index.close)
            places.append(Place(name, index, index.manifest.unit))
            record["index"] = index_record(index.manifest)
        limited = await opened.enter_async_context(open_declared(declared, settings.indexer))
        places += [Place(each.name, SourcesIndex([each], models), "paper") for each in limited]
        if limited:
            record["sources"] = sources_record(declared, limited)["sources"]
        yield OpenPlaces(tuple(places), index, limited, models, record)
