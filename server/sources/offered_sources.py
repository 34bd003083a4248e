"""The sources for callers: those offered by the settings and allowed by the caller's key."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any, TypeVar

from base.logs import get_logger
from base.notes import Note
from generator.request import Settings
from retriever.errors import SourceFailed, UnknownSource
from retriever.index import SearchIndex
from retriever.sources.configuration import DeclaredSource
from retriever.sources.gathered import SharedModels, index_of_sources
from retriever.sources.merging import LimitedSource, ask_sources
from server.access.callers import current_visit, may_use
from server.limits.work_queue import WorkQueue
from server.monitoring import metrics
from server.source_names import as_index
from server.sources.kept_source import KeptSource

log = get_logger("server")

SHOWN_CHARACTERS = 100  # of an unknown name

T = TypeVar("T")


class OfferedSources:
    """Sources by name, and temporary indexes of their results, for one event loop.

    A source is unknown to a caller whose key does not allow it.
    """

    def __init__(self, declared: Sequence[DeclaredSource], settings: Settings, *, at_once: int) -> None:
        """Connect to nothing yet; `at_once` limits the concurrent questions to sources."""
        self._kept = {each.name: KeptSource(each, settings.indexer) for each in declared}
        self.models = SharedModels(settings.indexer, settings.retriever.synonyms)
        self._questions = WorkQueue("sources", max(1, at_once), 0)

    @asynccontextmanager
    async def keeping(self) -> AsyncIterator["OfferedSources"]:
        """Close all open sources at the end."""
        try:
            yield self
        finally:
            closing = (source.close() for source in self._kept.values())
            for outcome in await asyncio.gather(*closing, return_exceptions=True):
                if isinstance(outcome, Exception):
                    log.warning("source not closed", reason=repr(outcome))
            await asyncio.to_thread(self.models.close)

    def names(self) -> list[str]:
        """Return the names of the sources that the caller may use."""
        return list(filter(may_use, self._kept))

    def require(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the distinct names of sources, and record them in the visit.

        Raises:
            UnknownSource: the caller may not use one of them, or it does not exist.
        """
        known = self.names()
        for name in names:
            if name not in known:
                there = f"the sources are {', '.join(known)}" if known else "no source is offered here"
                raise UnknownSource(Note("no_such_source", source=name[:SHOWN_CHARACTERS]), remedy=there)
        if visit := current_visit():
            visit.index = as_index(*sorted({*names}))
        return tuple(dict.fromkeys(names))

    def index(self, names: Sequence[str]) -> "SourcesIndex":
        """Return sources in the role of an index; raises as `require`."""
        return SourcesIndex(self, self.require(names))

    async def described(self, name: str) -> dict[str, Any]:
        """Describe a source without its address; a source that cannot be opened has its error."""
        kept = self._kept[name]
        declared = kept.declared
        listed: dict[str, Any] = {"name": name, "kind": declared.settings.kind}
        if declared.settings.description:
            listed["description"] = declared.settings.description
        try:
            return listed | {"private": (await kept.opened()).features.private}
        except SourceFailed as error:
            return listed | {"error": str(error)}

    async def records(self, names: Sequence[str], ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the records of papers by ids from a search of these sources; unknown ones are left out.

        Raises:
            UnknownSource, SourceFailed: a source is unknown, or none of them answers.
        """
        names = self.require(names)
        wanted: dict[str, dict[str, str]] = defaultdict(dict)  # by source: its own id → the given id
        for given in dict.fromkeys(ids):
            source, _, own = given.partition(":") if len(names) > 1 else (names[0], "", given)
            wanted[source][own] = given
        async with self.asked([name for name in names if wanted[name]]) as sources:
            if not sources:
                return []
            answered = await ask_sources(sources, lambda source: source.papers(list(wanted[source.name])))
        found = {
            wanted[name][own]: {"doc_id": wanted[name][own], **paper.paper.record()}
            for name, papers in answered.answers.items()
            for own, paper in papers.items()
            if own in wanted[name]
        }
        return [found[given] for given in dict.fromkeys(ids) if given in found]

    @asynccontextmanager
    async def asked(self, names: Sequence[str]) -> AsyncIterator[list[LimitedSource]]:
        """Hold a slot, and the sources for one question; a source that cannot be opened will not answer.

        Raises:
            TooBusy: the limit of concurrent source requests is reached.
        """
        visit = current_visit()
        async with self._questions.slot(visit.caller.counted_as if visit else ""):
            with visit.waiting_elsewhere() if visit else nullcontext():
                yield list(await asyncio.gather(*(self._kept[name].limited() for name in names)))

    async def ask(self, names: Sequence[str], question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Run a question on a temporary index of these sources' results."""
        async with self.asked(names) as sources, index_of_sources(sources, self.models) as index:
            answer = await question(index)
        metrics.observe(answer)
        return answer


class SourcesIndex:
    """Sources in the role of an index: each question gets a temporary index of their results."""

    def __init__(self, offered: OfferedSources, names: tuple[str, ...]) -> None:
        """`names`: in the order in which their records are preferred."""
        self._offered, self.names = offered, names

    async def ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Run a question on the sources; raises TooBusy at the limit of concurrent questions."""
        return await self._offered.ask(self.names, question)
