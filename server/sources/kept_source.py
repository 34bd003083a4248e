"""A source that stays open between calls and hides its address from callers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from base.errors import RemediableError
from base.logs import get_logger
from base.notes import Note
from base.remedies import describe_error
from generator.tracing.progress import ended
from indexer.settings import IndexerSettings
from retriever.errors import SourceFailed
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters
from retriever.sources import LinkedPapers, Source, SourceAnswer, SourceFeatures, SourcePaper
from retriever.sources.configuration import DeclaredSource
from retriever.sources.merging import LimitedSource

T = TypeVar("T")
log = get_logger("server")


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

    async def search(self, queries: Sequence[tuple[Query, int]], *, filters: Filters) -> SourceAnswer:
        """Answer many queries."""
        answer = await self._asked(lambda source: source.search(queries, filters=filters))
        return replace(answer, notes=self._noted(answer.notes))

    async def papers(self, ids: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by id."""
        return await self._asked(lambda source: source.papers(ids))

    async def papers_by_doi(self, dois: Sequence[str]) -> dict[str, SourcePaper]:
        """Return records by DOI."""
        return await self._asked(lambda source: source.papers_by_doi(dois))

    async def references(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return the papers that these papers cite."""
        linked = await self._asked(lambda source: source.references(ids, limit))
        return replace(linked, notes=self._noted(linked.notes))

    async def citing(self, ids: Sequence[str], limit: int) -> LinkedPapers:
        """Return the papers that cite these papers."""
        linked = await self._asked(lambda source: source.citing(ids, limit))
        return replace(linked, notes=self._noted(linked.notes))

    async def frequencies(self, words: Sequence[str]) -> tuple[dict[str, int], int] | None:
        """Return the number of papers with each word, and the number of all papers."""
        return await self._asked(lambda source: source.frequencies(words))

    async def citation_counts(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the number of papers of the source that cite each paper."""
        return await self._asked(lambda source: source.citation_counts(ids))

    async def close(self) -> None:
        """Close the source if it is open."""
        if self._source:
            await self._source.close()

    async def _asked(self, ask: Callable[[Source], Awaitable[T]]) -> T:
        source = await self.opened()
        try:
            return await ask(source)
        except RemediableError as error:
            if not source.features.private:
                raise
            log.warning("source failed", source=self.name, reason=describe_error(error))
            raise SourceFailed(Note("source_failed_logged", source=self.name)) from None

    def _noted(self, notes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the notes without their details, which are logged, if the source is private."""
        if not self.features.private:
            return notes
        for note in notes:
            log.info("note of a source", source=self.name, note=note)
        return tuple(dict.fromkeys(note.partition(": ")[0] for note in notes))
