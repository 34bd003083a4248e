"""The sources for callers: offered by the settings, allowed by the caller's key, open between calls."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from base.errors import RemediableError
from base.files.durable import describe_error
from base.logs import get_logger
from base.notes import Note
from generator.request import Settings
from generator.tracing import ended
from indexer.settings import IndexerSettings
from retriever.errors import SourceFailed, UnknownSource
from retriever.index import OpenIndex, SearchIndex
from retriever.sources import LinkedPapers, Source, SourceAnswer, SourceFeatures
from retriever.sources.configuration import DeclaredSource
from retriever.sources.gathered import SharedModels, index_of_sources
from retriever.sources.merging import LimitedSource, ask_sources
from server.access.callers import current_visit, may_use
from server.addresses import as_index
from server.monitoring import metrics

log = get_logger("server")
SHOWN_CHARACTERS = 100  # of an unknown name
T = TypeVar("T")


def _passing(method: str) -> Any:
    """Return a method that passes a question on to the source.

    If the source is private, its notes lose their details and its errors their messages, which are logged.
    """

    async def ask(self: "KeptSource", *values: Any, **named: Any) -> Any:
        source = await self.opened()
        is_private = source.features.private
        try:
            answer = await getattr(source, method)(*values, **named)
        except RemediableError as error:
            if not is_private:
                raise
            log.warning("source failed", source=self.name, reason=describe_error(error))
            raise SourceFailed(Note("source_failed_logged", source=self.name)) from None
        if not is_private or not isinstance(answer, SourceAnswer | LinkedPapers):
            return answer
        for note in answer.notes:
            log.info("note of a source", source=self.name, note=note)
        return replace(answer, notes=tuple(dict.fromkeys(note.partition(": ")[0] for note in answer.notes)))

    return ask


class KeptSource(Source):
    """A declared source, opened by the first question, for one event loop.

    Errors of the institution's own source are hidden from callers: its addresses, paths, field names and
    server messages are only logged. Messages of a service on the network are passed on.
    """

    def __init__(self, declared: DeclaredSource, settings: IndexerSettings) -> None:
        """Open nothing yet."""
        self.declared, self.name = declared, declared.name
        self._settings = settings
        self._source: Source | None = None
        self._opening = asyncio.Lock()

    @property
    def features(self) -> SourceFeatures:
        """The features of the source; none before it is open."""
        return self._source.features if self._source else SourceFeatures()

    async def opened(self) -> Source:
        """Return the source; retry opening one that failed.

        Raises:
            SourceFailed: it cannot be opened.
        """
        async with self._opening:
            if self._source is None:
                opening = asyncio.ensure_future(asyncio.to_thread(self._open))
                await ended(opening)  # if the caller leaves, it stays open for others
                return opening.result()
        return self._source

    def _open(self) -> Source:
        try:
            self._source = self.declared.open(self._settings)
        except (RemediableError, OSError) as error:
            log.warning("source not opened", source=self.name, reason=describe_error(error))
            raise SourceFailed(Note("source_unopened", source=self.name)) from None
        return self._source

    async def limited(self) -> LimitedSource:
        """Return the source for one question, open if possible."""
        with suppress(SourceFailed):  # questions to it report the error
            await self.opened()
        return self.declared.limited(self)

    search, papers, papers_by_doi = map(_passing, ("search", "papers", "papers_by_doi"))
    linked, frequencies, citation_counts = map(_passing, ("linked", "frequencies", "citation_counts"))

    async def close(self) -> None:
        """Close the source if it is open."""
        if self._source:
            await self._source.close()


class OfferedSources:
    """Sources by name, and temporary indexes of their results, for one event loop.

    A source is unknown to a caller whose key does not allow it.
    """

    def __init__(self, declared: Sequence[DeclaredSource], settings: Settings) -> None:
        """Connect to nothing yet."""
        self._kept = {each.name: KeptSource(each, settings.indexer) for each in declared}
        self.models = SharedModels(settings.indexer, settings.retriever.synonyms)

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
        if not (sources := await self.asked([name for name in names if wanted[name]])):
            return []
        answered = await ask_sources(sources, lambda source: source.papers(list(wanted[source.name])))
        found = {
            wanted[name][own]: {"doc_id": wanted[name][own], **paper.record()}
            for name, papers in answered.answers.items()
            for own, paper in papers.items()
            if own in wanted[name]
        }
        return [found[given] for given in dict.fromkeys(ids) if given in found]

    async def asked(self, names: Sequence[str]) -> list[LimitedSource]:
        """Return the sources for one question; a source that cannot be opened will not answer."""
        return list(await asyncio.gather(*(self._kept[name].limited() for name in names)))


class SourcesIndex(OpenIndex):
    """Sources in the role of an index: each question gets a temporary index of their results."""

    def __init__(self, offered: OfferedSources, names: tuple[str, ...]) -> None:
        """`names`: in the order in which their records are preferred."""
        self._offered, self.names = offered, names

    async def ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Run a question on the sources."""
        sources = await self._offered.asked(self.names)
        async with index_of_sources(sources, self._offered.models) as index:
            answer = await question(index)
        metrics.observe(answer)
        return answer
